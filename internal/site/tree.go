package site

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// builder makes nodes of what the parser found. The parser counts lines and characters, of the chunk and from 1.
type builder struct {
	chunk   chunk
	line    int // the last one that was asked for
	start   int // its offset
	column  int // of the last position in it, in characters from 0
	bytes   int // the same in bytes
	anchors map[string]*node
	copies  int
	aliased bool
}

// offset returns where a value stands in the file, given its first token. The parser points to the blanks before one now and then.
func (b *builder) offset(t *token.Token) int {
	at := b.exact(t)
	for at < b.chunk.high && (b.chunk.data[at] == ' ' || b.chunk.data[at] == '\t') {
		at++
	}
	return at
}

// exact returns where the parser says that a token is, kept within the document.
func (b *builder) exact(t *token.Token) int {
	line, column := t.Position.Line, max(t.Position.Column-1, 0)
	if line < b.line {
		b.line, b.start = 1, b.chunk.low
		b.column, b.bytes = 0, 0
	}
	for b.line < line {
		next := nextLine(b.chunk.data[b.start:b.chunk.high])
		if next < 0 {
			break
		}
		b.line++
		b.start += next
		b.column, b.bytes = 0, 0
	}
	if column < b.column {
		b.column, b.bytes = 0, 0
	}
	text := b.chunk.data[b.start:b.chunk.high]
	for b.column < column && b.bytes < len(text) && text[b.bytes] != '\n' && text[b.bytes] != '\r' {
		_, n := utf8.DecodeRune(text[b.bytes:])
		b.bytes += n
		b.column++
	}
	return b.start + b.bytes
}

// nextLine returns the offset of the second line of text, with the ends of lines as YAML has them, or -1.
func nextLine(text []byte) int {
	for i, c := range text {
		switch {
		case c == '\n':
			return i + 1
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
			return i + 2
		case c == '\r':
			return i + 1
		}
	}
	return -1
}

