package hooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// logLines is how much of a failed version's output is kept.
const logLines = 10

// Rollback goes back from a version on trial that has failed, or from one that could not be made, to the current one, whose
// container is started again as it was left. It does nothing about any other failure. Killed anywhere, the next call goes on from
// there: once the state says what is refused, everything else follows from it.
func (h Hooks) Rollback(ctx context.Context, name string) error {
	h = h.at(name)
	return h.holding("rollback-"+name, func() error { return h.rollback(ctx, name) })
}

func (h Hooks) rollback(ctx context.Context, name string) error {
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	switch {
	case w.Trial != nil:
		reason, err := h.failureOf(ctx, name, *w.Trial)
		if err != nil {
			return err
		}
		if reason == "" {
			return h.forgive(ctx, name) // or only a helper of it has failed
		}
		if err := h.refuse(ctx, name, w.Trial.Generation, reason); err != nil {
			return err
		}
	case w.Current == nil || w.Unproven:
		h.Log("there is no earlier version of %s to go back to", name)
		return errors.Join(h.unmark(name), h.forgive(ctx, name))
	case !h.marked(name):
		return h.forgive(ctx, name)
	}
	if err := h.restore(ctx, name); err != nil {
		return err
	}
	// What has failed meanwhile, of a newer version, has found this hook at work.
	return h.rollback(ctx, name)
}

// RollbackByHand goes back to the version before the current one, or from the one on trial to the current one.
func (h Hooks) RollbackByHand(ctx context.Context, name string) error {
	h = h.at(name)
	return h.holding("rollback-"+name, func() error { return h.rollbackByHand(ctx, name) })
}

func (h Hooks) rollbackByHand(ctx context.Context, name string) error {
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	if w.Trial == nil {
		if w.Previous == nil {
			return fmt.Errorf("there is no earlier version of %s to go back to; `sitelet history %s` lists what there was", name, name)
		}
		if err := h.mark(name); err != nil {
			return err
		}
		before := w
		err := h.change(name, func(w *state.Workload) error {
			w.Refused = &state.Refusal{Generation: w.Current.Generation, Text: h.textDigest(name, *w.Current), Reason: "rolled back by hand", At: h.now()}
			w.Current, w.Previous = w.Previous, nil
			w.Note(h.event(*w.Current, "", "rolled back", "by hand"))
			return nil
		})
		if err != nil {
			return err
		}
		if err := h.restore(ctx, name); err != nil {
			return errors.Join(err, h.stay(ctx, before))
		}
		return nil
	}
	if err := h.refuse(ctx, name, w.Trial.Generation, "rolled back by hand"); err != nil {
		return err
	}
	return h.restore(ctx, name)
}

// stay takes a rollback by hand back whose container could not be made: the one that was to be left is still there.
func (h Hooks) stay(ctx context.Context, before state.Workload) error {
	all, err := h.containers(ctx, before.Name)
	if err != nil {
		return err
	}
	if named := h.named(before.Name, all); named == nil || generationOf(*named) != before.Current.Generation {
		return nil
	}
	if err := h.change(before.Name, func(w *state.Workload) error { *w = before; return nil }); err != nil {
		return err
	}
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	return errors.Join(h.unmark(before.Name), manager.Reload(ctx))
}

// refuse ends the trial of a generation as failed.
func (h Hooks) refuse(ctx context.Context, name string, generation workload.Digest, reason string) error {
	log := h.Engine.Logs(ctx, h.containerOf(name), logLines)
	return h.change(name, func(w *state.Workload) error {
		t := w.Trial
		if t == nil || t.Generation != generation {
			return nil
		}
		w.Refused = &state.Refusal{Generation: t.Generation, Text: h.textDigest(name, t.Version), Reason: reason, Log: log,
			Dependants: t.Dependants, At: h.now()}
		w.Note(h.event(t.Version, "", "refused", reason))
		// Proven or not, the one before is the best there is.
		w.Trial, w.Unproven = nil, false
		return nil
	})
}

