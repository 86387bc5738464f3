package quadlet

import (
	"errors"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/unit"
)

// maxArgument is the length from which Linux refuses an argument (MAX_ARG_STRLEN, execve(2)).
// The flag that carries a value counts, too.
const maxArgument = 128<<10 - 64

// check tells why no unit can carry value to Podman as one argument; nil if one can.
func check(value string) error {
	switch {
	case strings.Contains(value, "\x00"):
		return errors.New("a NUL cannot be passed to a program; remove it")
	case !unit.ValidText(value):
		return errors.New("systemd takes it for invalid UTF-8; remove the bytes or code points (such as U+FFFE) that are no characters")
	case len(value) >= maxArgument:
		return errors.New("it is longer than the 128 KiB that Linux passes to a program; put it into a file and mount that")
	}
	return nil
}

// escape keeps systemd from expanding specifiers and variables in an Exec line.
func escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "%", "%%"), "$", "$$")
}

// word returns what stands for one argument of Podman, not yet quoted. Quadlet writes ExecStart= anew: it loses
// an empty word, leaves a lone semicolon bare, which ends the command, and writes U+0080 as a byte.
// A variable passes through it.
func (w *writer) word(s string) string {
	switch s {
	case "":
		return w.variable("SITELET_EMPTY", "")
	case ";":
		return w.variable("SITELET_SEMICOLON", ";")
	}
	s = escape(s)
	if strings.Contains(s, "\u0080") {
		s = strings.ReplaceAll(s, "\u0080", w.variable("SITELET_U0080", "\u0080"))
	}
	return s
}

// variable defines a variable for the commands of the unit and returns the reference to it.
func (w *writer) variable(name, value string) string {
	if !slices.Contains(w.variables, name+"="+value) {
		w.variables = append(w.variables, name+"="+value)
	}
	return "${" + name + "}"
}

// field writes one field of a comma-separated list as encoding/csv reads it, with which Podman splits such lists.
func (w *writer) field(key, s string) string {
	if s != "" && !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	if strings.Contains(s, "\r\n") {
		w.fail(key, "Podman takes a carriage return and newline for a newline; remove the carriage return")
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
