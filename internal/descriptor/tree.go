package descriptor

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is far above the seven levels of the format and keeps the recursion small.
const maxDepth = 32

// document is a descriptor as it stands in its file: a tree of values with their places, and what was found about it.
type document struct {
	file    string
	data    []byte
	nodes   []node // nodes[0] is the descriptor itself
	found   []finding
	more    int   // findings beyond maxFindings
	failed  bool  // one of all these is an error
	secrets []int // offsets in lines that must not be shown
	foreign bool  // holds keys of another form, so that a missing key is no news
}

// node is one JSON value. Offsets count bytes of the file; links are indexes into document.nodes, 0 for none.
type node struct {
	kind          jsontext.Kind
	at, end       int  // the value
	keyAt, keyEnd int  // its key with the quotes, if it is a member of an object
	key           *key // what the schema says of it, if anything
	bad           bool // reported, and not to be used
	parent        int
	first, next   int // first child, next sibling
	index         int // place among its siblings
}

var errTooDeep = errors.New("too deep")

// decode reads the tree. What was read before an error stays.
// Duplicate keys are let through, because the decoder would stop at the first one.
func (d *document) decode(base int) error {
	r := treeReader{doc: d, base: base, dec: jsontext.NewDecoder(bytes.NewBuffer(d.data[base:]), jsontext.AllowDuplicateNames(true))}
	err := r.value(node{}, 0)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

type treeReader struct {
	doc  *document
	dec  *jsontext.Decoder
	base int // offset of the decoder's first byte in the file
}

func (r *treeReader) offset() int { return r.base + int(r.dec.InputOffset()) }

// value reads the next value into n, which has its links and key already, and appends it and all below it.
func (r *treeReader) value(n node, depth int) error {
	id := len(r.doc.nodes)
	n.kind = r.dec.PeekKind()
	if n.kind != '{' && n.kind != '[' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		n.end = r.offset()
		n.at = n.end - len(raw)
		r.doc.nodes = append(r.doc.nodes, n)
		if n.kind == '"' && bytes.Contains(raw, []byte(`\u0000`)) {
			r.doc.refuseNUL(id)
		}
		return nil
	}

	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	n.at = r.offset() - 1
	n.end = n.at + 1
	r.doc.nodes = append(r.doc.nodes, n)
	if depth == maxDepth {
		return errTooDeep
	}
	if err := r.members(id, depth+1); err != nil {
		return err
	}
	_, err := r.dec.ReadToken()
	r.doc.nodes[id].end = r.offset()
	return err
}

// members reads what stands between the brackets of node id.
func (r *treeReader) members(id, depth int) error {
	object := r.doc.nodes[id].kind == '{'
	last := 0
	for i := 0; ; i++ {
		if kind := r.dec.PeekKind(); kind == '}' && object || kind == ']' && !object {
			return nil
		}
		n := node{parent: id, index: i}
		if object {
			raw, err := r.dec.ReadValue()
			if err != nil {
				return err
			}
			n.keyEnd = r.offset()
			n.keyAt = n.keyEnd - len(raw)
		}
		child := len(r.doc.nodes)
		err := r.value(n, depth)
		if len(r.doc.nodes) == child {
			return err
		}
		if last == 0 {
			r.doc.nodes[id].first = child
		} else {
			r.doc.nodes[last].next = child
		}
		last = child
		if err != nil {
			return err
		}
	}
}

// children yields the indexes of what node id holds.
func (d *document) children(id int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for child := d.nodes[id].first; child != 0; child = d.nodes[child].next {
			if !yield(child) {
				return
			}
		}
	}
}

// refuseNUL reports node id if its string has U+0000 in it: nothing that runs a program can carry that.
func (d *document) refuseNUL(id int) {
	if bytes.IndexByte([]byte(unquote(d.raw(id))), 0) >= 0 {
		d.nodes[id].bad = true
		d.value(id).fail("holds the character U+0000", "Remove it: no program can be given one.")
	}
}

// raw returns the text of node id as it stands in the file.
func (d *document) raw(id int) []byte { return d.data[d.nodes[id].at:d.nodes[id].end] }

// rawKey returns the key of node id as it stands in the file, with its quotes.
func (d *document) rawKey(id int) []byte { return d.data[d.nodes[id].keyAt:d.nodes[id].keyEnd] }

// unquote returns the meaning of a JSON string that the decoder has accepted.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		panic("descriptor: unquote: " + err.Error())
	}
	return string(text)
}
