// Package quadlet writes Quadlet files for the host's version of Podman, and finds and runs the host's quadlet.
// What Quadlet reads is described in podman-systemd.unit(5); how it splits and unquotes each key is that of
// pkg/systemd/parser and pkg/systemd/quadlet in Podman.
package quadlet

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/unit"
)

// File is a .container file that is not yet written for one Podman: its lines in order, each a key of [Container] and the strings
// that Podman is to get exactly. Its form in JSON outlives the Podman of today.
type File [][]string

// Add adds a key with its value. Exec, PodmanArgs (after all other arguments of podman run) and GlobalArgs (between podman and its
// command) take any number of arguments; Environment and Label take a name and a value, of which Quadlet keeps the last of a name.
func (f *File) Add(key string, values ...string) {
	*f = append(*f, append([]string{key}, values...))
}

// Bind adds a recursive bind mount, with options as podman run --mount has them: bind-propagation=rslave, readonly, relabel=shared.
func (f *File) Bind(source, destination string, options ...string) {
	f.Add("Mount", append([]string{source, destination}, options...)...)
}

// maxCommand is the longest line that systemd reads (LONG_LINE_MAX), less what Quadlet adds to ExecStart=.
const maxCommand = 1<<20 - 8<<10

// Text writes the file for a Podman: a value that a key cannot carry, or a key newer than that, becomes a flag in PodmanArgs=.
// There is one error for all that cannot be written.
func (f File) Text(podman Version) ([]byte, error) {
	w := writer{podman: podman}
	w.text = append(make([]byte, 0, 1024), "[Container]\n"...)
	for _, line := range f {
		if len(line) < 2 {
			w.fail("file", fmt.Sprintf("the line %q has no value", line))
			continue
		}
		w.add(line[0], line[1:])
	}
	if len(w.text)+3*bytes.Count(w.text, []byte(" ")) > maxCommand { // newer Quadlets write a blank as \x20
		w.errs = append(w.errs, errors.New("the values together are longer than the 1 MiB that systemd reads; put long ones into files and mount these"))
	}
	if len(w.errs) > 0 {
		return nil, errors.Join(w.errs...)
	}
	if len(w.variables) > 0 {
		w.text = append(w.text, "\n[Service]\n"...)
	}
	for _, v := range w.variables {
		w.line("Environment", unit.Word(v))
	}
	return w.text, nil
}

// writer is the work of Text.
type writer struct {
	podman    Version
	text      []byte
	variables []string // NAME=VALUE, for the commands of the unit
	errs      []error
}

func (w *writer) add(key string, values []string) {
	for _, value := range values {
		if err := check(value); err != nil {
			w.fail(key, err.Error())
			return
		}
	}
	switch key {
	case "Exec", "PodmanArgs", "GlobalArgs":
		w.words(key, values...)
	case "Environment", "Label":
		if len(values) != 2 || values[0] == "" || strings.Contains(values[0], "=") {
			w.fail(key, fmt.Sprintf("%q is no name", values[0]))
			return
		}
		w.words(key, values[0]+"="+values[1])
	case "Mount":
		w.mount(values)
	default:
		w.single(key, values)
	}
}

// single writes a key of the table, which has one value.
func (w *writer) single(name string, values []string) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 || len(values) != 1 {
		w.fail(name, fmt.Sprintf("there is no such key with %d values", len(values)))
		return
	}
	k, arg := keys[i], values[0]
	if !w.podman.AtLeast(k.commas) {
		arg = w.field(name, arg)
	}
	switch {
	case k.fits(arg) && w.podman.AtLeast(k.since):
		text := escape(arg)
		if name == "Image" && namesQuadletImage(arg) {
			text += w.variable("SITELET_EMPTY", "")
		}
		w.line(name, text)
	case k.flag != "":
		w.words("PodmanArgs", k.flag+"="+arg)
	default:
		w.fail(name, fmt.Sprintf("%q is not possible", values[0]))
	}
}

func (w *writer) mount(values []string) {
	if len(values) < 2 {
		w.fail("Mount", "it has no destination")
		return
	}
	source := values[0]
	fields := append([]string{"type=bind", "source=" + source, "destination=" + values[1]}, values[2:]...)
	for i, field := range fields {
		fields[i] = w.field("Mount", field)
	}
	mount := strings.Join(fields, ",")
	if strings.HasPrefix(source, "/") && unit.Quote(source) == source {
		w.words("Mount", mount)
		return
	}
	// Quadlet would copy a source that needs quotes into RequiresMountsFor= as it stands.
	w.words("PodmanArgs", "--mount="+mount)
}

// words writes a key that Quadlet splits into words and unquotes, with C escapes, as systemd does.
func (w *writer) words(key string, words ...string) {
	quoted := make([]string, len(words))
	for i, word := range words {
		if err := check(word); err != nil { // with its flag it may be too long
			w.fail(key, err.Error())
			return
		}
		quoted[i] = unit.Quote(w.word(word))
	}
	w.line(key, strings.Join(quoted, " "))
}

func (w *writer) line(key, text string) {
	w.text = append(append(append(append(w.text, key...), '='), text...), '\n')
}

func (w *writer) fail(key, message string) {
	w.errs = append(w.errs, fmt.Errorf("%s: %s", key, message))
}
