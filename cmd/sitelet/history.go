package main

import (
	"errors"
	"fmt"
	"io/fs"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
)

func (c *cli) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "history NAME",
		Short:   "List the versions of a workload and what became of them",
		Long:    "Lists the last versions of a workload, oldest first: when each was taken up,\nwhether it was kept, and why not.",
		Example: "  sitelet history web",
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := c.known(cmd, args[0])
			if err != nil {
				return err
			}
			out := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(out, "TIME\tGENERATION\tRESULT\tREASON")
			for _, e := range w.History {
				fmt.Fprintf(out, "%s\t%.12s\t%s\t%s\n", e.At.Local().Format("2006-01-02 15:04:05"), e.Generation, e.Result, e.Reason)
			}
			return out.Flush()
		},
	}
}

func (c *cli) rollbackCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to the version of a workload before this one",
		Long: `Starts the version before the current one again. The current one is not tried
again until its descriptor changes.`,
		Example: "  sitelet rollback web",
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := c.known(cmd, args[0]); err != nil {
				return err
			}
			h, err := c.hooks(cmd)
			if err != nil {
				return err
			}
			return h.RollbackByHand(cmd.Context(), args[0])
		},
	}
}

func (c *cli) pruneCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prune [NAME...]",
		Short: "Remove workloads whose descriptors are gone",
		Long: `Stops and removes what sitelet made and what has no descriptor any more: its
unit, its containers and what is known of it. Everything else is left alone.`,
		Example: `  sitelet prune
  sitelet prune old-web`,
		Args: cobra.ArbitraryArgs,
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
				if !orphaned(p.Actions, name) {
					return fmt.Errorf("%s is no orphan; `sitelet plan` lists them. Remove its descriptor first", name)
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
			return err
		},
	}
}

func orphaned(actions []plan.Action, name string) bool {
	for _, a := range actions {
		if a.Name == name {
			return a.Verb == plan.Orphaned
		}
	}
	return false
}

// known reads the state of a workload that a user has named.
func (c *cli) known(cmd *cobra.Command, name string) (state.Workload, error) {
	p, err := c.paths(cmd)
	if err != nil {
		return state.Workload{}, err
	}
	w, err := state.Store{Dir: p.StateDir}.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return w, fmt.Errorf("there is no workload %s; `sitelet plan` lists them", name)
	}
	return w, err
}
