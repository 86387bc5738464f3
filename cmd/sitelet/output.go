package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// format is the value of -o: how a command prints its result.
type format string

const (
	formatText format = "text" // for people; the default
	formatJSON format = "json"
)

func outputFlag(cmd *cobra.Command) *format {
	f := formatText
	cmd.Flags().VarP(&f, "output", "o", "how the result is printed: text (the default) or json")
	completeFlag(cmd, "output", string(formatText), string(formatJSON))
	return &f
}

func (f *format) String() string { return string(*f) }

func (f *format) Type() string { return "FORMAT" }

func (f *format) Set(s string) error {
	if format(s) != formatText && format(s) != formatJSON {
		return errors.New("write text or json")
	}
	*f = format(s)
	return nil
}

func printJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// printTable aligns the cells of rows, the first of which is the heading, and leaves no blanks at the ends of lines.
func printTable(out io.Writer, rows [][]string) error {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// colour is for people at a terminal who have not said that they do not want it (no-color.org).
func colour(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