// build makes the node of n, and all below it.
func (b *builder) build(n ast.Node, depth int) *node {
	if depth > maxDepth {
		return b.faulty(n, fmt.Sprintf("is nested more than %d deep", maxDepth), "Write it in a simpler way.")
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return b.object(n.GetToken(), n.IsFlowStyle, n.Values, depth)
	case *ast.MappingValueNode:
		return b.object(n.GetToken(), false, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		list := b.leaf(n, listKind)
		for _, item := range n.Values {
			list.add(b.build(item, depth+1))
		}
		return list
	case *ast.NullNode:
		return b.leaf(n, nullKind)
	case *ast.BoolNode:
		return b.scalar(n, flagKind, n.GetToken().Value)
	case *ast.IntegerNode:
		return b.scalar(n, integerKind, n.GetToken().Value)
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return b.scalar(n, fractionKind, n.GetToken().Value)
	case *ast.StringNode:
		return b.text(n)
	case *ast.LiteralNode:
		return b.scalar(n, textKind, n.Value.Value)
	case *ast.AnchorNode:
		value := b.build(n.Value, depth)
		b.anchors[n.Name.GetToken().Value] = value
		return value
	case *ast.AliasNode:
		return b.alias(n, depth)
	case *ast.TagNode:
		return b.tagged(n, depth)
	default:
		return b.faulty(n, "cannot stand here", "Write a value.")
	}
}

func (b *builder) leaf(n ast.Node, k kind) *node {
	at := b.offset(n.GetToken())
	return &node{kind: k, at: at, keyAt: at}
}

func (b *builder) scalar(n ast.Node, k kind, text string) *node {
	leaf := b.leaf(n, k)
	leaf.text = text
	return leaf
}

// text also recognises whole numbers that the parser takes for strings: those that are too large, and 08.
func (b *builder) text(n *ast.StringNode) *node {
	leaf := b.scalar(n, textKind, n.Value)
	leaf.plain = n.Token.Type == token.StringType
	digits := strings.TrimPrefix(n.Value, "-")
	if leaf.plain && (len(digits) > 18 || len(digits) > 1 && digits[0] == '0') && strings.Trim(digits, "0123456789") == "" {
		leaf.kind = integerKind
	}
	return leaf
}

func (b *builder) faulty(n ast.Node, message, hint string) *node {
	leaf := b.leaf(n, nullKind)
	leaf.fault = &problem{message, hint}
	leaf.bad = true
	return leaf
}

// tagged reads a value with a tag. Only the one that makes a string of anything is of use.
func (b *builder) tagged(n *ast.TagNode, depth int) *node {
	value, ok := n.Value.(ast.ScalarNode)
	if n.Start.Value != "!!str" || !ok {
		return b.faulty(n, "the tag "+quote(n.Start.Value)+" is not supported", "Remove it.")
	}
	leaf := b.build(value, depth+1)
	if leaf.fault == nil {
		leaf.kind, leaf.plain = textKind, false
	}
	return leaf
}

// object reads a mapping. What a merge key (<<) brings comes after the mapping's own keys, which win.
func (b *builder) object(start *token.Token, flow bool, values []*ast.MappingValueNode, depth int) *node {
	object := &node{kind: objectKind}
	if flow {
		object.at = b.offset(start)
	}
	var merged []*node
	for _, v := range values {
		keyAt := b.offset(v.Key.GetToken())
		value := b.build(v.Value, depth+1)
		value.keyAt = keyAt
		if v.Key.IsMergeKey() {
			merged = append(merged, value)
			continue
		}
		var ok bool
		if value.key, ok = keyText(v.Key); !ok {
			value.bad, value.fault = true, &problem{"a key must be a string", "Put it in quotes."}
		}
		object.add(value)
	}
	if !flow && len(values) > 0 {
		object.at = b.offset(values[0].Key.GetToken())
	}
	object.keyAt = object.at
	for _, m := range merged {
		b.merge(object, m)
	}
	return object
}

func (b *builder) merge(object, from *node) {
	switch from.kind {
	case objectKind:
		for _, m := range from.members {
			if object.lookup(m.key) == nil {
				object.add(m)
			}
		}
	case listKind:
		for _, m := range from.members {
			b.merge(object, m)
		}
	default:
		if from.fault == nil {
			from.fault = &problem{"is not an object, and so cannot be merged", "Write the keys themselves."}
		}
		from.bad, from.key = true, "<<"
		object.add(from)
	}
}

// keyText returns what a key is, if it is a string or looks like one.
func keyText(n ast.MapKeyNode) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.MappingKeyNode:
		key, ok := n.Value.(ast.MapKeyNode)
		if !ok {
			return n.GetToken().Value, false
		}
		return keyText(key)
	case *ast.IntegerNode, *ast.BoolNode, *ast.NullNode, *ast.FloatNode:
		return n.GetToken().Value, true // as Kubernetes reads them
	}
	return n.GetToken().Value, false
}

// alias copies what an alias stands for, so that every node has one place in the tree. Copies of copies are what makes small
// files large: their number is bounded.
func (b *builder) alias(n *ast.AliasNode, depth int) *node {
	b.aliased = true
	name := n.Value.GetToken().Value
	original, ok := b.anchors[name]
	if !ok {
		return b.faulty(n, "there is no anchor "+quote(name)+" before this", "Write the value itself.")
	}
	clone, ok := b.copy(original, depth)
	if !ok {
		return b.faulty(n, "the aliases of this document stand for too much", "Write the values themselves.")
	}
	return clone
}

func (b *builder) copy(n *node, depth int) (*node, bool) {
	if b.copies++; b.copies > maxCopies || depth > maxDepth {
		return nil, false
	}
	clone := *n
	clone.members = nil
	for _, m := range n.members {
		child, ok := b.copy(m, depth+1)
		if !ok {
			return nil, false
		}
		clone.add(child)
	}
	return &clone, true
}
