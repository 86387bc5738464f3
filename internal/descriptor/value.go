package descriptor

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sitelet/sitelet/internal/diag"
)

// value is a place in a document. The zero value stands for what is absent, null or was refused already: it reads as
// empty, false, 0 and no items, so that rules need not ask.
type value struct {
	doc *document
	id  int
}

func (d *document) value(id int) value { return value{d, id} }

func (v value) present() bool { return v.doc != nil }

// fail and warn report about the value, failKey and warnKey about its key.
func (v value) fail(message, hint string) { v.at(v.doc.nodes[v.id].at, diag.Error, message, hint) }
func (v value) warn(message, hint string) { v.at(v.doc.nodes[v.id].at, diag.Warning, message, hint) }

func (v value) failKey(message, hint string) {
	v.at(v.doc.nodes[v.id].keyAt, diag.Error, message, hint)
}

func (v value) warnKey(message, hint string) {
	v.at(v.doc.nodes[v.id].keyAt, diag.Warning, message, hint)
}

func (v value) at(offset int, severity diag.Severity, message, hint string) {
	field := ""
	if !v.doc.full() {
		field = v.doc.field(v.id)
	}
	v.doc.report(offset, field, severity, message, hint)
}

// get returns the member called name.
func (v value) get(name string) value {
	if member, _ := v.member(name); member.usable() {
		return member
	}
	return value{}
}

// require is get for a key that must be there, with a text that is not empty, and reports it otherwise.
// hint says what to write.
func (v value) require(name, hint string) (value, bool) {
	member, ok := v.member(name)
	switch {
	case !ok && v.doc.foreign:
		return value{}, false
	case !ok:
		v.doc.report(v.doc.nodes[v.id].at, join(v.doc.field(v.id), name), diag.Error, "is missing", hint)
		return value{}, false
	case member.kind() == 'n':
		member.fail("is null", hint)
		return value{}, false
	case !member.usable():
		return value{}, false
	case member.kind() == '"' && member.text() == "":
		member.fail("is empty", hint)
		return value{}, false
	}
	return member, true
}

// member returns what stands for the key called name, of whatever kind.
func (v value) member(name string) (value, bool) {
	if v.doc != nil {
		for id := range v.doc.children(v.id) {
			if k := v.doc.nodes[id].key; k != nil && k.name == name {
				return value{v.doc, id}, true
			}
		}
	}
	return value{}, false
}

func (v value) kind() jsontext.Kind { return v.doc.nodes[v.id].kind }

func (v value) usable() bool { return v.doc != nil && v.kind() != 'n' && !v.doc.nodes[v.id].bad }

// items yields the index and the value of each usable item of a list.
func (v value) items() func(yield func(int, value) bool) {
	return func(yield func(int, value) bool) {
		if v.doc == nil {
			return
		}
		for id := range v.doc.children(v.id) {
			item := value{v.doc, id}
			if item.usable() && !yield(v.doc.nodes[id].index, item) {
				return
			}
		}
	}
}

// empty tells whether there is nothing in the value: absent, null, "", 0, false, or a list or object of such values.
func (v value) empty() bool {
	if v.doc == nil {
		return true
	}
	switch v.kind() {
	case '{', '[':
		for id := range v.doc.children(v.id) {
			if !v.doc.value(id).empty() {
				return false
			}
		}
		return true
	case '"':
		return v.text() == ""
	case '0':
		return v.raw() == "0"
	default:
		return v.kind() != 't'
	}
}

// raw returns the value as it stands in the file.
func (v value) raw() string { return string(v.doc.raw(v.id)) }

// text returns a string's meaning, and "" for anything else.
func (v value) text() string {
	if v.doc == nil || v.kind() != '"' {
		return ""
	}
	return unquote(v.doc.raw(v.id))
}

// flag returns whether the value is true.
func (v value) flag() bool { return v.doc != nil && v.kind() == 't' }

// list returns the meanings of a list of strings; nil when it is empty.
func (v value) list() []string {
	var list []string
	for _, item := range v.items() {
		list = append(list, item.text())
	}
	return list
}

// integer returns a whole number between low and high, or reports it and returns 0 and false.
// An absent one is 0 and false as well.
func (v value) integer(low, high int64) (int64, bool) {
	if v.doc == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(v.raw(), 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		v.fail(shorten(v.raw())+" is not a whole number", "Write it without fraction and exponent.")
	case n < low:
		v.fail(fmt.Sprintf("must be at least %d, not %s", low, shorten(v.raw())), between(low, high))
	case n > high || err != nil:
		v.fail(fmt.Sprintf("must be at most %d, not %s", high, shorten(v.raw())), between(low, high))
	default:
		return n, true
	}
	return 0, false
}

func between(low, high int64) string { return fmt.Sprintf("Write a number from %d to %d.", low, high) }

// choice returns a text that must be one of words, or the first of them when it is empty or was refused.
func (v value) choice(words ...string) string {
	got := v.text()
	if got == "" {
		return words[0]
	}
	for _, w := range words {
		if got == w {
			return w
		}
	}
	v.fail(quote(got)+" is not supported", "Write "+oneOf(words)+".")
	return words[0]
}

// position returns where the value stands, counted by lines.
func (v value) position(lines *lineCounter) Position { return lines.position(v.doc.nodes[v.id].at) }
