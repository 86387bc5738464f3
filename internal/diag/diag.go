// Package diag holds what sitelet has to say about its inputs: where, what is wrong and what to do.
package diag

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Severity tells whether a finding keeps its document from being used.
type Severity int

const (
	Error   Severity = iota // the document is left out; what runs from its last good version goes on
	Warning                 // the document is used as the message says
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one finding in one file.
type Diagnostic struct {
	File     string   // as the user would name it
	Line     int      // from 1; 0 when the finding is about the whole file
	Column   int      // from 1, in bytes, as compilers count
	Field    string   // path of the field, e.g. host_config.port_mappings[0].proto; empty when there is none
	Severity Severity // Error unless said otherwise
	Message  string   // one sentence without the final full stop
	Hint     string   // what to do next, a sentence; may be empty
	Secret   bool     // the source line holds a secret, so that it must not be shown
}

// String returns "file:line:column: field: message. hint" in one line, leaving out what is empty.
// Control characters and broken UTF-8 are escaped: the text goes to logs and terminals, and parts of it come from the input.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		b.WriteString(":" + strconv.Itoa(d.Line) + ":" + strconv.Itoa(d.Column))
	}
	b.WriteString(": ")
	if d.Severity == Warning {
		b.WriteString("warning: ")
	}
	if d.Field != "" {
		b.WriteString(d.Field + ": ")
	}
	b.WriteString(d.Message + ".")
	if d.Hint != "" {
		b.WriteString(" " + d.Hint)
	}
	return Harmless(b.String())
}

// List is a set of findings, in any order until Sort.
type List []Diagnostic

// HasErrors tells whether any finding is an Error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders by file, then by position, so that the same input gives the same output.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
