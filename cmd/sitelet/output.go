package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/diag"
)

// format is the value of -o: how a command prints its result.
type format string

const (
	formatText       format = "text" // for people; the default
	formatJSON       format = "json"
	formatYAML       format = "yaml"
	formatWide       format = "wide"       // text with more columns
	formatPrometheus format = "prometheus" // for the node exporter's textfile collector
)

// outputFlag adds -o with text, json and more formats.
func outputFlag(cmd *cobra.Command, more ...format) *format {
	f := formatText
	all := append([]format{formatText, formatJSON}, more...)
	var names []string
	for _, other := range all {
		names = append(names, string(other))
	}
	last := len(names) - 1
	usage := "how the result is printed: text (the default)" + strings.Join(append([]string{""}, names[1:last]...), ", ") + " or " + names[last]
	cmd.Flags().VarP(&formatValue{&f, all}, "output", "o", usage)
	completeFlag(cmd, "output", names...)
	return &f
}

// formatValue is a flag with one of several formats.
type formatValue struct {
	format *format
	all    []format
}

func (v *formatValue) String() string {
	if v.format == nil {
		return ""
	}
	return string(*v.format)
}

func (v *formatValue) Type() string { return "FORMAT" }

func (v *formatValue) Set(s string) error {
	if !slices.Contains(v.all, format(s)) {
		var names []string
		for _, f := range v.all {
			names = append(names, string(f))
		}
		return errors.New("write " + diag.OneOf(names))
	}
	*v.format = format(s)
	return nil
}

// harmless formats lines for a terminal or the journal: what programs, registries and routers have said is in some.
func harmless(format string, args ...any) string {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i, line := range lines {
		lines[i] = diag.Harmless(line)
	}
	return strings.Join(lines, "\n")
}

// printUnread says on standard error why descriptors and sites are not read, if they are not.
func (c *cli) printUnread(why string) {
	if why != "" {
		fmt.Fprintf(c.err, "%s: descriptors and sites are not read\n", diag.Harmless(why))
	}
}

// printYAML prints what printJSON does in YAML.
func printYAML(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var ordered any
	if err := yaml.UnmarshalWithOptions(text, &ordered, yaml.UseOrderedMap()); err != nil {
		return err
	}
	if text, err = yaml.MarshalWithOptions(ordered, yaml.CustomMarshaler(yamlString)); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// yamlString leaves bare what nobody takes for anything but a string. The library leaves 1e5 bare too, which others read as a number,
// and control characters, which may be in a container's output.
func yamlString(s string) ([]byte, error) {
	if bare.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return []byte(s), nil
	}
	return []byte(strconv.Quote(s)), nil
}

var (
	bare = regexp.MustCompile("^[A-Za-z/]([A-Za-z0-9._/@+=,;()'`-]|:[A-Za-z0-9/]| [A-Za-z0-9/(`])*$")
	// yamlWords are not strings to YAML 1.1 or 1.2.
	yamlWords = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
)

func printJSON(w io.Writer, value any) error { return diag.EncodeJSON(w, value) }

// colour is for people at a terminal who have not said that they do not want it (no-color.org).
func colour(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
