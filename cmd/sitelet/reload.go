package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

// autoReload is the unit whose being active means that changes are taken up without anybody's doing.
const autoReload = "sitelet-containers.path"

func (c *cli) reloadCommand() *cobra.Command {
	var force bool
	pull := pullMissing
	cmd := &cobra.Command{
		Use:   "reload [--force] [--pull POLICY]",
		Short: "Bring what runs to what the descriptors say",
		Long: `Carries out what plan shows. A workload that needs a new container gets it made
while the old one runs; the old one is kept, stopped, until the new one has run
for a while (update.probation in sitelet.toml), and runs again if that fails.

A version that has failed is not tried again until its descriptor changes.

Exits with 0 if nothing failed, 1 if something did or a descriptor has errors, 2
if it was called in a wrong way.`,
		Example: `  sitelet reload
  sitelet reload --pull=newer`,
		Args: noArgument,
	}
	cmd.Flags().BoolVar(&force, "force", false, "reload although auto-reload is on")
	cmd.Flags().Var(&pull, "pull", "missing (the default), or newer to follow tags that have moved")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.reload(cmd, force, pull == pullNewer) }
	return cmd
}

// pullPolicy is the value of --pull.
type pullPolicy string

const (
	pullMissing pullPolicy = "missing"
	pullNewer   pullPolicy = "newer"
)

func (p *pullPolicy) String() string { return string(*p) }

func (p *pullPolicy) Type() string { return "POLICY" }

func (p *pullPolicy) Set(s string) error {
	if pullPolicy(s) != pullMissing && pullPolicy(s) != pullNewer {
		return errors.New("write missing or newer")
	}
	*p = pullPolicy(s)
	return nil
}

func (c *cli) reload(cmd *cobra.Command, force, pull bool) error {
	h, err := c.hooks(cmd)
	if err != nil {
		return err
	}
	manager, err := h.Systemd(cmd.Context())
	if err != nil {
		return err
	}
	if !force && manager.Active(cmd.Context(), autoReload) {
		systemctl := "systemctl"
		if h.Paths.Scope == paths.User {
			systemctl += " --user"
		}
		return fmt.Errorf("auto-reload is on and takes up changes by itself; stop it with `%s stop %s`, or use --force", systemctl, autoReload)
	}
	p, err := h.Plan(cmd.Context())
	if err != nil {
		return err
	}
	if err := diag.Print(c.err, p.Found, readSource, colour(c.err)); err != nil {
		return err
	}
	outcomes, err := h.Reload(cmd.Context(), pull, func(o hooks.Outcome) {
		if o.Err != nil {
			fmt.Fprintf(c.err, "%s: %s failed: %v\n", o.Name, o.Verb, o.Err)
			return
		}
		fmt.Fprintf(c.out, "%s: %s done\n", o.Name, o.Verb)
	})
	switch {
	case err != nil:
		return err
	case p.Found.HasErrors() || slices.ContainsFunc(outcomes, func(o hooks.Outcome) bool { return o.Err != nil }):
		return errFindings
	case len(outcomes) == 0:
		fmt.Fprintln(c.out, "nothing to do")
	}
	return nil
}
