package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
	"github.com/sitelet/sitelet/internal/workload"
)

// errTrialFailed ends a trial whose version is to be rolled back.
var errTrialFailed = errors.New("the new version failed")

// verdict is how a trial ends.
type verdict int

const (
	undecided verdict = iota
	passed
	failed
	stopped // by an operator: neither passed nor failed; the trial goes on at the next start
)

// patience is how long a trial waits for a start that nobody has asked for.
const patience = 5 * time.Second

// Trial watches the version of a workload that is on trial until it has run for the probation without a restart, and makes it
// the current one. If it fails, the error is errTrialFailed and the state holds why.
//
// A version that comes meanwhile finds this trial under way, and so does not start its own: it is watched next.
func (h Hooks) Trial(ctx context.Context, name string) error {
	h = h.at(name)
	for {
		watched, err := h.trial(ctx, name)
		if err != nil {
			return err
		}
		w, err := h.store().Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was pruned
		}
		if err != nil || w.Trial == nil || w.Trial.Generation == watched {
			return err
		}
	}
}

// trial watches what runs now, and returns the generation that was on trial then, if one was.
func (h Hooks) trial(ctx context.Context, name string) (watched workload.Digest, err error) {
	if err := h.clearReady(name); err != nil {
		return "", err
	}
	w, err := h.store().Read(name)
	if err != nil {
		return "", err
	}
	c, _ := config.Load(h.Paths)
	before, probation := "", c.Update.Probation()
	if w.Trial != nil {
		before, watched = w.Trial.Before, w.Trial.Generation
	}
	if w.Trial == nil && !w.Unproven {
		probation = 0
	}
	how, reason, err := h.watch(ctx, name, before, probation)
	if err != nil {
		return watched, err
	}
	switch {
	case w.Trial == nil && !w.Unproven:
		if how == passed {
			return "", h.Rollback(ctx, name) // the mark is that of one, or of a settling, which may have been cut off
		}
		return "", nil
	case w.Trial == nil:
		return "", h.provedFirst(name, how == passed)
	case how == passed:
		return watched, h.settle(ctx, name, watched)
	case how == failed:
		h.Log("the new version of %s failed: %s", name, reason)
		err := h.store().Change(name, func(w *state.Workload) error {
			if w.Trial != nil && w.Trial.Generation == watched {
				w.Trial.Failure = reason
			}
			return nil
		})
		return watched, errors.Join(err, fmt.Errorf("%s: %w", name, errTrialFailed))
	}
	h.Log("%s was stopped during its trial, which goes on when it is started again", name)
	return watched, nil
}

// provedFirst notes that the first version of a workload runs, or leaves it to be replaced by any other; nothing if another one has
// come meanwhile.
func (h Hooks) provedFirst(name string, ok bool) error {
	return h.store().Change(name, func(w *state.Workload) error {
		if w.Trial != nil {
			return nil
		}
		if ok {
			w.Unproven, w.Refused = false, nil
		}
		return h.unmark(name)
	})
}

// watch looks at a unit until a run of it other than the one before has passed or failed.
func (h Hooks) watch(ctx context.Context, name, before string, probation time.Duration) (verdict, string, error) {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return undecided, "", err
	}
	m, err := h.read(name)
	if err != nil {
		return undecided, "", err
	}
	j := judge{before: before, probation: probation, restarted: probation == 0}
	ticker := time.NewTicker(h.Poll)
	defer ticker.Stop()
	for look := 1; ; look++ {
		u, err := manager.Unit(ctx, name+".service")
		if err != nil {
			return undecided, "", err
		}
		how := j.look(u, h.Now())
		if how == failed && h.wasStopped(name, u) {
			return stopped, "", nil
		}
		if how == passed && u.ActiveState == "active" && !h.runs(ctx, name) {
			how = undecided
		}
		if how != undecided {
			return how, j.reason, nil
		}
		// systemd would wait for the whole start time-out, and Podman's answer costs more than systemd's.
		if m.data.Health && look%healthEvery == 0 && j.begun(u) && h.Engine.Unhealthy(ctx, h.containerOf(name)) {
			return failed, "its health check never passed", nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return undecided, "", ctx.Err()
		}
	}
}

// runs asks Podman whether a workload's container is running: on a busy host, systemd hears of its end seconds later.
func (h Hooks) runs(ctx context.Context, name string) bool {
	all, err := h.containers(ctx, name)
	c := h.named(name, all)
	return err != nil || c != nil && c.State == "running"
}

// healthEvery is how many looks at the unit there are to one at the container's health.
const healthEvery = 5

