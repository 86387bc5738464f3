package descriptor

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/sitelet/sitelet/internal/diag"
)

// maxFindings keeps a file that is wrong throughout, or not a descriptor at all, from filling the log.
const maxFindings = 100

// finding is a diag.Diagnostic that knows its place as an offset only: lines are counted once, at the end.
type finding struct {
	at int
	diag.Diagnostic
}

// report takes an offset of -1 for the file as a whole.
func (d *document) report(at int, field string, severity diag.Severity, message, hint string) {
	d.failed = d.failed || severity == diag.Error
	if d.full() {
		d.more++
		return
	}
	d.found = append(d.found, finding{at, diag.Diagnostic{File: d.file, Field: field, Severity: severity, Message: message, Hint: hint}})
}

// full tells that whatever else is found will only be counted, so that it need not be worded with care.
func (d *document) full() bool { return len(d.found) >= maxFindings }

// findings returns what was found in the order of the file, with lines and columns.
func (d *document) findings() diag.List {
	if len(d.found) == 0 {
		return nil
	}
	slices.SortStableFunc(d.found, func(a, b finding) int { return cmp.Compare(a.at, b.at) })
	secret := d.secretLines()
	lines := lineCounter{data: d.data}
	var list diag.List
	for _, f := range d.found {
		if f.at >= 0 {
			p := lines.position(f.at)
			f.Line, f.Column = p.Line, p.Column
		}
		_, hidden := slices.BinarySearch(secret, f.Line)
		f.Secret = f.Secret || hidden
		list = append(list, f.Diagnostic)
	}
	if d.more > 0 {
		rest := diag.Diagnostic{File: d.file, Message: fmt.Sprintf("%d more findings are left out", d.more), Hint: "Correct these first."}
		if !d.failed {
			rest.Severity = diag.Warning
		}
		list = append(list, rest)
	}
	return list
}

// lineCounter turns offsets into positions. Ascending offsets cost one pass over data in all.
type lineCounter struct {
	data      []byte
	lines     int // before start
	start     int // of the line of the last position
	lastAsked int
}

func (l *lineCounter) position(at int) Position {
	if at < l.lastAsked {
		l.lines, l.start, l.lastAsked = 0, 0, 0
	}
	passed := l.data[l.lastAsked:at]
	if n := bytes.Count(passed, []byte("\n")); n > 0 {
		l.lines += n
		l.start = l.lastAsked + bytes.LastIndexByte(passed, '\n') + 1
	}
	l.lastAsked = at
	return Position{Line: l.lines + 1, Column: at - l.start + 1}
}

// field returns the path of node id, e.g. host_config.port_mappings[0].proto.
func (d *document) field(id int) string {
	if id == 0 {
		return ""
	}
	n := d.nodes[id]
	if n.keyEnd == 0 {
		return d.field(n.parent) + "[" + strconv.Itoa(n.index) + "]"
	}
	return join(d.field(n.parent), shorten(unquote(d.rawKey(id))))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// quote returns s as it can stand in a sentence.
func quote(s string) string { return diag.Quote(s) }

func shorten(s string) string { return diag.Shorten(s) }

// oneOf returns "a, b or c".
func oneOf(words []string) string { return diag.OneOf(words) }
