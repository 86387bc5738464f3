// Command sitelet checks and renders what sitelet-generator makes units of, and holds the hooks that those units call.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/paths"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit statuses, as in systemctl and podman.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errFindings ends a command whose findings have been printed.
var errFindings = errors.New("findings")

// usageError is a mistake in the command line.
type usageError struct{ error }

// cli is what the commands share.
type cli struct {
	out, err io.Writer
	user     bool
}

func run(args []string, out, errOut io.Writer) int {
	c := &cli{out: out, err: errOut}
	root := c.root()
	root.SetArgs(args)
	err := root.Execute()
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings):
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "sitelet: %v\nRun `sitelet --help` for the commands and their flags.\n", err)
		return exitUsage
	}
	fmt.Fprintf(errOut, "sitelet: %v\n", err)
	return exitFailed
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sitelet",
		Short: "Containers and Skupper sites as systemd services, from plain files",
		Long: `sitelet lets systemd run containers from plain files: descriptors below
/etc/sitelet/containers become services at boot and at systemctl daemon-reload.
Start, stop and look at them with systemctl and journalctl.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usageError{fmt.Errorf("there is no command %q%s", args[0], suggestion(cmd, args[0]))}
		},
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().BoolVar(&c.user, "user", os.Geteuid() != 0, "work for the calling user's systemd instead of the host's")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(c.checkCommand(), c.renderCommand(), c.versionCommand(), c.hookCommand())
	return root
}

func suggestion(cmd *cobra.Command, word string) string {
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return ""
}

// paths resolves where everything is: SITELET_ROOT stands in for /, and makes the host's scope the default for everyone.
func (c *cli) paths(cmd *cobra.Command) (paths.Paths, error) {
	root := os.Getenv("SITELET_ROOT")
	scope := paths.System
	if c.user && (root == "" || cmd.Flags().Changed("user")) {
		scope = paths.User
	}
	return paths.New(scope, root, os.Getenv)
}

// noMore refuses arguments, as a mistake of usage.
func noMore(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, not %q", cmd.CommandPath(), args[0])}
	}
	return nil
}
