package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/plan"
)

// watchPause is how long a watch waits between two looks.
const watchPause = 2 * time.Second

// watchStatus prints the status and then what changes of it, until it is interrupted.
func (c *cli) watchStatus(ctx context.Context, h hooks.Hooks, name string, output format) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := c.watch(output)
	for first := true; ; first = false {
		s, err := h.Status(ctx, name)
		switch {
		case ctx.Err() != nil:
			return nil // what was asked last may have been cut short
		case err != nil:
			return err
		case first && name != "" && len(s.Workloads) == 0:
			return noWorkload(name)
		}
		w.complain(s.Unknown)
		if err := w.show(forms(s.Workloads)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchPause):
		}
	}
}

// watch prints what differs between two looks at the workloads, as kubectl get --watch does: a row, or a document, for each that
// does.
type watch struct {
	*cli
	output format
	table  statusTable
	last   []workloadStatus
	said   []string // errors of the last look
}

func (c *cli) watch(output format) *watch {
	w := &watch{cli: c, output: output, table: c.statusTable(output)}
	// What may come later finds room.
	for _, text := range []string{"container", "", "deactivating", "unhealthy", "119s", "119 minutes ago", "rolled back", "recreate"} {
		w.table.widths = append(w.table.widths, len(text))
	}
	return w
}

// show prints those that are new, have changed or are gone. It has the heading printed even where there are none.
func (w *watch) show(now []workloadStatus) error {
	var changed []workloadStatus
	for _, s := range now {
		if last, ok := find(w.last, s.Workload); !ok || !reflect.DeepEqual(s, last) {
			changed = append(changed, s)
		}
	}
	for _, s := range w.last {
		if _, ok := find(now, s.Workload); !ok {
			s.State, s.Health, s.Pending, s.Changes, s.Note, s.reasons = gone, "", plan.None, nil, "", nil
			changed = append(changed, s)
		}
	}
	w.last = now
	return w.print(changed)
}

func find(all []workloadStatus, workload string) (workloadStatus, bool) {
	i := slices.IndexFunc(all, func(s workloadStatus) bool { return s.Workload == workload })
	if i < 0 {
		return workloadStatus{}, false
	}
	return all[i], true
}

func (w *watch) print(changed []workloadStatus) error {
	if w.output == formatText || w.output == formatWide {
		return w.table.print(changed...)
	}
	for _, s := range changed {
		if err := w.printDocument(s); err != nil {
			return err
		}
	}
	return nil
}

func (w *watch) printDocument(s workloadStatus) error {
	if w.output == formatJSON {
		return printJSON(w.out, s)
	}
	fmt.Fprintln(w.out, "---")
	return printYAML(w.out, s)
}

// complain says what could not be asked, once while it lasts.
func (w *watch) complain(unknown []error) {
	var now []string
	for _, err := range unknown {
		now = append(now, err.Error())
		if !slices.Contains(w.said, err.Error()) {
			fmt.Fprint(w.err, harmless("sitelet: %v\n", err))
		}
	}
	w.said = now
}
