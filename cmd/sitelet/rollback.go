package main

import (
	"github.com/spf13/cobra"
)

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
			w, err := c.stateOf(cmd, args[0])
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
