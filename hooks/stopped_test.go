package hooks

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sitelet/sitelet/internal/systemd"
)

// A run that fails while somebody stops it is a stop: the trial goes on at the next start, and systemd's failure is forgotten. The same
// failure of its own, or of another run, is one.
func TestStoppedWhileStarting(t *testing.T) {
	for _, c := range []struct {
		name, stopping, noted string
		forgiven              bool
	}{
		{"stopped", "web.service", "new", true},
		{"nobody asked", "", "new", false},
		{"another service is stopped", "db.service", "new", false},
		{"an earlier run was stopped", "web.service", "older", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, s := trialOf(t, &memory{})
			s.stopping = c.stopping
			if err := h.Ended(context.Background(), "web", c.noted); err != nil {
				t.Fatal(err)
			}
			s.unit = systemd.Unit{ActiveState: "failed", InvocationID: "new", Result: "exit-code", ExitStatus: 1}
			if err := h.Trial(context.Background(), "web"); errors.Is(err, errTrialFailed) == c.forgiven {
				t.Errorf("the trial ends with %v", err)
			}
			if !c.forgiven {
				return
			}
			if err := h.Rollback(context.Background(), "web"); err != nil {
				t.Fatal(err)
			}
			w, err := h.store().Read("web")
			if err != nil || w.Trial == nil || w.Trial.Generation != genB || w.Refused != nil {
				t.Errorf("state: %v, %+v", err, w)
			}
			if !slices.Contains(s.calls, "reset web.service") || slices.Contains(s.calls, "restart web.service") {
				t.Errorf("calls: %q", s.calls)
			}
		})
	}
}
