package descriptor

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// conform holds the object id against its shape: unknown and duplicate keys and wrong types, at every depth.
func (d *document) conform(id int, s *shape) {
	var seen uint64
	for child := range d.children(id) {
		n := &d.nodes[child]
		i := d.findKey(child, s)
		switch {
		case i < 0:
			d.unknown(child, s)
		case seen&(1<<i) != 0:
			first, _ := d.lookup(id, s.keys[i].name)
			d.refuseTwice(child, first)
		default:
			seen |= 1 << i
			n.key = &s.keys[i]
		}
		if n.key != nil && !n.bad {
			d.conformKind(child, n.key)
		}
	}
}

// findKey returns the index in s of the key of node id, or -1.
func (d *document) findKey(id int, s *shape) int {
	raw := d.rawKey(id)
	if bytes.IndexByte(raw, '\\') >= 0 {
		return s.find(unquote(raw))
	}
	raw = raw[1 : len(raw)-1]
	for i := range s.keys {
		if s.keys[i].name == string(raw) {
			return i
		}
	}
	return -1
}

// keyOf returns the meaning of the key of node id.
func (d *document) keyOf(id int) string { return unquote(d.rawKey(id)) }

// lookup returns the first member of object id that has the key called name.
func (d *document) lookup(id int, name string) (member int, ok bool) {
	for child := range d.children(id) {
		if d.keyOf(child) == name {
			return child, true
		}
	}
	return 0, false
}

// refuseTwice reports node id, whose key was there before at node first.
func (d *document) refuseTwice(id, first int) {
	d.nodes[id].bad = true
	var at Position
	if !d.full() {
		lines := lineCounter{data: d.data}
		at = lines.position(d.nodes[first].keyAt)
	}
	d.value(id).failKey("is given twice", fmt.Sprintf("Keep one of the two; the first is in line %d, column %d.", at.Line, at.Column))
}

// conformKind checks the value of node id, and all below it, against what k allows.
func (d *document) conformKind(id int, k *key) {
	kind := d.nodes[id].kind
	if kind == 'n' {
		return
	}
	switch k.kind {
	case textKind:
		d.expect(id, k, kind == '"', "a string")
	case flagKind:
		d.expect(id, k, kind == 't' || kind == 'f', "true or false")
	case integerKind:
		d.expect(id, k, kind == '0', "a whole number")
	case durationKind:
		d.expect(id, k, kind == '0' || kind == '"', "a whole number or a string")
	case commandKind:
		if kind != '"' && d.expect(id, k, kind == '[', "a string or a list of strings") {
			d.expectTexts(id)
		}
	case textsKind:
		if d.expect(id, k, kind == '[', "a list of strings") {
			d.expectTexts(id)
		}
	case objectKind:
		if d.expect(id, k, kind == '{', "an object") {
			d.conform(id, k.of)
		}
	case objectsKind:
		if d.expect(id, k, kind == '[', "a list of objects") {
			for item := range d.children(id) {
				if d.expect(item, &key{of: k.of}, d.nodes[item].kind == '{', "an object") {
					d.conform(item, k.of)
				}
			}
		}
	case ignoredKind:
		d.refuseDuplicates(id)
	}
}

// expectTexts checks that all items of list id are strings.
func (d *document) expectTexts(id int) {
	for item := range d.children(id) {
		d.expect(item, nil, d.nodes[item].kind == '"', "a string")
	}
}

// expect reports node id unless ok, and passes ok on. k is nil for an item of a list of strings.
func (d *document) expect(id int, k *key, ok bool, want string) bool {
	if ok {
		return true
	}
	n := &d.nodes[id]
	n.bad = true
	if k != nil && d.otherForm(id, k) {
		return false
	}
	d.value(id).fail("must be "+want+", not "+kindName(n.kind), kindHint(k, want, d.value(id)))
	return false
}

// refuseDuplicates reports each key that an object among node id and all below it has twice.
func (d *document) refuseDuplicates(id int) {
	seen := make(map[string]int)
	for child := range d.children(id) {
		if d.nodes[id].kind == '{' {
			name := d.keyOf(child)
			if first, twice := seen[name]; twice {
				d.refuseTwice(child, first)
			} else {
				seen[name] = child
			}
		}
		d.refuseDuplicates(child)
	}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 'n':
		return "null"
	default:
		return "true or false"
	}
}

// kindHint says what to write instead of v. k is nil for an item of a list of strings.
func kindHint(k *key, want string, v value) string {
	got := v.kind()
	switch {
	case got == 'n': // of an item; a key that is null counts as absent
		return "Remove it, or write " + want + "."
	case want == "a string" && (got == '0' || got == 't' || got == 'f'):
		return "Put it in quotes."
	case want == "a list of strings" && got == '"', want == "a list of objects" && got == '{':
		return "Put it in [ ]."
	case want == "a whole number" && digits(v.text()), want == "true or false" && (v.text() == "true" || v.text() == "false"):
		return "Write it without quotes."
	case k != nil && k.of != nil:
		return "Its keys are " + strings.Join(names(k.of), ", ") + "."
	default:
		return "Write " + want + "."
	}
}
