package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// rounds bounds how often a reload starts over because its inputs have moved under it; the dirty flags bring the rest.
const rounds = 5

// Outcome is how an action ended.
type Outcome struct {
	plan.Action
	Err error // nil when the workload is as its descriptor wants it
}

// Reload brings what runs to what the descriptors and resources say, and returns how that ended for each workload that something was
// done about: for all of them or, unless it is empty, for only. pull has images of tags that have moved taken up as well. One that
// fails does not keep another from being brought up to date. report is told of each outcome as it comes.
func (h Hooks) Reload(ctx context.Context, only string, pull bool, report func(Outcome)) ([]Outcome, error) {
	unlock, err := h.lock("reload", func() { h.Log("another reload is running; waiting for it") })
	if err != nil {
		return nil, err
	}
	defer unlock()
	var all []Outcome
	for range rounds {
		// Before anything is read: what changes from here on leaves a new flag.
		if only == "" {
			if err := h.clearDirty(); err != nil {
				return all, err
			}
		}
		stamp := h.siteStamp()
		failed := h.refreshSites(ctx)
		for _, o := range failed {
			report(o)
		}
		all = append(all, failed...)
		if err := h.watchSites(ctx); err != nil {
			return all, err
		}
		p, err := h.Plan(ctx)
		if err != nil {
			return all, err
		}
		if pull || p.Config.Update.Pull {
			if p, err = h.followTags(ctx, p); err != nil {
				return all, err
			}
			pull = false
		}
		p.restrict(only)
		if !p.Pending() {
			return all, nil
		}
		outcomes, err := h.apply(ctx, p, report)
		all = append(all, outcomes...)
		resumed := slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Verb == plan.Resume && o.Err == nil })
		if err != nil || !resumed && generator.Load(h.Paths).Written() == p.inputs.Written() && h.siteStamp() == stamp {
			return all, err
		}
	}
	return all, nil
}

