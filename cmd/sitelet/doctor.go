package main

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/doctor"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/systemd"
)

func (c *cli) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor [-o FORMAT]",
		Short: "Say what of the host keeps services from working, and what to do",
		Long: `Looks at what sitelet needs of the host and at what it has there: Podman,
systemd, kernel and control groups, who may write its files, auto-reload, ports
that are taken, certificates near their end, and what is left over. Changes
nothing. Each check says ok, note, warning or error, and then what to do.

Exits with 0 if there is no error (there may be warnings), 1 if there is one, 2
if it was called in a wrong way.`,
		Example: `  sitelet doctor
  sitelet doctor -o json`,
		Args:              noArgument,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	output := outputFlag(cmd, formatYAML)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.doctor(cmd, *output) }
	return cmd
}

func (c *cli) doctor(cmd *cobra.Command, output format) error {
	h, err := c.hooks(cmd)
	if err != nil {
		return err
	}
	found, err := doctor.Examine(cmd.Context(), doctor.Host{
		Hooks:  h,
		Podman: engine.Podman{},
		User:   caller(),
		Systemd: func() (doctor.Systemd, error) {
			if os.Getenv("SITELET_ROOT") != "" {
				return nil, doctor.ErrElsewhere
			}
			return systemd.Connect(cmd.Context(), h.Paths.Scope)
		},
	})
	if err != nil {
		return err
	}
	switch output {
	case formatJSON:
		err = printJSON(c.out, found)
	case formatYAML:
		err = printYAML(c.out, found)
	default:
		err = printFindings(c.out, found, colour(c.out))
	}
	if err == nil && slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Level == doctor.Error }) {
		return errFindings
	}
	return err
}

// caller is who runs the command; without an entry for him, the number is the name.
func caller() doctor.User {
	u := doctor.User{Name: strconv.Itoa(os.Getuid()), UID: os.Getuid()}
	if known, err := user.Current(); err == nil {
		u.Name = known.Username
	}
	return u
}

// levelWidth is that of the first column: the longest word and a blank.
const levelWidth = len("warning ")

// printFindings writes a line a finding, and what to do on the next one.
func printFindings(w io.Writer, found []doctor.Finding, colour bool) error {
	var text strings.Builder
	for _, f := range found {
		level := f.Level.String()
		blanks := strings.Repeat(" ", levelWidth-len(level))
		if colour {
			level = levelColour(f.Level).paint(level)
		}
		fmt.Fprintf(&text, "%s%s%s: %s\n", level, blanks, f.Check, diag.Harmless(f.Message))
		if f.Hint != "" {
			fmt.Fprintf(&text, "%s%s\n", strings.Repeat(" ", levelWidth), diag.Harmless(f.Hint))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func levelColour(l doctor.Level) sgr {
	switch l {
	case doctor.Error:
		return red
	case doctor.Warning:
		return yellow
	case doctor.OK:
		return green
	}
	return ""
}

// warnOfLinger says that a user's services will not outlive the sessions, if they will not.
func (c *cli) warnOfLinger(h hooks.Hooks) {
	u := caller()
	if h.Paths.Scope == paths.User && os.Getenv("SITELET_ROOT") == "" && !doctor.Lingers(h.Paths, u.Name) {
		fmt.Fprintf(c.err, "warning: %s does not linger, so services end with the last session and no boot starts them; run `%s`\n", u.Name, doctor.EnableLinger(u.Name))
	}
}
