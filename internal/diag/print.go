package diag

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	excerptWidth = 100 // columns of a source line that are shown
	beforeCaret  = 60  // of these, at most so many left of the caret
)

// Print writes every finding as String gives it, followed by the source line and a caret below the place.
// source returns the text of a file, or nil when there is none; it is asked again for each finding.
// Lines that hold a secret are left out. With color, place and caret stand out by ANSI sequences.
func Print(w io.Writer, l List, source func(file string) []byte, color bool) error {
	var b bytes.Buffer
	for _, d := range l {
		style := newStyle(d.Severity, color)
		b.WriteString(style.bold + d.String() + style.reset + "\n")
		if d.Line == 0 || d.Secret {
			continue
		}
		if line, ok := nthLine(source(d.File), d.Line); ok {
			text, pad := excerpt(line, d.Column)
			b.WriteString("  " + text + "\n  " + pad + style.caret + "^" + style.reset + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

type style struct{ bold, caret, reset string }

func newStyle(s Severity, color bool) style {
	switch {
	case !color:
		return style{}
	case s == Warning:
		return style{"\x1b[1m", "\x1b[1;33m", "\x1b[0m"}
	default:
		return style{"\x1b[1m", "\x1b[1;31m", "\x1b[0m"}
	}
}

// nthLine returns the n-th line of text, counted from 1, without its end.
func nthLine(text []byte, n int) ([]byte, bool) {
	for ; n > 1; n-- {
		_, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok {
			return nil, false
		}
		text = rest
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), text != nil
}

// excerpt returns the part of line around the byte column, made harmless, and the blanks that stand below what is
// left of that column. Tabs stay tabs in both, so that the two line up wherever the tab stops are.
func excerpt(line []byte, column int) (text, pad string) {
	at := min(max(column-1, 0), len(line))
	before, after := line[:at], line[at:]

	start, columns := len(before), 0
	for start > 0 {
		r, n := utf8.DecodeLastRune(before[:start])
		if columns += width(r); columns > beforeCaret {
			break
		}
		start -= n
	}
	end := 0
	for columns = min(columns, beforeCaret); end < len(after); {
		r, n := utf8.DecodeRune(after[end:])
		if columns += width(r); columns > excerptWidth {
			break
		}
		end += n
	}

	var b strings.Builder
	if start > 0 {
		b.WriteString("…")
		pad = " "
	}
	for _, r := range string(before[start:]) {
		b.WriteRune(shown(r))
		pad += blank(r)
	}
	for _, r := range string(after[:end]) {
		b.WriteRune(shown(r))
	}
	if end < len(after) {
		b.WriteString("…")
	}
	return b.String(), pad
}

func shown(r rune) rune {
	if r != '\t' && unprintable(r) {
		return utf8.RuneError
	}
	return r
}

func blank(r rune) string {
	if r == '\t' {
		return "\t"
	}
	return strings.Repeat(" ", width(r))
}

// width returns the columns that a terminal gives to r, by the large blocks of East Asian wide characters and emoji.
func width(r rune) int {
	switch {
	case r == '\t':
		return 8
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	default:
		return 1
	}
}
