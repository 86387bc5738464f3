package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/workload"
)

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
		switch j.look(u, h.Now()) {
		case passed:
			return nil
		case failed:
			return fmt.Errorf("it does not run: %s; see journalctl -u %s", j.reason, name)
		case stopped:
			return errors.New("it was stopped")
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
