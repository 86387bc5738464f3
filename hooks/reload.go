package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// atOnce is how many workloads are worked on side by side: enough to hide waiting, too few to starve what runs.
const atOnce = 4

// rounds bounds how often a reload starts over because its inputs have moved under it; the dirty flags bring the rest.
const rounds = 5

// Outcome is how an action ended.
type Outcome struct {
	plan.Action
	Err error // nil when the workload is as its descriptor wants it
}

// Reload brings what runs to what the descriptors say, and returns how that ended for each workload that something was done
// about. One that fails does not keep another from being brought up to date. report is told of each outcome as it comes.
func (h Hooks) Reload(ctx context.Context, pull bool, report func(Outcome)) ([]Outcome, error) {
	unlock, err := h.lock("reload", func() { h.Log("another reload is running; waiting for it") })
	if err != nil {
		return nil, err
	}
	defer unlock()
	var all []Outcome
	for range rounds {
		// Before anything is read: what changes from here on leaves a new flag.
		if err := h.clearDirty(); err != nil {
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
		if !p.Pending() {
			return all, nil
		}
		outcomes, err := h.apply(ctx, p, report)
		all = append(all, outcomes...)
		resumed := slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Verb == plan.Resume && o.Err == nil })
		if err != nil || !resumed && generator.Load(h.Paths).Written() == p.inputs.Written() {
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
	unpulled := h.pullAll(ctx, p)
	manager, err := h.Systemd(ctx)
	if err != nil {
		return nil, err
	}
	if err := manager.Reload(ctx); err != nil {
		return nil, err
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
		pruned, err := h.Prune(ctx, p, nil)
		for _, o := range pruned {
			report(o)
		}
		return append(outcomes, pruned...), err
	}
	return outcomes, nil
}

// inTurns calls do for 0 to n-1, atOnce at a time.
func inTurns(n int, do func(i int)) {
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wait.Wait()
}

// waves orders the pending actions so that each comes after those that it is started after.
func waves(p Planned) [][]plan.Action {
	left := slices.DeleteFunc(slices.Clone(p.Actions), func(a plan.Action) bool { return !a.Pending() })
	after := map[string][]string{}
	for _, r := range p.rendered {
		for _, in := range r.Inputs {
			if in.Field == "sitelet.after" || in.Field == "sitelet.requires" {
				after[r.Name] = append(after[r.Name], strings.FieldsFunc(in.Value, func(c rune) bool { return strings.ContainsRune(`[]",`, c) })...)
			}
		}
	}
	var out [][]plan.Action
	for len(left) > 0 {
		waits := func(a plan.Action) bool {
			return slices.ContainsFunc(left, func(b plan.Action) bool { return b.Name != a.Name && slices.Contains(after[a.Name], b.Name) })
		}
		wave := slices.DeleteFunc(slices.Clone(left), waits)
		if len(wave) == 0 { // a circle that CheckSet would have refused
			wave = left
		}
		left = slices.DeleteFunc(left, func(a plan.Action) bool {
			return slices.ContainsFunc(wave, func(b plan.Action) bool { return b.Name == a.Name })
		})
		out = append(out, wave)
	}
	return out
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

// do carries out one action and waits for its end.
func (h Hooks) do(ctx context.Context, manager Manager, a plan.Action) error {
	h.Log("%s: %s", a.Name, a.Verb)
	switch a.Verb {
	case plan.Create:
		return h.startNew(ctx, manager, a.Name)
	case plan.Recreate:
		return h.recreate(ctx, manager, a.Name)
	case plan.Reload:
		return h.reloadLive(ctx, a)
	case plan.Start:
		return manager.Enqueue(ctx, a.Name+".service")
	}
	return h.resume(ctx, manager, a.Name)
}

// startNew starts a workload for the first time and watches it as if it were on trial, but there is nothing to go back to.
func (h Hooks) startNew(ctx context.Context, manager Manager, name string) error {
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
		return h.recreate(ctx, manager, name)
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
func (h Hooks) recreate(ctx context.Context, manager Manager, name string) error {
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
	// What an operator has stopped stays stopped; the next start is the trial.
	if w.Trial == nil || before.ActiveState == "inactive" && before.InvocationID != "" {
		return nil
	}
	if err := h.setReady(m); err != nil {
		return err
	}
	if err := manager.EnqueueRestart(ctx, service); err != nil {
		return err
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
	if u.InvocationID == w.Trial.Before && u.ActiveState == "active" {
		err = manager.EnqueueRestart(ctx, name+".service")
	} else {
		err = manager.Enqueue(ctx, "sitelet-trial@"+name+".service")
	}
	if err != nil {
		return err
	}
	return h.awaitSettled(ctx, name, w.Trial.Generation)
}

// awaitSettled waits until the state has no trial of the workload, and no rollback of it is running.
func (h Hooks) awaitSettled(ctx context.Context, name string, generation workload.Digest) error {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(h.Poll)
	defer ticker.Stop()
	idle := 0
	for {
		w, err := h.store().Read(name)
		if err != nil {
			return err
		}
		if w.Trial == nil && !h.marked(name) {
			if w.Current.Generation == generation {
				return nil
			}
			return fmt.Errorf("the new version failed: %s; the one before runs again", w.Refused.Reason)
		}
		busy := false
		for _, helper := range []string{"sitelet-trial@", "sitelet-rollback@", "sitelet-create@"} {
			u, err := manager.Unit(ctx, helper+name+".service")
			if err != nil {
				return err
			}
			busy = busy || u.Queued || u.ActiveState == "activating"
		}
		if idle++; busy {
			idle = 0
		}
		if time.Duration(idle)*h.Poll > patience {
			return errors.New("it was stopped during its trial, which goes on when it is started again")
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitNew waits for a first start to prove itself or to fail.
func (h Hooks) awaitNew(ctx context.Context, manager Manager, name, before string) error {
	probation := generator.Load(h.Paths).Config.Update.Probation()
	j := judge{before: before, probation: probation}
	ticker := time.NewTicker(h.Poll)
	defer ticker.Stop()
	for {
		u, err := manager.Unit(ctx, name+".service")
		if err != nil {
			return err
		}
		switch j.look(u, h.Now()) {
		case passed:
			return nil
		case failed:
			return fmt.Errorf("it does not run: %s; see journalctl -u %s", j.reason, name)
		case stopped:
			return errors.New("it was stopped")
		}
		c, err := manager.Unit(ctx, "sitelet-create@"+name+".service")
		if err != nil {
			return err
		}
		if c.Restarts > 0 || c.ActiveState == "failed" {
			reason := "see journalctl -u sitelet-create@" + name
			if w, err := h.store().Read(name); err == nil && w.Refused != nil {
				reason = w.Refused.Reason
			}
			return fmt.Errorf("its container cannot be made: %s; systemd goes on trying", reason)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
