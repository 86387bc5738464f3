package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
)

func (c *cli) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "history NAME",
		Short: "List the versions of a workload and what became of them",
		Long: `Lists the last versions of a container, or of a namespace's router, oldest
first: when each was taken up, whether it was kept, and why not. What a router
takes up without a restart makes no version.

Exits with 0, with 1 if there is no workload of that name, 2 if it was called in
a wrong way.`,
		Example: `  sitelet history web
  sitelet history skupper-east`,
		Args:              oneName,
		ValidArgsFunction: c.complete(1, workloads),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := c.known(cmd, args[0])
			if err != nil {
				return err
			}
			rows := [][]string{{"TIME", "GENERATION", "RESULT", "REASON"}}
			for _, e := range w.History {
				rows = append(rows, []string{e.At.Local().Format(time.DateTime), short(string(e.Generation)), e.Result, e.Reason})
			}
			return printTable(c.out, rows)
		},
	}
}

func (c *cli) rollbackCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to the version of a workload before this one",
		Long: `Ends a trial, or else starts the version before the current one again. The
version that is left is not tried again until what it is made from changes.

Exits with 0 if the version before runs again, 1 if there is none or it does not
run, 2 if it was called in a wrong way.`,
		Example: `  sitelet rollback web
  sitelet rollback skupper-east`,
		Args:              oneName,
		ValidArgsFunction: c.complete(1, workloads),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := c.known(cmd, args[0])
			if err != nil {
				return err
			}
			h, err := c.hooks(cmd)
			if err != nil {
				return err
			}
			// Before the state says that it has gone back.
			if _, err := h.Systemd(cmd.Context()); err != nil {
				return err
			}
			progress, stop := c.follow(&h)
			defer stop()
			defer progress.begin(w.Name + ": going back")()
			return h.RollbackByHand(cmd.Context(), w.Name)
		},
	}
}

func (c *cli) pruneCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prune [NAME...]",
		Short: "Remove workloads whose descriptors are gone",
		Long: `Stops and removes what sitelet made and what has no descriptor any more: its
unit, its containers and what is known of it. Everything else is left alone.
sitelet site remove does it for a site.

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
			for _, name := range args {
				if err := orphaned(p.Actions, name); err != nil {
					return err
				}
			}
			outcomes, err := h.Prune(cmd.Context(), p, args)
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

// orphaned says why a workload that a user has named is not to be pruned.
func orphaned(actions []plan.Action, name string) error {
	i := slices.IndexFunc(actions, func(a plan.Action) bool { return a.Name == name })
	switch {
	case i < 0:
		return noWorkload(name)
	case actions[i].Verb != plan.Orphaned:
		return fmt.Errorf("%s has a descriptor, and only what has none is pruned; remove the descriptor first", name)
	}
	return nil
}

// known reads the state of a workload that a user has named, or whose namespace.
func (c *cli) known(cmd *cobra.Command, name string) (state.Workload, error) {
	p, err := c.paths(cmd)
	if err != nil {
		return state.Workload{}, err
	}
	workload, _, err := workloadOf(p, name)
	if err != nil {
		return state.Workload{}, err
	}
	w, err := state.Store{Dir: p.StateDir}.Read(workload)
	if errors.Is(err, fs.ErrNotExist) {
		return w, notDeployed(name)
	}
	return w, err
}
