package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
)

func (c *cli) reloadCommand() *cobra.Command {
	var force bool
	pull := pullMissing
	cmd := &cobra.Command{
		Use:   "reload [--force] [--pull POLICY] [NAME]",
		Short: "Bring what runs to what the descriptors and resources say",
		Long: `Carries out what plan shows, or with NAME what it shows for that container or
namespace alone.

A running router is changed without a restart where it can be. A workload that
needs a new container gets it made while the old one runs; the old one is kept,
stopped, until the new one has run for a while (update.probation in
sitelet.toml), and runs again if that fails. A version that has failed is not
tried again until what it is made from changes.

While auto-reload is on for what it would change, this is refused unless it is
forced.

Exits with 0 if nothing failed, 1 if something did or a descriptor or resource
has errors, 2 if it was called in a wrong way.`,
		Example: `  sitelet reload
  sitelet reload east
  sitelet reload --pull=newer`,
		Args:              oneNameAtMost,
		ValidArgsFunction: c.complete(1, containersAndNamespaces),
	}
	cmd.Flags().BoolVar(&force, "force", false, "reload although auto-reload is on")
	cmd.Flags().Var(&pull, "pull", "missing (the default), or newer to follow tags that have moved")
	completeFlag(cmd, "pull", string(pullMissing), string(pullNewer))
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.reload(cmd, args, force, pull == pullNewer) }
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

func (c *cli) reload(cmd *cobra.Command, names []string, force, pull bool) error {
	h, err := c.hooks(cmd)
	if err != nil {
		return err
	}
	manager, err := h.Systemd(cmd.Context())
	if err != nil {
		return err
	}
	p, err := h.Plan(cmd.Context())
	if err != nil {
		return err
	}
	if err := diag.Print(c.err, p.Findings(), readSource, colour(c.err)); err != nil {
		return err
	}
	only, automatic, err := reloaded(h, names)
	if err != nil {
		return err
	}
	if !force {
		if err := refuseWhileAutomatic(cmd.Context(), manager, h.Paths, automatic...); err != nil {
			return err
		}
	}
	c.warnOfLinger(h)
	c.printUnread(p.Unread)
	progress, stop := c.follow(&h)
	outcomes, err := h.Reload(cmd.Context(), only, pull, func(o hooks.Outcome) {
		if o.Err != nil {
			progress.print(c.err, "%s: %s failed: %v\n", o.Name, o.Verb, o.Err)
			return
		}
		progress.print(c.out, "%s: %s done\n", o.Name, o.Verb)
	})
	stop()
	switch {
	case err != nil:
		return err
	case p.Findings().HasErrors() || slices.ContainsFunc(outcomes, func(o hooks.Outcome) bool { return o.Err != nil }):
		return errFindings
	case len(outcomes) == 0:
		fmt.Fprintln(c.out, "nothing to do")
	}
	return nil
}

// reloaded returns the workload that a reload is for, if it is for one, and the units that do by themselves what it does.
func reloaded(h hooks.Hooks, names []string) (only string, automatic []string, err error) {
	if len(names) == 0 {
		automatic = []string{hooks.ContainersPath, hooks.AllSitesPath}
		namespaces, _ := h.Namespaces()
		for _, namespace := range namespaces {
			automatic = append(automatic, hooks.SitePath(namespace))
		}
		return "", automatic, nil
	}
	only, namespace, err := workloadOf(h.Paths, names[0])
	if namespace != "" {
		return only, []string{hooks.SitePath(namespace), hooks.AllSitesPath}, err
	}
	return only, []string{hooks.ContainersPath}, err
}
