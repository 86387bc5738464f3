package descriptor

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sitelet/sitelet/internal/diag"
)

// syntax reports why the decoder stopped. The decoder began at offset base of the file.
func (d *document) syntax(err error, base int) {
	if err == errTooDeep {
		last := len(d.nodes) - 1
		d.value(last).fail("values are nested too deep", "Remove what does not belong to a descriptor.")
		return
	}
	at := len(d.data)
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		at = min(base+int(syntactic.ByteOffset), len(d.data))
	}
	message, hint := d.explainSyntax(err, at)
	if at < len(d.data) {
		hint += " The rest of the file was not looked at."
	}
	d.report(at, "", diag.Error, message, hint)
	inKey := syntactic != nil && strings.HasPrefix(string(syntactic.JSONPointer), "/image/decrypt_config/")
	if inKey || secretLine(d.line(at)) {
		d.secrets = append(d.secrets, at)
	}
}

// explainSyntax returns what is wrong at offset at, which is where the decoder stopped with err. Of the text itself it
// shows one character at most, since it may be a password's.
func (d *document) explainSyntax(err error, at int) (message, hint string) {
	rest := d.data[at:]
	next, size := utf8.DecodeRune(rest)
	cause := err.Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || len(rest) == 0:
		return "the file ends in the middle of the descriptor", "Add what is missing, perhaps a closing bracket."
	case next == utf8.RuneError && size == 1:
		return "is not UTF-8 from here on", "Save the file as UTF-8."
	case bytes.HasPrefix(rest, []byte(`\u`)):
		return "this escape stands for no character", "Write the character itself."
	case next == '\\':
		return `this \ begins no escape that JSON has`, `Write \\ for a \.`
	case strings.Contains(cause, "in string"):
		return "a string holds a control character or the end of the line", `Close the string with ", or write a line break as \n and a tab as \t.`
	case next == '/' || next == '#':
		return "JSON has no comments", "Remove this one."
	case next == '\'' || next == '“' || next == '”':
		return "strings are in straight double quotes", `Write "...".`
	case next == ',' && closes(rest[1:]):
		return "there is a comma before a closing bracket", "Remove it."
	case next == '+', at > 0 && d.data[at-1] == '0' && (next >= '0' && next <= '9' || next == 'x'):
		return "JSON has no such number", "Write it in decimal digits, without a + or a 0 before them."
	case strings.Contains(cause, "expecting ':'"):
		return "there is no colon before this", "Write one between key and value."
	case strings.Contains(cause, "expecting ','") && (next == '"' || next == '{' || next == '['):
		return "there is no comma before this", "Write one between the two."
	case strings.Contains(cause, "expecting ',' or ']'") && next == '}':
		return "a list is open here", "Close it with ] first."
	case strings.Contains(cause, "expecting ',' or '}'") && next == ']':
		return "an object is open here", "Close it with } first."
	case errors.Is(err, jsontext.ErrNonStringName):
		return "keys are strings", `Write "..." before the colon.`
	case unicode.IsLetter(next):
		return strconv.QuoteRune(next) + " begins no value", "Put texts in double quotes; true, false and null are in lower case."
	default:
		return strconv.QuoteRune(next) + " is not expected here", "Correct it or what is before it."
	}
}

// closes tells whether the next thing in text is a closing bracket.
func closes(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '}' || text[0] == ']')
}

// line returns the line that offset at is in.
func (d *document) line(at int) []byte {
	start := bytes.LastIndexByte(d.data[:at], '\n') + 1
	line, _, _ := bytes.Cut(d.data[start:], []byte("\n"))
	return line
}
