package site

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// kind is what a value is.
type kind uint8

const (
	nullKind kind = iota
	textKind
	integerKind
	fractionKind
	flagKind
	objectKind
	listKind
)

func (k kind) String() string {
	return [...]string{"null", "a string", "a whole number", "a number with a fraction", "true or false", "an object", "a list"}[k]
}

// node is a value in a document. Offsets count bytes of the file. A nil node stands for what is absent, null or was refused: it
// reads as empty, 0, false and no items, so that rules need not ask.
type node struct {
	kind    kind
	plain   bool     // a string without quotes
	bad     bool     // reported, and not to be used
	fault   *problem // why it could not be read, to be reported
	text    string   // a string's meaning; numbers and flags as they are written
	key     string   // in an object
	meant   string   // what the key should probably be
	at      int      // where it stands
	keyAt   int      // where its key stands, or it itself
	index   int      // among its siblings
	parent  *node
	members []*node
	home    *home // of the root of a resource or document, nil elsewhere
}

// problem is a refusal that is yet to get its place. The zero value is none.
type problem struct{ message, hint string }

func (n *node) add(child *node) {
	child.parent, child.index = n, len(n.members)
	n.members = append(n.members, child)
}

// lookup returns the first member called key, whatever it is.
func (n *node) lookup(key string) *node {
	if n == nil || n.kind != objectKind {
		return nil
	}
	for _, m := range n.members {
		if m.key == key {
			return m
		}
	}
	return nil
}

// get returns the member called key if it can be used.
func (n *node) get(key string) *node {
	if m := n.lookup(key); m.usable() {
		return m
	}
	return nil
}

// optional is get for what an empty string leaves out too, as it does for upstream.
func (n *node) optional(key string) *node {
	if m := n.get(key); m != nil && (m.kind != textKind || m.text != "") {
		return m
	}
	return nil
}

func (n *node) usable() bool { return n != nil && !n.bad && n.kind != nullKind }

// items yields what can be used of a list or an object.
func (n *node) items() func(yield func(*node) bool) {
	return func(yield func(*node) bool) {
		if n == nil {
			return
		}
		for _, m := range n.members {
			if m.usable() && !yield(m) {
				return
			}
		}
	}
}

// empty tells whether there is nothing in the value: absent, null, "", 0, false, or no members.
func (n *node) empty() bool {
	return !n.usable() || n.text == "" && len(n.members) == 0 ||
		n.kind == flagKind && !n.flag() || n.kind == integerKind && n.text == "0"
}

// str returns a string's meaning, and "" for anything else.
func (n *node) str() string {
	if n == nil || n.kind != textKind {
		return ""
	}
	return n.text
}

func (n *node) flag() bool {
	return n != nil && n.kind == flagKind && strings.EqualFold(n.text, "true")
}

// integer returns a whole number from low to high, or reports it and returns 0 and false. An absent one is 0 and false as well.
func (n *node) integer(low, high int64) (int64, bool) {
	if n == nil {
		return 0, false
	}
	digits := strings.TrimLeft(n.text, "+-")
	i, err := strconv.ParseInt(strings.TrimPrefix(n.text, "+"), 10, 64)
	switch {
	case err != nil && !tooLarge(err), len(digits) > 1 && digits[0] == '0': // an octal number to YAML 1.1
		n.fail(quote(n.text)+" is not a decimal number", "Write digits only, without a 0 before them.")
	case i < low:
		n.fail(fmt.Sprintf("must be at least %d, not %s", low, shorten(n.text)), fmt.Sprintf("Write a number from %d to %d.", low, high))
	case i > high || err != nil:
		n.fail(fmt.Sprintf("must be at most %d, not %s", high, shorten(n.text)), fmt.Sprintf("Write a number from %d to %d.", low, high))
	default:
		return i, true
	}
	return 0, false
}

// require is get for a key that must be there with something in it, and reports it otherwise. hint says what to write.
func (n *node) require(key, hint string) *node {
	m := n.lookup(key)
	switch {
	case m == nil:
		n.missing(key, hint)
	case m.bad:
	case m.kind == nullKind, m.kind == textKind && m.text == "", m.kind >= objectKind && len(m.members) == 0:
		m.fail("is empty", hint)
	default:
		return m
	}
	return nil
}

// field returns the path of n below the root of its resource, such as spec.roles[0].port.
func (n *node) field() string {
	if n.parent == nil || n.home != nil {
		return ""
	}
	if n.parent.kind == listKind {
		return n.parent.field() + "[" + strconv.Itoa(n.index) + "]"
	}
	return join(n.parent.field(), shorten(n.key))
}

// root returns the root of n's resource, or of its document while that is not divided.
func (n *node) root() *node {
	for n.home == nil {
		n = n.parent
	}
	return n
}

// find returns the node at a path as field gives it, or the innermost one on the way that there is.
func (n *node) find(path string) *node {
	for path != "" {
		var m *node
		if rest, ok := strings.CutPrefix(path, "["); ok {
			number, rest, _ := strings.Cut(rest, "]")
			if i, err := strconv.Atoi(number); err == nil && n.kind == listKind && i >= 0 && i < len(n.members) {
				m = n.members[i]
			}
			path = rest
		} else {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			m = n.lookup(path[:end])
			path = path[end:]
		}
		if m == nil {
			return n
		}
		n, path = m, strings.TrimPrefix(path, ".")
	}
	return n
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// after returns the offset of what follows n in its document, if it is not the last.
func (n *node) after() (int, bool) {
	for ; n.parent != nil; n = n.parent {
		if n.index+1 < len(n.parent.members) {
			next := n.parent.members[n.index+1]
			return cmp.Or(next.keyAt, next.at), true
		}
	}
	return 0, false
}
