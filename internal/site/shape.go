package site

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sitelet/sitelet/internal/spelling"
)

// form is what the value of a field may be. null stands for an absent value with every form.
type form uint8

const (
	wordForm    form = iota // a string without control characters
	proseForm               // a string
	integerForm             // a whole number
	flagForm                // true or false
	wordsForm               // a list of words
	proseMap                // an object of strings
	weightMap               // an object of whole numbers
	objectForm              // of the fields of field.of
	objectsForm             // a list of these
	anyForm                 // anything
)

// field is one field of an object.
type field struct {
	name string
	form form
	of   *shape
	idle bool // has no effect outside Kubernetes
}

// shape is an object: the fields it may have.
type shape []field

func (s shape) find(name string) *field {
	for i := range s {
		if s[i].name == name {
			return &s[i]
		}
	}
	return nil
}

func (s shape) names() []string {
	var names []string
	for _, f := range s {
		names = append(names, f.name)
	}
	return names
}

// conform holds object n against its shape: unknown fields and wrong types, at every depth, and fields without effect.
func (n *node) conform(s *shape) {
	for _, m := range n.members {
		if m.bad {
			continue
		}
		f := s.find(m.key)
		if f == nil {
			m.unknown(s)
			continue
		}
		m.conformTo(f)
		if f.idle && !m.empty() {
			m.idle()
		}
	}
}

const idleHint = "Remove it, unless the file is for Kubernetes as well."

// idle says that a field or setting has no effect. working are the names of those beside it that have.
func (n *node) idle(working ...string) {
	hint := idleHint
	if meant, ok := spelling.Nearest(n.key, working); ok {
		hint = "Did you mean " + meant + "?"
	}
	n.warnKey("has no effect outside Kubernetes", hint)
}

func (n *node) unknown(s *shape) {
	n.bad = true
	hint := "Remove it."
	if names := s.names(); len(names) > 0 {
		hint = "The fields here are " + strings.Join(names, ", ") + "."
		if meant, ok := spelling.Nearest(n.key, names); ok {
			hint = "Did you mean " + meant + "?"
			n.meant = meant
		}
	}
	n.failKey("is not a field", hint)
}

// misspelt reports what is probably meant to be a key of object n that it lacks.
func (n *node) misspelt(key string) {
	for _, m := range n.members {
		if _, ok := spelling.Nearest(m.key, []string{key}); ok {
			m.unknown(&shape{{name: key}})
		}
	}
}

func (n *node) conformTo(f *field) {
	if n.kind == nullKind {
		return
	}
	switch f.form {
	case wordForm:
		n.expectWord()
	case proseForm:
		n.expect(n.kind == textKind, "a string")
	case integerForm:
		n.expect(n.kind == integerKind, "a whole number")
	case flagForm:
		n.expect(n.kind == flagKind, "true or false")
	case wordsForm:
		if n.expect(n.kind == listKind, "a list of strings") {
			for _, m := range n.members {
				m.expectWord()
			}
		}
	case proseMap:
		if n.expect(n.kind == objectKind, "an object of strings") {
			for _, m := range n.members {
				if m.kind != nullKind {
					m.expect(m.kind == textKind, "a string")
				}
			}
		}
	case weightMap:
		if n.expect(n.kind == objectKind, "an object of whole numbers") {
			for _, m := range n.members {
				m.expect(m.kind == integerKind, "a whole number")
			}
		}
	case objectForm:
		if n.expectObject(f.of) {
			n.conform(f.of)
		}
	case objectsForm:
		if n.expect(n.kind == listKind, "a list of objects") {
			for _, m := range n.members {
				if m.expectObject(f.of) {
					m.conform(f.of)
				}
			}
		}
	}
}

// expectWord checks that n is a string that can stand in a line.
func (n *node) expectWord() {
	if !n.expect(n.kind == textKind, "a string") {
		return
	}
	for _, r := range n.text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			n.bad = true
			n.fail(fmt.Sprintf("holds the character %U", r), "Remove it.")
			return
		}
	}
}

// expect reports n unless ok, and passes ok on.
func (n *node) expect(ok bool, want string) bool {
	if !ok && !n.bad {
		n.refuse(want, n.expectHint(want))
	}
	return !n.bad
}

// expectObject is expect for an object of shape s.
func (n *node) expectObject(s *shape) bool {
	if n.kind != objectKind && !n.bad {
		n.refuse("an object", "Its fields are "+strings.Join(s.names(), ", ")+".")
	}
	return !n.bad
}

func (n *node) refuse(want, hint string) {
	n.bad = true
	n.fail("must be "+want+", not "+n.kind.String(), hint)
}

func (n *node) expectHint(want string) string {
	switch {
	case want == "a string" && n.kind != objectKind && n.kind != listKind && n.kind != nullKind:
		return "Put it in quotes."
	case want == "a whole number" && n.kind == textKind && strings.Trim(n.text, "0123456789") == "" && n.text != "":
		return "Write it without quotes."
	case want == "true or false" && n.kind == textKind && (strings.EqualFold(n.text, "true") || strings.EqualFold(n.text, "false")):
		return "Write it without quotes."
	case strings.HasPrefix(want, "a list"):
		return "Write each item in a line of its own, after a - and a blank."
	case n.kind == nullKind:
		return "Remove it, or write " + want + "."
	}
	return "Write " + want + "."
}

// faults reports what the tree itself has wrong in and below n: values that could not be read and keys that are given twice.
func (n *node) faults() {
	if n.fault != nil {
		n.bad = true
		n.fail(n.fault.message, n.fault.hint)
		n.fault = nil
	}
	if n.kind == objectKind {
		n.refuseTwice()
	}
	for _, m := range n.members {
		m.faults()
	}
}

// refuseTwice reports each key of object n that it had before.
func (n *node) refuseTwice() {
	var seen map[string]*node
	if len(n.members) > 16 { // below that, looking is faster than a map
		seen = make(map[string]*node, len(n.members))
	}
	for i, m := range n.members {
		first := seen[m.key]
		if seen == nil {
			if first = n.lookup(m.key); first.index == i {
				first = nil
			}
		}
		if first != nil {
			m.bad = true
			line, column := position(n.root().home.chunk.data, first.keyAt)
			m.failKey("is given twice", fmt.Sprintf("Keep one of the two; the first is in line %d, column %d.", line, column))
		} else if seen != nil {
			seen[m.key] = m
		}
	}
}
