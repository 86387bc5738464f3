package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// documented returns the commands that people call: those that are not hidden, do more than to hold others, and are not Cobra's own.
func documented() []*cobra.Command { return callable((&cli{out: io.Discard, err: io.Discard}).root()) }

func callable(parent *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, cmd := range parent.Commands() {
		switch {
		case cmd.Hidden:
		case cmd.HasSubCommands():
			list = append(list, callable(cmd)...)
		default:
			list = append(list, cmd)
		}
	}
	return list
}

func TestHelpIsComplete(t *testing.T) {
	root := (&cli{out: io.Discard, err: io.Discard}).root()
	hook, _, err := root.Find([]string{"hook"})
	if err != nil {
		t.Fatal(err)
	}
	documented := callable(root)
	all := append(hook.Commands(), hook)
	for _, cmd := range documented {
		all = append(all, cmd, cmd.Parent())
	}
	for _, cmd := range all {
		if cmd.Long == "" || cmd.Example == "" || cmd != root && cmd.Short == "" {
			t.Errorf("the help of %q lacks a sentence or an example", cmd.CommandPath())
		}
		if slices.Contains(documented, cmd) && !strings.Contains(cmd.Long, "xits with 0") {
			t.Errorf("the help of %q does not say how it exits", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if len(line) > 81 {
				t.Errorf("%q: wider than 80 columns: %s", cmd.CommandPath(), line)
			}
		}
	}
}

func TestManualHasEveryCommandAndOption(t *testing.T) {
	manual := read(t, "../../man/sitelet.1")
	for _, cmd := range documented() {
		if !strings.Contains(manual, "\n.It Cm "+called(cmd)+" ") {
			t.Errorf("sitelet.1 has no entry for %s", called(cmd))
		}
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(manual, "Fl -"+f.Name) || f.Shorthand != "" && !strings.Contains(manual, "Fl "+f.Shorthand+" ") {
				t.Errorf("sitelet.1 has no entry for --%s of %s", f.Name, called(cmd))
			}
		})
	}
}

func TestReadmeHasEveryCommand(t *testing.T) {
	readme := read(t, "../../README.md")
	for _, cmd := range documented() {
		if cmd.Name() != "help" && !strings.Contains(readme, "| `sitelet "+called(cmd)) {
			t.Errorf("README.md has no row for %s", called(cmd))
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
