// Command sitelet checks descriptors, takes up their changes, and holds the hooks that the units of sitelet-generator call.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/build"
	"github.com/sitelet/sitelet/internal/paths"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit statuses, as in systemctl and podman.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitPending = 3 // of plan
)

// errFindings ends a command whose findings have been printed.
var errFindings = errors.New("findings")

// errPending ends a plan that has something to do.
var errPending = errors.New("pending")

// cli is what the commands share.
type cli struct {
	out, err io.Writer
	user     bool
}

func run(args []string, out, errOut io.Writer) int {
	c := &cli{out: out, err: errOut}
	root := c.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings):
		return exitFailed
	case errors.Is(err, errPending):
		return exitPending
	case errors.As(err, &usage):
		if cmd.Name() == "help" {
			cmd = root // the command that was asked about is the wrong one
		}
		fmt.Fprint(errOut, harmless("sitelet: %v\nRun `%s --help` to see how it is called.\n", err, cmd.CommandPath()))
		return exitUsage
	}
	fmt.Fprint(errOut, harmless("sitelet: %v\n", err))
	return exitFailed
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use: "sitelet [--user] COMMAND",
		Long: `sitelet lets systemd run containers and Skupper sites from plain files:
descriptors below /etc/sitelet/containers and site resources below
/var/lib/skupper/namespaces become services, and sitelet reload takes up what
has changed. Look at them with systemctl and journalctl.`,
		Example: `  sitelet check
  sitelet reload
  systemctl status web`,
		Version:       build.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(badFlag)
	root.SetVersionTemplate("sitelet {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	root.PersistentFlags().BoolP("help", "h", false, "print this help")
	root.PersistentFlags().BoolVar(&c.user, "user", os.Geteuid() != 0, "work for your own systemd, not the host's; the default for all but root")
	root.AddCommand(c.checkCommand(), c.planCommand(), c.reloadCommand(), c.statusCommand(), c.historyCommand(), c.doctorCommand(), c.rollbackCommand(), c.pruneCommand(),
		c.startCommand(), c.stopCommand(), c.siteCommand(), c.linkCommand(),
		c.renderCommand(), c.versionCommand(), c.hookCommand())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	root.CompletionOptions.HiddenDefaultCmd = true
	root.InitDefaultCompletionCmd()
	strict(root)
	return root
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
