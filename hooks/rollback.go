package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/state"
)

// logLines is how much of a failed version's output is kept.
const logLines = 10

// Rollback goes back from a version on trial, or from one that could not be made, to the current one, whose container is
// started again as it was left. It does nothing about any other failure. Killed anywhere, the next call goes on from there:
// once the state says what is refused, everything else follows from it.
func (h Hooks) Rollback(ctx context.Context, name string) error {
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	m, err := h.read(name)
	if err != nil {
		return err
	}
	inPlace := w.Current != nil && m.data.Generation == w.Current.Generation
	marked := h.marked(name)
	switch {
	case w.Current == nil || w.Unproven && w.Trial == nil:
		h.Log("there is no earlier version of %s to go back to", name)
		return h.unmark(name)
	case w.Trial == nil && inPlace && !marked:
		return nil
	}
	if err := h.refuse(ctx, name, ""); err != nil {
		return err
	}
	return h.restore(ctx, name)
}

// RollbackByHand goes back to the version before the current one, or from the one on trial to the current one.
func (h Hooks) RollbackByHand(ctx context.Context, name string) error {
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	if w.Trial == nil {
		if w.Previous == nil {
			return fmt.Errorf("there is no earlier version of %s to go back to; `sitelet history %s` lists what there was", name, name)
		}
		err := h.store().Change(name, func(w *state.Workload) error {
			w.Refused = &state.Refusal{Generation: w.Current.Generation, Text: h.sourceDigest(w.Current.Source), Reason: "rolled back by hand", At: h.now()}
			w.Current, w.Previous = w.Previous, nil
			w.Note(h.event(*w.Current, "", "rolled back", "by hand"))
			return nil
		})
		if err != nil {
			return err
		}
		if err := h.mark(name); err != nil {
			return err
		}
		return h.restore(ctx, name)
	}
	if err := h.refuse(ctx, name, "rolled back by hand"); err != nil {
		return err
	}
	return h.restore(ctx, name)
}

func (h Hooks) marked(name string) bool {
	_, err := os.Lstat(h.markPath(name))
	return err == nil
}

// refuse ends a trial as failed.
func (h Hooks) refuse(ctx context.Context, name, reason string) error {
	log := h.Engine.Logs(ctx, name, logLines)
	return h.store().Change(name, func(w *state.Workload) error {
		if w.Trial == nil {
			return nil
		}
		t := w.Trial
		if reason == "" {
			reason = t.Failure
		}
		if reason == "" {
			reason = h.failureOf(ctx, name)
		}
		w.Refused = &state.Refusal{Generation: t.Generation, Text: h.sourceDigest(t.Source), Reason: reason, Log: log,
			Dependants: t.Dependants, At: h.now()}
		w.Note(h.event(t.Version, "", "refused", reason))
		// Proven or not, the one before is the best there is.
		w.Trial, w.Unproven = nil, false
		return nil
	})
}

func (h Hooks) failureOf(ctx context.Context, name string) string {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return "it failed"
	}
	u, err := manager.Unit(ctx, name+".service")
	if err != nil {
		return "it failed"
	}
	return why(u)
}

// restore makes what the state calls current run again: its unit, its container under its name, and what requires it.
func (h Hooks) restore(ctx context.Context, name string) error {
	if err := errors.Join(h.mark(name), h.clearReady(name)); err != nil {
		return err
	}
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	if err := manager.Reload(ctx); err != nil {
		return err
	}
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	all, err := h.Engine.Containers(ctx, "label="+generator.LabelWorkload+"="+name)
	if err != nil {
		return err
	}
	named := find(all, func(c engine.Container) bool { return c.Named(name) })
	good := named != nil && named.Labels[generator.LabelGeneration] == string(w.Current.Generation)
	if !good || named.State != "running" {
		if err := h.startAgain(ctx, manager, name); err != nil {
			return err
		}
	}
	var errs []error
	if w.Refused != nil {
		for _, dependant := range w.Refused.Dependants {
			errs = append(errs, manager.Enqueue(ctx, dependant))
		}
	}
	return errors.Join(append(errs, h.finish(ctx, name))...)
}

// startAgain gives the current version's container its name back, by way of the create hook, and starts it.
func (h Hooks) startAgain(ctx context.Context, manager Manager, name string) error {
	h.Log("going back to the version of %s before", name)
	if err := h.removeOthers(ctx, name); err != nil {
		return err
	}
	service := name + ".service"
	last, err := manager.Unit(ctx, service)
	if err != nil {
		return err
	}
	// A unit that has not failed has nothing to reset, and says so.
	_ = manager.ResetFailed(ctx, service)
	if err := manager.EnqueueRestart(ctx, service); err != nil {
		return err
	}
	how, reason, err := h.watch(ctx, name, last.InvocationID, 0)
	if err != nil {
		return err
	}
	if how == failed {
		return fmt.Errorf("%s does not run again: %s; see journalctl -u %s", name, reason, name)
	}
	return h.store().Change(name, func(w *state.Workload) error {
		w.Note(h.event(*w.Current, "", "rolled back", ""))
		return nil
	})
}
