package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// awaitSettled waits until a generation is not on trial any more, and nothing of that is left to be done.
func (h Hooks) awaitSettled(ctx context.Context, name string, generation workload.Digest) error {
	defer h.doing(name, "on trial")()
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
		if w.Trial == nil && !h.marked(name) || w.Trial != nil && w.Trial.Generation != generation {
			return endOf(w, generation)
		}
		busy, failed, err := helpers(ctx, manager, name)
		if err != nil {
			return err
		}
		if idle++; busy {
			idle = 0
		}
		switch {
		case time.Duration(idle)*h.Poll <= patience:
		case failed != "":
			return fmt.Errorf("its update was cut off, and goes on with the next reload; see journalctl -u %s", failed)
		default:
			return errors.New("it was stopped during its trial, which goes on when it is started again")
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endOf says how the trial of a generation has ended.
func endOf(w state.Workload, generation workload.Digest) error {
	switch {
	case w.Current != nil && w.Current.Generation == generation:
		return nil
	case w.Refused != nil && w.Refused.Generation == generation:
		return fmt.Errorf("the new version failed: %s; the one before runs again", w.Refused.Reason)
	}
	return errors.New("another version has taken its place")
}

// helpers looks at the units that an update hands its work to: whether one is at work, and which has failed.
func helpers(ctx context.Context, manager Manager, name string) (busy bool, failed string, err error) {
	for _, helper := range []string{"sitelet-create@", "sitelet-trial@", "sitelet-rollback@"} {
		unit := helper + name + ".service"
		u, err := manager.Unit(ctx, unit)
		if err != nil {
			return false, "", err
		}
		busy = busy || u.Queued || u.ActiveState == "activating"
		if u.ActiveState == "failed" {
			failed = unit
		}
	}
	return busy, failed, nil
}

// awaitNew waits for a first start to prove itself or to fail.
func (h Hooks) awaitNew(ctx context.Context, manager Manager, name, before string) error {
	defer h.doing(name, "starting")()
	c, _ := config.Load(h.Paths)
	j := judge{before: before, probation: c.Update.Probation()}
	ticker := time.NewTicker(h.Poll)
	defer ticker.Stop()
	for {
		// First, for a start without a container fails too, and says less.
		create, err := manager.Unit(ctx, "sitelet-create@"+name+".service")
		if err != nil {
			return err
		}
		if create.ActiveState == "failed" {
			reason := "see journalctl -u sitelet-create@" + name
			if w, err := h.store().Read(name); err == nil && w.Refused != nil {
				reason = w.Refused.Reason
			}
			return fmt.Errorf("its container cannot be made: %s; systemd goes on trying", reason)
		}
		u, err := manager.Unit(ctx, name+".service")
		if err != nil {
			return err
		}
		switch how := j.look(u, h.Now()); {
		case how == passed:
			return nil
		case how == stopped || how == failed && h.wasStopped(name, u):
			return errors.New("it was stopped")
		case how == failed:
			return fmt.Errorf("it does not run: %s; see journalctl -u %s", j.reason, name)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
