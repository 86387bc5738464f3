package site

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Documents stay far below these. Beyond them the parser takes time by the square of their number, or all memory.
const (
	maxDocuments = 5000 // a file, in each of which something may be wrong

	maxTokens = 50000 // a document
	maxKeys   = 2000  // a block mapping, over which the parser recurs
	maxDepth  = 64
	maxCopies = 10000 // nodes that aliases add to a document
)

// syntaxError says why a chunk is not a document, at an offset of the file.
type syntaxError struct {
	problem
	at int
}

// parse reads a chunk into a tree; aliased tells whether there are aliases in it. A chunk without content has none.
func (c chunk) parse() (root *node, aliased bool, bad *syntaxError) {
	if at, ok := c.unreadable(); ok {
		return nil, false, &syntaxError{problem{"holds a byte or character that no YAML may hold", "Save it as UTF-8, and write control characters as escapes in double quotes."}, at}
	}
	b := builder{chunk: c, line: 1, start: c.low, anchors: make(map[string]*node)}
	bodies, bad := b.bodies()
	switch {
	case bad != nil:
		return nil, false, bad
	case len(bodies) == 0:
		return nil, false, nil
	case len(bodies) > 1:
		return nil, false, &syntaxError{problem{"holds a second document that does not begin like one", "Write --- at the start of a line of its own before it."},
			b.exact(bodies[1].GetToken())}
	}
	root = b.build(bodies[0], 0)
	return root, b.aliased, nil
}

// bodies returns what the parser makes of the chunk: one document, unless the parser sees ends of lines that split did not.
func (b *builder) bodies() (bodies []ast.Node, bad *syntaxError) {
	// What the parser cannot cope with is the fault of one document, and must not be the end of all others.
	defer func() {
		if recover() != nil {
			bad = &syntaxError{problem{"cannot be read as YAML", "Write it in a simpler way."}, b.chunk.low}
		}
	}()
	tokens := lexer.Tokenize(string(b.chunk.text()))
	if t, p := excess(tokens); t != nil {
		return nil, &syntaxError{p, b.offset(t)}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, b.syntax(err)
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	return bodies, nil
}

// unreadable finds a byte that is not UTF-8, or a character that YAML does not allow (YAML 1.2.2, c-printable).
func (c chunk) unreadable() (at int, found bool) {
	text := c.text()
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			if b < ' ' && b != '\t' && b != '\n' && b != '\r' || b == 0x7f {
				return c.low + i, true
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 || r >= 0x80 && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff {
			return c.low + i, true
		}
		i += n
	}
	return 0, false
}

// excess returns the token at which a document goes beyond what the parser can be given.
func excess(tokens token.Tokens) (*token.Token, problem) {
	if len(tokens) > maxTokens {
		return tokens[maxTokens], problem{fmt.Sprintf("the document has more than %d words", maxTokens), "Divide it."}
	}
	var flow, line, entries int
	keys := make(map[int]int) // by column
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
			for column := range keys {
				if column > t.Position.Column {
					delete(keys, column)
				}
			}
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			entries++
		case token.MappingValueType:
			if flow == 0 && t.Prev != nil {
				keys[t.Prev.Position.Column]++
				if keys[t.Prev.Position.Column] > maxKeys {
					return t, problem{fmt.Sprintf("an object has more than %d keys", maxKeys), "Divide it."}
				}
			}
		}
		if flow > maxDepth || entries > maxDepth {
			return t, problem{fmt.Sprintf("is nested more than %d deep", maxDepth), "Write it in a simpler way."}
		}
	}
	return nil, problem{}
}

func (b *builder) syntax(err error) *syntaxError {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) {
		return &syntaxError{problem{"cannot be read as YAML", "Write it in a simpler way."}, b.chunk.low}
	}
	form := "YAML"
	if strings.HasSuffix(b.chunk.file, ".json") {
		form = "JSON"
	}
	p := problem{"is not " + form + ": " + syntax.Message, syntaxHint(syntax.Message)}
	if strings.ContainsRune(syntax.Message, '\t') || strings.Contains(syntax.Message, "tab character") {
		p = problem{"a tab cannot indent YAML", "Use blanks."}
	}
	return &syntaxError{p, b.exact(syntax.Token)}
}

// syntaxHint says what is usually behind a message of the parser's, whose token may be one before the mistake.
func syntaxHint(message string) string {
	switch message {
	case "non-map value is specified":
		return "Write KEY: VALUE, with a blank after the colon, or indent this line if it belongs to the one before."
	case "mapping value is not allowed in this context":
		return "Indent this line and the next one as the other keys are, and put a text that holds a colon and a blank in quotes."
	}
	return "Check the indentation, quotes and brackets in this line and before it."
}
