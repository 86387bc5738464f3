package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/state"
)

func (c *cli) startCommand() *cobra.Command {
	return c.jobCommand("start", "Start a container or a site", `Starts a container, or the router of a namespace, and waits until it is up: what
systemctl start does with its unit.`, hooks.Manager.Start)
}

func (c *cli) stopCommand() *cobra.Command {
	return c.jobCommand("stop", "Stop a container or a site", `Stops a container, or the router of a namespace: what systemctl stop does with
its unit. Nothing of it is removed, and no reload starts it again.`, hooks.Manager.Stop)
}

func (c *cli) jobCommand(verb, short, long string, job func(hooks.Manager, context.Context, string) error) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   verb + " NAME [--force]",
		Short: short,
		Long: long + `

While auto-reload is on for a namespace, this is refused unless it is forced.

Exits with 0 if that is done, 1 if it failed, 2 if it was called in a wrong way.`,
		Example:           "  sitelet " + verb + " web\n  sitelet " + verb + " east",
		Args:              oneName,
		ValidArgsFunction: c.complete(1, containersAndNamespaces),
	}
	cmd.Flags().BoolVar(&force, "force", false, verb+" although auto-reload is on")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := c.hooks(cmd)
		if err != nil {
			return err
		}
		name, namespace, err := workloadOf(h.Paths, args[0])
		if err != nil {
			return err
		}
		if !isDeployed(h.Paths, name) {
			return notDeployed(args[0])
		}
		manager, err := h.Systemd(cmd.Context())
		if err != nil {
			return err
		}
		if namespace != "" && !force {
			if err := refuseWhileAutomatic(cmd.Context(), manager, h.Paths, hooks.SitePath(namespace), hooks.AllSitesPath); err != nil {
				return err
			}
		}
		if verb == "start" {
			c.warnOfLinger(h)
		}
		defer c.busy(name + ": " + verb)()
		if err := job(manager, cmd.Context(), name+".service"); err != nil {
			return fmt.Errorf("%w; `sitelet status %s` says why", err, args[0])
		}
		return nil
	}
	return cmd
}

// isDeployed tells whether a workload has been taken up, or is to be at its first start.
func isDeployed(p paths.Paths, workload string) bool {
	_, err := state.Store{Dir: p.StateDir}.Read(workload)
	return !errors.Is(err, fs.ErrNotExist) ||
		slices.ContainsFunc(generator.ReadManifest(p).Units, func(u generator.Entry) bool { return u.Name == workload })
}

// refuseWhileAutomatic names the unit that does by itself what somebody wants done by hand.
func refuseWhileAutomatic(ctx context.Context, manager hooks.Manager, p paths.Paths, units ...string) error {
	for _, unit := range units {
		if !manager.Active(ctx, unit) {
			continue
		}
		return fmt.Errorf("auto-reload is on and takes up changes by itself; stop it with `%s stop %s`, or use --force", p.Scope.Systemctl(), unit)
	}
	return nil
}
