package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sitelet/sitelet/internal/diag"
)

// cell is one of a table, in a colour for those who want some.
type cell struct {
	text   string
	colour sgr
}

// sgr is a parameter of ECMA-48's "select graphic rendition"; empty for plain text.
type sgr string

const (
	red    sgr = "31"
	green  sgr = "32"
	yellow sgr = "33"
)

// paint has a terminal show a text in a colour.
func (s sgr) paint(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// table prints rows with aligned cells. More can follow later: a column gets wider with what is in it, and never narrower.
type table struct {
	out    io.Writer
	widths []int
}

// print prints rows and leaves no blanks at the ends of lines. What is not printable in a cell is escaped.
func (t *table) print(rows ...[]cell) error {
	for _, row := range rows {
		for i := range row {
			row[i].text = diag.Harmless(row[i].text)
			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(c.colour.paint(c.text))
			line.WriteString(strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(c.text)+2))
		}
		if _, err := fmt.Fprintln(t.out, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// plain is a row without colours.
func plain(texts ...string) []cell {
	row := make([]cell, len(texts))
	for i, text := range texts {
		row[i].text = text
	}
	return row
}

// printTable prints rows, the first of which is the heading.
func printTable(out io.Writer, rows [][]string) error {
	t := table{out: out}
	cells := make([][]cell, len(rows))
	for i, row := range rows {
		cells[i] = plain(row...)
	}
	return t.print(cells...)
}
