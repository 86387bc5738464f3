package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/plan"
)

func (c *cli) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan [-o FORMAT] [NAME]",
		Short: "Say what reload would do, and why",
		Long: `Compares the descriptors and the resources of sites with what runs and prints
one action a workload, or only that of the container or namespace NAME, with the
fields that decide it and whether it takes the workload out of service for a
moment. Values of secrets are not shown.

Exits with 0 if there is nothing to do, 3 if there is, 1 if there are errors, 2
if it was called in a wrong way.`,
		Example: `  sitelet plan
  sitelet plan web
  sitelet plan -o json`,
		Args:              oneNameAtMost,
		ValidArgsFunction: c.complete(1, containersAndNamespaces),
	}
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.plan(cmd, args, *output) }
	return cmd
}

func (c *cli) plan(cmd *cobra.Command, names []string, output format) error {
	h, err := c.hooks(cmd)
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
	c.printUnread(p.Unread)
	if len(names) > 0 {
		only, _, err := workloadOf(h.Paths, names[0])
		if err != nil {
			return err
		}
		p = p.Of(only)
	}
	if output == formatJSON {
		err = c.printPlanJSON(p)
	} else {
		err = c.printPlan(p)
	}
	switch {
	case err != nil:
		return err
	case p.Findings().HasErrors():
		return errFindings
	case p.Pending():
		return errPending
	}
	return nil
}

func (c *cli) printPlan(p hooks.Planned) error {
	rows := [][]string{{"WORKLOAD", "ACTION", "COST", "WHY"}}
	for _, a := range p.Actions {
		cost := "-"
		if a.Restart {
			cost = "restart"
		}
		rows = append(rows, []string{a.Name, string(a.Verb), cost, strings.Join(reasons(a), "; ")})
	}
	if err := printTable(c.out, rows); err != nil || !p.Pending() || p.Findings().HasErrors() {
		return err
	}
	if !slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Pending() || a.Verb == plan.Orphaned }) {
		fmt.Fprintln(c.out, "Files have changed, and no workload with them; a reload makes the units again.")
	}
	return nil
}

// reasons are the changes that decide an action, and what there is to say about it.
func reasons(a plan.Action) []string {
	var all []string
	for _, change := range a.Changes {
		all = append(all, change.Field+": "+shown(change.Old)+" → "+shown(change.New))
	}
	if a.Note != "" {
		all = append(all, a.Note)
	}
	return all
}

// shown is a value on one line, short enough for a table.
func shown(value string) string {
	if value == "" {
		return "(none)"
	}
	text := []rune(fmt.Sprintf("%q", value))
	if len(text) > 60 {
		return string(text[:57]) + `..."`
	}
	return string(text)
}

// plannedAction is the form of plan -o json, which programs rely on.
type plannedAction struct {
	Workload string          `json:"workload"`
	Action   plan.Verb       `json:"action"`
	Restart  bool            `json:"restart"`
	Changes  []plannedChange `json:"changes"`
	Note     string          `json:"note"`
}

type plannedChange struct {
	Field  string `json:"field"`
	Old    string `json:"old"`
	New    string `json:"new"`
	Secret bool   `json:"secret"`
}

func (c *cli) printPlanJSON(p hooks.Planned) error {
	actions := make([]plannedAction, len(p.Actions))
	for i, a := range p.Actions {
		actions[i] = plannedAction{a.Name, a.Verb, a.Restart, plannedChanges(a), a.Note}
	}
	return printJSON(c.out, actions)
}

func plannedChanges(a plan.Action) []plannedChange {
	changes := make([]plannedChange, len(a.Changes))
	for i, change := range a.Changes {
		changes[i] = plannedChange(change)
	}
	return changes
}
