package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/plan"
)

func (c *cli) pruneCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prune [NAME...]",
		Short: "Remove workloads whose descriptors are gone",
		Long: `Stops and removes what sitelet made and what has no descriptor any more: its
unit, its containers and what is known of it. Everything else is left alone, and
so is what a service that runs requires. sitelet site remove does it for a site.

Exits with 0 if nothing is left of it, 1 if something failed or NAME has a
descriptor, 2 if it was called in a wrong way.`,
		Example: `  sitelet prune
  sitelet prune old-web`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: c.complete(manyNames, orphans),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := c.hooks(cmd)
			if err != nil {
				return err
			}
			p, err := h.Plan(cmd.Context())
			if err != nil {
				return err
			}
			var names []string
			for _, arg := range args {
				name, err := orphaned(h.Paths, p.Actions, arg)
				if err != nil {
					return err
				}
				names = append(names, name)
			}
			outcomes, err := h.Prune(cmd.Context(), p, names)
			for _, o := range outcomes {
				if o.Err != nil {
					err = errors.Join(err, fmt.Errorf("%s: %w", o.Name, o.Err))
					continue
				}
				fmt.Fprintf(c.out, "%s: removed\n", o.Name)
			}
			if err == nil && len(outcomes) == 0 {
				fmt.Fprintln(c.out, "nothing to remove")
			}
			return err
		},
	}
}

// orphaned finds the workload that a user has named, or says why it is not to be pruned.
func orphaned(p paths.Paths, actions []plan.Action, name string) (workload string, err error) {
	workload, namespace, err := workloadOf(p, name)
	if err != nil {
		return "", err
	}
	if namespace != "" {
		return "", fmt.Errorf("%s is a site, and only containers are pruned; run `sitelet site remove %s`", name, namespace)
	}
	if slices.ContainsFunc(actions, func(a plan.Action) bool { return a.Name == workload && a.Verb == plan.Orphaned }) {
		return workload, nil
	}
	return "", fmt.Errorf("%s has a descriptor, and only what has none is pruned; remove the descriptor first", name)
}