// judge decides from what it is shown of a unit over time.
type judge struct {
	before    string // invocation id of the run before
	probation time.Duration
	restarted bool // a restart by systemd is no failure: one that the version before was due may come first

	idle   time.Time // since when nothing has been going on
	active time.Time // since when it has been running
	reason string    // why it failed
}

func (j *judge) look(u systemd.Unit, now time.Time) verdict {
	begun := j.begun(u)
	switch {
	case begun && u.Restarts > 0 && !j.restarted:
		return j.fail(fmt.Sprintf("it ended with exit status %d and had to be restarted", u.ExitStatus))
	case begun && (u.ActiveState == "failed" || u.ActiveState == "activating" && u.Result != "success"):
		return j.fail(why(u)) // in the latter case it waits for its restart
	case begun && u.ActiveState == "active":
		if j.active.IsZero() {
			j.active = now
		}
		if now.Sub(j.active) >= j.probation {
			return passed
		}
		return undecided
	case begun && u.Ended && !u.Queued:
		if u.ExitStatus == 0 {
			return passed // a one-shot that has done its work
		}
		// A signal's status, which is a success as that of a stop.
		return j.fail(fmt.Sprintf("it ended with exit status %d", u.ExitStatus))
	case begun && u.ActiveState == "inactive" && !u.Queued && !j.active.IsZero():
		return stopped
	case u.Queued || u.ActiveState == "activating" || u.ActiveState == "deactivating":
		j.idle = time.Time{}
		return undecided
	}
	if j.idle.IsZero() {
		j.idle = now
	}
	if now.Sub(j.idle) < patience {
		return undecided
	}
	if u.ActiveState == "failed" {
		return j.fail(why(u))
	}
	return stopped
}

// begun tells whether a unit is in a run after the one before.
func (j *judge) begun(u systemd.Unit) bool { return u.InvocationID != "" && u.InvocationID != j.before }

func (j *judge) fail(reason string) verdict {
	j.reason = reason
	return failed
}

// why says in words what systemd says of a failed service (systemd.exec(5), $SERVICE_RESULT).
func why(u systemd.Unit) string {
	switch u.Result {
	case "timeout":
		return "it was not up in time"
	case "exit-code":
		return fmt.Sprintf("it ended with exit status %d", u.ExitStatus)
	case "start-limit-hit":
		return "it ended again and again"
	case "resources", "protocol":
		return "it did not get ready (its health check never passed, or Podman could not start it)"
	case "signal", "core-dump":
		return fmt.Sprintf("it was killed by signal %d", u.ExitStatus)
	case "oom-kill":
		return "it used up its memory"
	}
	return "its unit failed (" + u.Result + ")"
}

// settle makes the generation on trial the current one and gives up its predecessor's container.
func (h Hooks) settle(ctx context.Context, name string, generation workload.Digest) error {
	all, err := h.containers(ctx, name)
	if err != nil {
		return err
	}
	err = h.change(name, func(w *state.Workload) error {
		if w.Trial == nil || w.Trial.Generation != generation {
			return nil
		}
		v := w.Trial.Version
		left := find(all, func(c engine.Container) bool { return generationOf(c) == w.Current.Generation })
		if left != nil {
			w.Current.ImageID = left.ImageID
		}
		w.Previous, w.Current, w.Trial, w.Refused, w.Unproven = w.Current, &v, nil, nil, false
		w.Note(h.event(v, "", "updated", ""))
		return nil
	})
	if err != nil {
		return err
	}
	h.Log("the new version of %s has proved itself", name)
	return h.holding("create-"+name, func() error { return h.finish(ctx, name) })
}

// finish removes the containers of all versions but the current one, and then the mark. A version that has come meanwhile keeps
// its container and its mark. The caller holds the lock of the containers.
func (h Hooks) finish(ctx context.Context, name string) error {
	if err := h.removeOthers(ctx, name); err != nil {
		return err
	}
	if w, err := h.store().Read(name); err != nil || w.Trial != nil {
		return err
	}
	return h.unmark(name)
}

func (h Hooks) removeOthers(ctx context.Context, name string) error {
	w, err := h.store().Read(name)
	if err != nil {
		return err
	}
	all, err := h.containers(ctx, name)
	if err != nil {
		return err
	}
	for _, c := range all {
		if generation := generationOf(c); generation != w.Current.Generation && generation != w.Runs().Generation {
			if err := h.Engine.Kill(ctx, c.ID); err != nil {
				return fmt.Errorf("removing a container of %s: %w", name, err)
			}
		}
	}
	return nil
}
