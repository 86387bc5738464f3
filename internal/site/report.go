package site

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/spelling"
)

// maxFindings keeps a resource that is wrong throughout, or not one at all, from filling the log.
const maxFindings = 100

// home is what the nodes of a resource have in common.
type home struct {
	chunk    chunk
	resource *Resource
	hidden   []span // where secrets stand in the document
	more     int    // findings beyond maxFindings
}

// span is the bytes of a file from low to high.
type span struct{ low, high int }

func (n *node) fail(message, hint string)    { n.report(n.at, diag.Error, n.field(), message, hint) }
func (n *node) failKey(message, hint string) { n.report(n.keyAt, diag.Error, n.field(), message, hint) }
func (n *node) warn(message, hint string)    { n.report(n.at, diag.Warning, n.field(), message, hint) }
func (n *node) warnKey(message, hint string) {
	n.report(n.keyAt, diag.Warning, n.field(), message, hint)
}

// missing reports that object n lacks a key, unless a misspelt one was reported for it.
func (n *node) missing(key, hint string) {
	if slices.ContainsFunc(n.members, func(m *node) bool { return m.meant == key }) {
		return
	}
	n.report(n.keyAt, diag.Error, join(n.field(), key), "is missing", hint)
}

func (n *node) report(at int, severity diag.Severity, field, message, hint string) {
	h := n.root().home
	list := &h.resource.Problems
	if len(*list) >= maxFindings && (severity == diag.Warning || list.HasErrors()) {
		h.more++
		return
	}
	d := h.place(at)
	d.Field, d.Severity, d.Message, d.Hint = field, severity, message, hint
	*list = append(*list, d)
}

// close adds how many findings were left out.
func (h *home) close() {
	if h.more > 0 {
		d := diag.Diagnostic{File: h.chunk.file, Message: fmt.Sprintf("%d more findings are left out", h.more), Hint: "Correct these first."}
		if !h.resource.Problems.HasErrors() {
			d.Severity = diag.Warning
		}
		h.resource.Problems = append(h.resource.Problems, d)
	}
}

// place returns a finding that has its place only.
func (h *home) place(at int) diag.Diagnostic {
	line, column := position(h.chunk.data, at)
	return diag.Diagnostic{File: h.chunk.file, Line: line, Column: column, Secret: h.hides(at)}
}

// hides tells whether a secret stands in the line of an offset.
func (h *home) hides(at int) bool {
	low := bytes.LastIndexByte(h.chunk.data[:at], '\n') + 1
	high := len(h.chunk.data)
	if i := bytes.IndexByte(h.chunk.data[at:], '\n'); i >= 0 {
		high = at + i
	}
	for _, s := range h.hidden {
		if s.low <= high && s.high > low {
			return true
		}
	}
	return false
}

// position counts lines and the bytes of the last one, both from 1.
func position(data []byte, at int) (line, column int) {
	before := data[:at]
	return 1 + bytes.Count(before, []byte("\n")), at - bytes.LastIndexByte(before, '\n')
}

// quote returns s as it can stand in a sentence.
func quote(s string) string { return diag.Quote(s) }

func shorten(s string) string { return diag.Shorten(s) }

// oneOf returns "a, b or c".
func oneOf(words []string) string { return diag.OneOf(words) }

func tooLarge(err error) bool { return errors.Is(err, strconv.ErrRange) }

// nearestHint proposes the word that was meant, or else all of them.
func nearestHint(word string, words []string) string {
	if meant, ok := spelling.Nearest(word, words); ok {
		return "Did you mean " + meant + "?"
	}
	return "Write " + oneOf(words) + "."
}
