package hooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/systemd"
)

// Ended notes of a run of a service that has ended other than well, before systemd calls it failed, whether somebody stops it. Podman
// and conmon end with exit status 1 when they are stopped in the middle of a start, as if the container had failed; what systemd has
// been asked for tells one from the other, but only until the stop is done. invocation is the run's id (systemd.exec(5),
// $INVOCATION_ID).
func (h Hooks) Ended(ctx context.Context, name, invocation string) error {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	asked, err := manager.Stopping(ctx, name+".service")
	if err != nil || !asked {
		return err
	}
	if err := os.MkdirAll(h.dir(name), 0o700); err != nil {
		return fmt.Errorf("noting the stop of %s: %w", name, err)
	}
	return replace(h.stoppedPath(name), []byte(invocation), 0o600)
}

func (h Hooks) stoppedPath(name string) string { return filepath.Join(h.dir(name), "stopped") }

// wasStopped tells whether the failure of a unit is a stop that somebody has asked for.
func (h Hooks) wasStopped(name string, u systemd.Unit) bool {
	invocation, err := os.ReadFile(h.stoppedPath(name))
	return err == nil && u.ActiveState == "failed" && string(invocation) == u.InvocationID
}

// rests tells whether nobody expects a workload to run: it is stopped, or is started by somebody else.
func rests(u systemd.Unit, wanted bool) bool {
	return u.ActiveState == "inactive" && !u.Queued && (u.InvocationID != "" || !wanted)
}

// forgive has systemd forget the failure of a unit that was only stopped.
func (h Hooks) forgive(ctx context.Context, name string) error {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	u, err := manager.Unit(ctx, name+".service")
	if err != nil || !h.wasStopped(name, u) {
		return err
	}
	h.Log("%s was stopped while it was starting, which is no failure", name)
	return manager.ResetFailed(ctx, name+".service")
}
