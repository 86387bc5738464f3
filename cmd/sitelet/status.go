package main

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
)

func (c *cli) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [-o FORMAT] [NAME]",
		Short: "Show the workloads and what became of their last change",
		Long: `Without NAME, prints one line a workload. With NAME, prints all that is known of
it, with why its last version was refused and the last lines of its output. With
a namespace, asks its router: links, listeners and connectors, their state,
open connections and bytes, and says what is wrong with its resources.

Exits with 0, with 1 if there is no workload of that name, 2 if it was called in
a wrong way.`,
		Example: `  sitelet status
  sitelet status web
  sitelet status east
  sitelet status -o json`,
		Args:              oneNameAtMost,
		ValidArgsFunction: c.complete(1, workloads),
	}
	output := outputFlag(cmd, formatYAML)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.status(cmd, args, *output) }
	return cmd
}

// workloadStatus is the form of status -o json, which programs rely on.
type workloadStatus struct {
	Workload   string         `json:"workload"`
	State      string         `json:"state"` // systemd's ActiveState, or "on trial"
	Generation string         `json:"generation"`
	Since      *time.Time     `json:"since"` // of the last event
	Result     string         `json:"result"`
	Source     string         `json:"source"`
	Pending    plan.Verb      `json:"pending"`
	Note       string         `json:"note"`
	Refused    *refusedStatus `json:"refused"`
}

type refusedStatus struct {
	Generation string    `json:"generation"`
	Reason     string    `json:"reason"`
	Log        []string  `json:"log"`
	At         time.Time `json:"at"`
}

func (c *cli) status(cmd *cobra.Command, names []string, output format) error {
	h, err := c.hooks(cmd)
	if err != nil {
		return err
	}
	p, err := h.Plan(cmd.Context())
	if err != nil {
		return err
	}
	namespaces, _ := h.Namespaces()
	isSite := len(names) > 0 && slices.Contains(namespaces, names[0])
	all := []workloadStatus{}
	for _, a := range p.Actions {
		if len(names) == 0 || names[0] == a.Name || isSite && a.Name == generator.SiteWorkload(names[0]) {
			all = append(all, c.statusOf(cmd, h, a))
		}
	}
	switch {
	case isSite:
		return c.siteStatus(cmd, h, names[0], all, output)
	case len(names) > 0 && len(all) == 0:
		return noWorkload(names[0])
	case output == formatJSON:
		return printJSON(c.out, all)
	case output == formatYAML:
		return printYAML(c.out, all)
	case len(names) > 0:
		return c.printOne(all[0])
	}
	return c.printAll(all)
}

func (c *cli) statusOf(cmd *cobra.Command, h hooks.Hooks, a plan.Action) workloadStatus {
	s := workloadStatus{Workload: a.Name, State: "unknown", Pending: a.Verb, Note: a.Note}
	if manager, err := h.Systemd(cmd.Context()); err == nil {
		if u, err := manager.Unit(cmd.Context(), a.Name+".service"); err == nil {
			s.State = u.ActiveState
		}
	}
	w, err := state.Store{Dir: h.Paths.StateDir}.Read(a.Name)
	if err != nil {
		return s
	}
	if v := w.Runs(); v != nil {
		s.Generation, s.Source = string(v.Generation), v.Source
	}
	if w.Trial != nil {
		s.State = "on trial"
	}
	if n := len(w.History); n > 0 {
		s.Since, s.Result = &w.History[n-1].At, w.History[n-1].Result
	}
	if r := w.Refused; r != nil {
		s.Refused = &refusedStatus{string(r.Generation), r.Reason, r.Log, r.At}
	}
	return s
}

func (c *cli) printAll(all []workloadStatus) error {
	rows := [][]string{{"WORKLOAD", "STATE", "GENERATION", "LAST CHANGE", "RESULT", "PENDING", "NOTE"}}
	for _, s := range all {
		note := s.Note
		if note == "" && s.Refused != nil {
			note = s.Refused.Reason
		}
		rows = append(rows, []string{s.Workload, s.State, short(s.Generation), ago(s.Since), s.Result, string(s.Pending), note})
	}
	return printTable(c.out, rows)
}

// short is as much of a digest as people need.
func short(digest string) string { return digest[:min(len(digest), 12)] }

func (c *cli) printOne(s workloadStatus) error {
	if s.Refused != nil && s.Note == s.Refused.Reason {
		s.Note = ""
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 1, ' ', 0)
	for _, line := range [][2]string{
		{"workload:", s.Workload}, {"state:", s.State}, {"generation:", s.Generation}, {"descriptor:", s.Source},
		{"last change:", ago(s.Since) + " " + s.Result}, {"pending:", string(s.Pending)}, {"note:", s.Note},
	} {
		if line[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
		}
	}
	if s.Refused != nil {
		fmt.Fprintf(w, "refused:\t%s, %s: %s\n", short(s.Refused.Generation), ago(&s.Refused.At), s.Refused.Reason)
	}
	if err := w.Flush(); err != nil || s.Refused == nil {
		return err
	}
	for _, line := range s.Refused.Log {
		fmt.Fprintf(c.out, "  | %q\n", line)
	}
	return nil
}

// ago says how long ago something was, to one unit, as podman ps does.
func ago(at *time.Time) string {
	if at == nil {
		return ""
	}
	d := time.Since(*at)
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
