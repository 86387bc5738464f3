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

// File collects the lines of a .container file. Strings are written so that Podman gets exactly them: a value that a key
// cannot carry, or a key newer than the host's Podman, becomes a flag in PodmanArgs=.
// What cannot be written at all is reported by Bytes.
type File struct {
	podman    Version
	sections  []*section
	variables []string // names of those that the unit defines
	errs      []error
}

type section struct {
	name string
	text []byte // lines with their ends
}

// New returns an empty file for a host with the given Podman.
func New(podman Version) *File {
	f := new(File)
	f.Reset(podman)
	return f
}

// Reset makes a file what New returns, and keeps its memory for what is written to it next.
func (f *File) Reset(podman Version) {
	for _, s := range f.sections {
		s.text = s.text[:0]
	}
	f.podman, f.variables, f.errs = podman, nil, nil
	for _, name := range []string{"Unit", "Container", "Service"} {
		f.section(name)
	}
}

// Add adds a [Container] key; a key that is not in the table of this package panics.
func (f *File) Add(name, value string) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		panic("quadlet: no key " + name)
	}
	k := keys[i]
	if !f.check(name, value) {
		return
	}
	arg := value
	if !f.podman.AtLeast(k.commas) {
		arg = f.field(name, value)
	}
	switch {
	case k.fits(arg) && f.podman.AtLeast(k.since):
		text := escape(arg)
		if name == "Image" && namesQuadletImage(arg) {
			text += f.variable("SITELET_EMPTY", "")
		}
		f.line("Container", name, text)
	case k.flag != "":
		f.PodmanArg(k.flag + "=" + arg)
	default:
		f.fail(name, fmt.Sprintf("%q is not possible", value))
	}
}

// KeyVal adds NAME=VALUE to Environment or Label. Quadlet keeps the last value of a name.
func (f *File) KeyVal(key, name, value string) {
	if name == "" || strings.Contains(name, "=") {
		f.fail(key, fmt.Sprintf("%q is no name", name))
		return
	}
	f.words(key, name+"="+value)
}

// Bind adds a recursive bind mount, with options as podman run --mount has them: bind-propagation=rslave, readonly, relabel=shared.
// The unit waits for the file system of an absolute source.
func (f *File) Bind(source, destination string, options ...string) {
	fields := append([]string{"type=bind", "source=" + source, "destination=" + destination}, options...)
	for i, field := range fields {
		fields[i] = f.field("Mount", field)
	}
	mount := strings.Join(fields, ",")
	absolute := strings.HasPrefix(source, "/")
	if absolute && unit.Quote(source) == source && !strings.Contains(source, "$") {
		f.words("Mount", mount)
		return
	}
	// Quadlet would copy a source that needs quotes or has a $ into RequiresMountsFor= as it stands.
	f.PodmanArg("--mount=" + mount)
	if absolute {
		f.line("Unit", "RequiresMountsFor", unit.Word(source))
	}
}

// Exec sets the command that the container runs, after its image's entry point.
func (f *File) Exec(argv ...string) { f.words("Exec", argv...) }

// PodmanArg adds arguments to podman run, after all others. Each string is one argument.
func (f *File) PodmanArg(args ...string) { f.words("PodmanArgs", args...) }

// GlobalArg adds arguments between podman and its command. Each string is one argument.
func (f *File) GlobalArg(args ...string) { f.words("GlobalArgs", args...) }

// Unit adds a plain text to [Unit]; see unit.Text for what it can hold.
func (f *File) Unit(key, value string) { f.text("Unit", key, value) }

// Service adds a plain text to [Service]; see unit.Text for what it can hold.
func (f *File) Service(key, value string) { f.text("Service", key, value) }

// Custom adds a line to any section, in systemd's own syntax: specifiers and quotes in text are alive.
// Write strings of users with unit.Word, unit.CommandLine or unit.Text.
func (f *File) Custom(section, key, text string) {
	if strings.ContainsAny(text, "\n\r\x00") || strings.HasSuffix(strings.TrimSpace(text), `\`) {
		f.fail(key, fmt.Sprintf("%q is not one line", text))
		return
	}
	f.line(section, key, text)
}

// maxCommand is the longest line that systemd reads (LONG_LINE_MAX), less what Quadlet adds to ExecStart=.
const maxCommand = 1<<20 - 8<<10

// Bytes returns the file's text, or one error for all that could not be written.
func (f *File) Bytes() ([]byte, error) {
	if len(f.errs) > 0 {
		return nil, errors.Join(f.errs...)
	}
	command := f.section("Container").text
	if len(command)+3*bytes.Count(command, []byte(" ")) > maxCommand { // newer Quadlets write a blank as \x20
		return nil, errors.New("the values together are longer than the 1 MiB that systemd reads; put long ones into files and mount these")
	}
	size := 0
	for _, s := range f.sections {
		size += len(s.name) + len(s.text) + len("\n[]\n")
	}
	text := make([]byte, 0, size)
	for _, s := range f.sections {
		if len(s.text) == 0 {
			continue
		}
		if len(text) > 0 {
			text = append(text, '\n')
		}
		text = append(append(append(append(text, '['), s.name...), "]\n"...), s.text...)
	}
	return text, nil
}

func (f *File) text(section, key, value string) {
	if f.check(key, value) {
		f.line(section, key, unit.Text(value))
	}
}

// words adds a key that Quadlet splits into words and unquotes, with C escapes, as systemd does.
func (f *File) words(key string, words ...string) {
	if len(words) == 0 {
		return
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		if !f.check(key, word) {
			return
		}
		quoted[i] = unit.Quote(f.word(word))
	}
	f.line("Container", key, strings.Join(quoted, " "))
}

func (f *File) line(section, key, text string) {
	s := f.section(section)
	s.text = append(append(append(append(s.text, key...), '='), text...), '\n')
}

func (f *File) section(name string) *section {
	for _, s := range f.sections {
		if s.name == name {
			return s
		}
	}
	s := &section{name: name}
	f.sections = append(f.sections, s)
	return s
}

func (f *File) fail(key, message string) {
	f.errs = append(f.errs, fmt.Errorf("%s: %s", key, message))
}
