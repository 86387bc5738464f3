package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/plan"
)

func (c *cli) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [-o FORMAT] [--watch] [NAME]",
		Short: "Show the workloads and what became of their last change",
		Long: `Without NAME, prints one line a workload: how it is, what became of its last
change, and what a reload would do about it, and why. With the NAME of a
container or a namespace, prints all that is known of it, with why its last
version was refused or why it fails, and the last lines of its output. Asks the
router of a namespace for its links, listeners and connectors.

Formats are text, wide with more columns, json and yaml for programs, and
prometheus for the textfile collector of the node exporter.

Exits with 0, with 1 if there is no workload of that name, 2 if it was called in
a wrong way. A watch goes on until it is interrupted, and then exits with 0.`,
		Example: `  sitelet status
  sitelet status web
  sitelet status --watch
  sitelet status -o prometheus`,
		Args:              oneNameAtMost,
		ValidArgsFunction: c.complete(1, containersAndNamespaces),
	}
	var watch bool
	output := outputFlag(cmd, formatYAML, formatWide, formatPrometheus)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on, and print what changes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == formatPrometheus && (watch || len(args) > 0) {
			return usageError{errors.New("prometheus is for the metrics of all, once; leave out NAME and --watch")}
		}
		h, err := c.hooks(cmd)
		if err != nil {
			return err
		}
		name := ""
		if len(args) > 0 {
			name = args[0]
		}
		if watch {
			return c.watchStatus(cmd.Context(), h, name, *output)
		}
		return c.status(cmd.Context(), h, name, *output)
	}
	return cmd
}

func (c *cli) status(ctx context.Context, h hooks.Hooks, name string, output format) error {
	s, err := h.Status(ctx, name)
	if err != nil {
		return err
	}
	for _, err := range s.Unknown {
		fmt.Fprint(c.err, harmless("sitelet: %v\n", err))
	}
	c.printUnread(s.Unread)
	switch {
	case output == formatPrometheus:
		return c.printMetrics(h, s.Workloads)
	case name != "":
		return c.statusOfOne(ctx, h, name, s.Workloads, output)
	}
	all := forms(s.Workloads)
	switch output {
	case formatJSON:
		return printJSON(c.out, all)
	case formatYAML:
		return printYAML(c.out, all)
	}
	if len(all) == 0 && s.Unread == "" {
		fmt.Fprintf(c.err, "There are no workloads. A descriptor below %s or a Site below %s makes one at the next `sitelet reload`.\n",
			h.Paths.ContainersDir, h.Paths.NamespacesDir)
	}
	if s.Found.HasErrors() {
		fmt.Fprintln(c.err, "There are errors in descriptors or resources; `sitelet check` names them.")
	}
	if s.Host.HasErrors() {
		fmt.Fprintln(c.err, "The host lacks what containers need; `sitelet doctor` says what to do.")
	}
	t := c.statusTable(output)
	return t.print(all...)
}

// workloadStatus is the form of status -o json, which programs rely on.
type workloadStatus struct {
	Workload   string          `json:"workload"` // name of its service
	Kind       string          `json:"kind"`     // "container" or "site"
	Name       string          `json:"name"`     // that commands take: a container's, or a namespace
	State      string          `json:"state"`    // systemd's ActiveState, "on trial", or "unknown"; of a watch "gone" too
	Health     string          `json:"health"`   // "starting", "healthy", "unhealthy", or empty
	Generation string          `json:"generation"`
	Created    *time.Time      `json:"created"` // of the generation
	Since      *time.Time      `json:"since"`   // of the last event
	Result     string          `json:"result"`
	Source     string          `json:"source"`
	Container  string          `json:"container"`
	Image      string          `json:"image"`
	Platform   string          `json:"platform"`
	Pending    plan.Verb       `json:"pending"`
	Changes    []plannedChange `json:"changes"`
	Note       string          `json:"note"`
	Refused    *refusedStatus  `json:"refused"`
	Failed     *failedStatus   `json:"failed,omitempty"` // only where a workload is named
	reasons    []string        // of what is pending
}

type refusedStatus struct {
	Generation string    `json:"generation"`
	Reason     string    `json:"reason"`
	Log        []string  `json:"log"`
	At         time.Time `json:"at"`
}

// failedStatus is of a unit that has failed, or is to be started again.
type failedStatus struct {
	Reason  string   `json:"reason"`
	Log     []string `json:"log"`
	Journal []string `json:"journal"`
}

const (
	onTrial = "on trial"
	unknown = "unknown"
	gone    = "gone"
)

func forms(all []hooks.WorkloadStatus) []workloadStatus {
	out := make([]workloadStatus, len(all))
	for i, w := range all {
		out[i] = form(w)
	}
	return out
}

func form(w hooks.WorkloadStatus) workloadStatus {
	s := workloadStatus{Workload: w.Name, Kind: w.Kind(), Name: w.Called(), State: w.State, Health: w.Health, Source: w.Source,
		Container: w.Container, Image: w.Image, Platform: w.Platform, Pending: w.Verb, Changes: plannedChanges(w.Action), Note: w.Note,
		reasons: reasons(w.Action)}
	if !w.Created.IsZero() {
		s.Created = &w.Created
	}
	if v := w.Known.Runs(); v != nil {
		s.Generation = string(v.Generation)
	}
	switch {
	case w.Known.Trial != nil:
		s.State = onTrial
	case w.State == "":
		s.State = unknown
	}
	if n := len(w.Known.History); n > 0 {
		s.Since, s.Result = &w.Known.History[n-1].At, w.Known.History[n-1].Result
	}
	if r := w.Known.Refused; r != nil {
		s.Refused = &refusedStatus{string(r.Generation), r.Reason, list(r.Log), r.At}
	}
	if w.Failure != "" {
		s.Failed = &failedStatus{w.Failure, list(w.Output), list(w.Journal)}
	}
	return s
}

// list is never null to a program.
func list(lines []string) []string { return append([]string{}, lines...) }

// statusOfOne prints all that is known of what goes by a name: a workload, or a namespace, which may have none.
func (c *cli) statusOfOne(ctx context.Context, h hooks.Hooks, name string, all []hooks.WorkloadStatus, output format) error {
	namespaces, _ := h.Namespaces()
	isNamespace := slices.Contains(namespaces, name)
	if len(all) == 0 && !isNamespace {
		return noWorkload(name)
	}
	for i := range all {
		if err := h.Detail(ctx, &all[i]); err != nil {
			return err
		}
	}
	if output == formatText || output == formatWide {
		return c.printDetails(ctx, h, name, all, isNamespace)
	}
	var value any = forms(all)
	if isNamespace {
		site, err := siteState(ctx, h, name, all)
		if err != nil {
			return err
		}
		value = siteStatus{site, forms(all)}
	}
	if output == formatYAML {
		return printYAML(c.out, value)
	}
	return printJSON(c.out, value)
}

func (c *cli) printDetails(ctx context.Context, h hooks.Hooks, name string, all []hooks.WorkloadStatus, isNamespace bool) error {
	d := details{c.out, colour(c.out)}
	for i, w := range all {
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		d.workload(w)
	}
	if !isNamespace && (len(all) == 0 || all[0].Router == nil) {
		return nil
	}
	site, err := siteState(ctx, h, name, all)
	if err != nil {
		return err
	}
	d.line("router:", cmp.Or(site.Why, "answers"), "")
	return c.printSite(site)
}