func (h Hooks) clearDirty() error {
	dir := filepath.Join(h.Paths.RuntimeDir, "dirty")
	flags, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, flag := range flags {
		if err := os.Remove(filepath.Join(dir, flag.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// apply carries out a plan: images first, while everything runs; then one daemon-reload; then the workloads, those that others
// wait for before those others.
func (h Hooks) apply(ctx context.Context, p Planned, report func(Outcome)) ([]Outcome, error) {
	for _, a := range p.Actions {
		if err := h.allowRetry(a); err != nil {
			return nil, err
		}
	}
	if err := h.postponeUnmade(p); err != nil {
		return nil, err
	}
	unpulled := h.pullAll(ctx, p)
	manager, err := h.Systemd(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.supersede(ctx, p, unpulled); err != nil {
		return nil, err
	}
	if p.changesUnits() {
		if err := manager.Reload(ctx); err != nil {
			return nil, err
		}
	}
	var outcomes []Outcome
	for _, wave := range waves(p) {
		results := make([]Outcome, len(wave))
		inTurns(len(wave), func(i int) {
			a := wave[i]
			results[i] = Outcome{a, unpulled[a.Name]}
			if results[i].Err == nil {
				results[i].Err = h.do(ctx, manager, a)
			}
			report(results[i])
		})
		outcomes = append(outcomes, results...)
	}
	if p.Config.Prune {
		pruned, err := h.pruneAll(ctx, p)
		for _, o := range pruned {
			report(o)
		}
		return append(outcomes, pruned...), err
	}
	return outcomes, nil
}

// pruneAll removes the orphans of a plan that still are some: carrying it out may have taken long.
func (h Hooks) pruneAll(ctx context.Context, p Planned) ([]Outcome, error) {
	var names []string
	for _, a := range p.Actions {
		if a.Verb == plan.Orphaned {
			names = append(names, a.Name)
		}
	}
	if names == nil {
		return nil, nil
	}
	now, err := h.Plan(ctx)
	if err != nil {
		return nil, err
	}
	return h.Prune(ctx, now, names)
}

// allowRetry forgets a refusal that was for want of something outside.
func (h Hooks) allowRetry(a plan.Action) error {
	if a.Verb != plan.Recreate {
		return nil
	}
	return h.store().Change(a.Name, func(w *state.Workload) error {
		if w.Refused != nil && w.Refused.Retry {
			w.Refused = nil
		}
		return nil
	})
}

// supersede ends the trials of versions that were stopped, and that others are to take the place of: what they were to replace is
// kept for those.
func (h Hooks) supersede(ctx context.Context, p Planned, unpulled map[string]error) error {
	for _, a := range p.Actions {
		i := slices.IndexFunc(p.known, func(w state.Workload) bool { return w.Name == a.Name && w.Trial != nil })
		if a.Verb != plan.Recreate || i < 0 || unpulled[a.Name] != nil {
			continue
		}
		err := h.at(a.Name).leave(ctx, a.Name, p.known[i].Trial.Generation)
		if err != nil {
			return err
		}
	}
	return nil
}

// leave ends the trial of a generation, which has neither passed nor failed, and removes its container.
func (h Hooks) leave(ctx context.Context, name string, generation workload.Digest) error {
	return h.holding("create-"+name, func() error {
		err := h.store().Change(name, func(w *state.Workload) error {
			if w.Trial != nil && w.Trial.Generation == generation {
				w.Trial = nil
			}
			return nil
		})
		if err := errors.Join(err, h.removeOthers(ctx, name)); err != nil {
			return err
		}
		return h.unmark(name)
	})
}

// do carries out one action and waits for its end.
func (h Hooks) do(ctx context.Context, manager Manager, a plan.Action) error {
	h = h.at(a.Name)
	h.Log("%s: %s", a.Name, a.Verb)
	if namespace, _, ok := h.siteOf(a.Name); ok {
		switch {
		case a.Verb == plan.Reload && a.Live:
			return h.reloadSite(ctx, manager, namespace)
		case a.Verb == plan.Stop:
			return h.stopSite(ctx, manager, namespace)
		case a.Verb == plan.Start:
			return h.startSite(ctx, manager, namespace)
		}
	}
	switch a.Verb {
	case plan.Create:
		return h.startNew(ctx, manager, a)
	case plan.Recreate:
		return h.recreate(ctx, manager, a)
	case plan.Reload:
		return h.reloadLive(ctx, a)
	case plan.Start:
		if err := manager.Start(ctx, a.Name+".service"); err != nil {
			return fmt.Errorf("%w; see journalctl -u %s", err, a.Name)
		}
		return nil
	}
	return h.resume(ctx, manager, a.Name)
}

// startNew starts a workload for the first time and watches it as if it were on trial, but there is nothing to go back to.
func (h Hooks) startNew(ctx context.Context, manager Manager, a plan.Action) error {
	name := a.Name
	m, err := h.read(name)
	if err != nil {
		return err
	}
	u, err := manager.Unit(ctx, name+".service")
	switch {
	case err != nil:
		return err
	case u.ActiveState == "active":
		// It runs, so what is new is only that the state knows of it.
		return h.recreate(ctx, manager, a)
	case !m.data.Wanted:
		return nil
	}
	if err := manager.Enqueue(ctx, name+".service"); err != nil {
		return err
	}
	return h.awaitNew(ctx, manager, name, u.InvocationID)
}

// recreate has the new container made while the old one runs, and then puts it in the old one's place. The unit's start pulls
// in the trial, and a trial that fails pulls in the rollback: this only waits for the state to say how that ended.
func (h Hooks) recreate(ctx context.Context, manager Manager, a plan.Action) error {
	name := a.Name
	m, err := h.read(name)
	if err != nil {
		return err
	}
	service := name + ".service"
	before, err := manager.Unit(ctx, service)
	if err != nil {
		return err
	}
	if err := h.Create(ctx, name); err != nil {
		return errors.Join(err, h.Rollback(ctx, name))
	}
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	switch {
	case w.Trial == nil && w.Refused != nil && w.Refused.Generation == a.Generation:
		return endOf(w, a.Generation) // it came with a restart of what it requires
	case w.Trial == nil:
		return nil
	case rests(before, m.data.Wanted) && !(before.Ended && m.data.Wanted):
		return nil // what an operator has stopped stays stopped; the next start is the trial
	case w.Trial.Before != before.InvocationID:
		return h.awaitSettled(ctx, name, w.Trial.Generation) // it runs already
	}
	if err := h.setReady(name); err != nil {
		return err
	}
	end := h.doing(name, "restarting")
	err = restart(ctx, manager, service)
	end()
	if err != nil {
		return errors.Join(err, h.clearReady(name))
	}
	return h.awaitSettled(ctx, name, m.data.Generation)
}

// resume lets a trial or a rollback that was cut off go on.
func (h Hooks) resume(ctx context.Context, manager Manager, name string) error {
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	if w.Trial == nil || w.Trial.Failure != "" {
		return h.Rollback(ctx, name)
	}
	u, err := manager.Unit(ctx, name+".service")
	if err != nil {
		return err
	}
	if err := h.mark(name); err != nil {
		return err
	}
	if u.InvocationID == w.Trial.Before && (u.ActiveState != "inactive" || w.Trial.Wanted && u.InvocationID == "") {
		err = restart(ctx, manager, name+".service")
	} else {
		err = manager.Enqueue(ctx, "sitelet-trial@"+name+".service")
	}
	if err != nil {
		return err
	}
	return h.awaitSettled(ctx, name, w.Trial.Generation)
}
