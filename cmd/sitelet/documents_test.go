package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// documented returns the commands that people call: those that are not hidden, and are not Cobra's own.
func documented() []*cobra.Command {
	var list []*cobra.Command
	for _, cmd := range (&cli{out: io.Discard, err: io.Discard}).root().Commands() {
		if !cmd.Hidden {
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
	for _, cmd := range append(append(documented(), hook.Commands()...), root, hook) {
		if cmd.Long == "" || cmd.Example == "" || cmd != root && cmd.Short == "" {
			t.Errorf("the help of %q lacks a sentence or an example", cmd.CommandPath())
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
		if !strings.Contains(manual, "\n.It Cm "+cmd.Name()+" ") {
			t.Errorf("sitelet.1 has no entry for %s", cmd.Name())
		}
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(manual, "Fl -"+f.Name) || f.Shorthand != "" && !strings.Contains(manual, "Fl "+f.Shorthand+" ") {
				t.Errorf("sitelet.1 has no entry for --%s of %s", f.Name, cmd.Name())
			}
		})
	}
}

func TestReadmeHasEveryCommand(t *testing.T) {
	readme := read(t, "../../README.md")
	for _, cmd := range documented() {
		if cmd.Name() != "help" && !strings.Contains(readme, "| `sitelet "+cmd.Name()) {
			t.Errorf("README.md has no row for %s", cmd.Name())
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
