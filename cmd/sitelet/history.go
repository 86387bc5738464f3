package main

import (
	"time"

	"github.com/spf13/cobra"
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
			w, err := c.stateOf(cmd, args[0])
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