// failureOf says why the version on trial has failed, or "" if it has not. Its watcher may have been killed before it could.
func (h Hooks) failureOf(ctx context.Context, name string, t state.Trial) (string, error) {
	if t.Failure != "" {
		return t.Failure, nil
	}
	manager, err := h.Systemd(ctx)
	if err != nil {
		return "", err
	}
	u, err := manager.Unit(ctx, name+".service")
	if err != nil {
		return "", err
	}
	if h.wasStopped(name, u) {
		return "", nil
	}
	j := judge{before: t.Before}
	j.look(u, h.Now())
	return j.reason, nil
}

// restore makes what the state calls current run again: its unit, its container under its name, and what requires it. If there
// is a newer descriptor, its unit comes instead, and its trial begins.
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
	m, err := h.read(name)
	if err != nil {
		return err
	}
	all, err := h.containers(ctx, name)
	if err != nil {
		return err
	}
	named := h.named(name, all)
	good := named != nil && generationOf(*named) == m.data.Generation
	if !good || named.State != "running" {
		if err := h.comeBack(ctx, manager, m, all); err != nil {
			return err
		}
	}
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	var errs []error
	if w.Refused != nil {
		for _, dependant := range w.Refused.Dependants {
			errs = append(errs, manager.Enqueue(ctx, dependant))
		}
	}
	return errors.Join(append(errs, h.holding("create-"+name, func() error { return h.finish(ctx, name) }))...)
}

// comeBack has the container of m get its name, and run if anybody expects it to. One of the current version that is gone is made anew
// while another one runs.
func (h Hooks) comeBack(ctx context.Context, manager Manager, m made, all []engine.Container) error {
	u, err := manager.Unit(ctx, m.name+".service")
	if err != nil {
		return err
	}
	w, err := h.store().Read(m.name)
	if err != nil {
		return err
	}
	current := w.Current.Generation == m.data.Generation
	stays := rests(u, m.data.Wanted) && (u.Stopped || u.InvocationID == "" || u.Ended && u.ExitStatus == 0)
	gone := find(all, func(c engine.Container) bool { return generationOf(c) == m.data.Generation }) == nil
	if stays && !current {
		if err := h.holding("create-"+m.name, func() error { return h.removeOthers(ctx, m.name) }); err != nil {
			return err
		}
	}
	if stays || current && gone {
		if err := h.Create(ctx, m.name); err != nil || stays {
			return err
		}
	}
	return h.startAgain(ctx, manager, m)
}

// startAgain gives the container of m, the current version, its name back, by way of the create hook, and starts it.
func (h Hooks) startAgain(ctx context.Context, manager Manager, m made) error {
	name := m.name
	h.Log("going back to the version of %s before", name)
	if err := h.holding("create-"+name, func() error { return h.removeOthers(ctx, name) }); err != nil {
		return err
	}
	service := name + ".service"
	last, err := manager.Unit(ctx, service)
	if err != nil {
		return err
	}
	if err := restart(ctx, manager, service); err != nil {
		return err
	}
	how, reason, err := h.watch(ctx, name, last.InvocationID, 0)
	if err != nil {
		return err
	}
	w, err := h.store().Read(name)
	if err != nil || w.Current.Generation != m.data.Generation {
		return err
	}
	if how == failed {
		return fmt.Errorf("%s does not run again: %s; see journalctl -u %s", name, reason, name)
	}
	return h.store().Change(name, func(w *state.Workload) error {
		if n := len(w.History); n == 0 || w.History[n-1].Result != "rolled back" { // by hand
			w.Note(h.event(*w.Current, "", "rolled back", ""))
		}
		return nil
	})
}

// restart starts another version, with all the starts that its limit allows: systemd counts those of the version before, and those by
// hand, too.
func restart(ctx context.Context, manager Manager, service string) error {
	// A unit that has not failed has nothing to reset, and says so.
	_ = manager.ResetFailed(ctx, service)
	return manager.Restart(ctx, service)
}
