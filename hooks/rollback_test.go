package hooks

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
)

func TestTrialFailsAndRollsBack(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	s.unit = systemd.Unit{ActiveState: "activating", InvocationID: "new", Restarts: 1, ExitStatus: 7}
	if err := h.Trial(context.Background(), "web"); !errors.Is(err, errTrialFailed) {
		t.Fatalf("error: %v", err)
	}
	if err := h.Rollback(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	expectRolledBack(t, h, m)
	if last := s.calls[len(s.calls)-1]; last != "start user.service" {
		t.Errorf("calls: %q: what requires web was not started again", s.calls)
	}
	// A failure long after is none of the rollback's business.
	calls := len(s.calls)
	if err := h.Rollback(context.Background(), "web"); err != nil || len(s.calls) != calls {
		t.Errorf("error %v, calls %q", err, s.calls[calls:])
	}
}

func expectRolledBack(t *testing.T, h Hooks, m *memory) {
	t.Helper()
	w, err := h.store().Read("web")
	if err != nil {
		t.Fatal(err)
	}
	if w.Trial != nil || w.Current.Generation != genA || w.Refused == nil || w.Refused.Generation != genB || w.Refused.Reason == "" {
		t.Errorf("state: %+v, refused: %+v", w, w.Refused)
	}
	expectNames(t, m, "web")
	if i := m.index("web"); i < 0 || m.containers[i].ID != "id1" || m.containers[i].State != "running" {
		t.Errorf("containers: %+v", m.containers)
	}
	if h.marked("web") {
		t.Error("the mark is still there")
	}
}

// Whatever call of a rollback fails, the next one goes on to the same end.
func TestRollbackCutAnywhere(t *testing.T) {
	for _, after := range []bool{false, true} {
		for failAt := 1; ; failAt++ {
			m := &memory{}
			h, s := trialOf(t, m)
			s.unit = systemd.Unit{ActiveState: "failed", InvocationID: "new", Result: "exit-code", ExitStatus: 1}
			m.calls, m.failAt, m.afterEffect = 0, failAt, after
			err := h.Rollback(context.Background(), "web")
			if err == nil {
				break
			}
			m.failAt = 0
			if err := h.Rollback(context.Background(), "web"); err != nil {
				t.Fatalf("cut at call %d, then: %v", failAt, err)
			}
			expectRolledBack(t, h, m)
			if !slices.Contains(s.calls, "start user.service") {
				t.Errorf("cut at call %d: what requires web was not started again: %q", failAt, s.calls)
			}
		}
	}
}

// A power cut takes the mark of a rollback with it. The create hook of the boot that follows gives the name back and tidies up.
func TestRollbackCutByPower(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	s.unit = systemd.Unit{ActiveState: "failed", InvocationID: "new", Result: "exit-code", ExitStatus: 1}
	if err := h.refuse(context.Background(), "web", genB, "it failed"); err != nil {
		t.Fatal(err)
	}
	if err := h.unmark("web"); err != nil {
		t.Fatal(err)
	}
	install(t, h, genA, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	expectNames(t, m, "web")
	if m.containers[m.index("web")].ID != "id1" || h.marked("web") {
		t.Errorf("containers: %+v", m.containers)
	}
}

func TestCandidateThatCannotBeMade(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	install(t, h, genA, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	install(t, h, genB, "", "")
	m.calls, m.failAt = 0, 1
	if err := h.Create(context.Background(), "web"); !errors.Is(err, errNoCandidate) {
		t.Errorf("error: %v", err)
	}
	w, _ := h.store().Read("web")
	if w.Refused == nil || w.Refused.Generation != genB || w.Refused.Retry || w.Current.Generation != genA {
		t.Errorf("state: %+v", w.Refused)
	}
	m.calls, m.failAt, m.missing = 0, 1, []string{"localhost/i:1"}
	h.Create(context.Background(), "web")
	if w, _ = h.store().Read("web"); !w.Refused.Retry {
		t.Error("without its image, the version should be tried again")
	}
}

// A hook that is killed sets off the rollback, too, but says nothing against the version.
func TestRollbackLeavesATrialThatHasNotFailed(t *testing.T) {
	for name, u := range map[string]systemd.Unit{
		"runs":      {ActiveState: "active", InvocationID: "new", Result: "success"},
		"starts":    {ActiveState: "activating", InvocationID: "new", Result: "success", Queued: true},
		"not begun": {ActiveState: "active", InvocationID: "old", Result: "success"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{}
			h, s := trialOf(t, m)
			s.unit = u
			calls := len(s.calls)
			if err := h.Rollback(context.Background(), "web"); err != nil {
				t.Fatal(err)
			}
			if w, _ := h.store().Read("web"); w.Trial == nil || w.Refused != nil {
				t.Errorf("state: trial %+v, refused %+v", w.Trial, w.Refused)
			}
			if len(s.calls) != calls || !h.marked("web") {
				t.Errorf("calls %q, marked: %v", s.calls[calls:], h.marked("web"))
			}
		})
	}
}

// The restart that a failed version was due may come before that of a rollback, and counts for the run of the old version.
func TestJudgeAfterRollback(t *testing.T) {
	u := systemd.Unit{ActiveState: "active", InvocationID: "new", Restarts: 1}
	j := judge{before: "old", restarted: true}
	if how := j.look(u, time.Now()); how != passed {
		t.Errorf("it is %v: %s", how, j.reason)
	}
	j = judge{before: "old", restarted: true}
	if how := j.look(systemd.Unit{ActiveState: "failed", InvocationID: "new", Restarts: 1, Result: "exit-code", ExitStatus: 7}, time.Now()); how != failed {
		t.Errorf("a run that failed is %v", how)
	}
}

// A version that comes while a rollback is being finished, which the trial unit waits for, is watched after that.
func TestTrialOfTheNextBeginsWithinARollback(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	if err := h.store().Change("web", func(w *state.Workload) error { w.Trial, w.Unproven = nil, false; return nil }); err != nil {
		t.Fatal(err)
	}
	came := false
	s.reloads = func() {
		if came {
			return
		}
		came = true
		install(t, h, genB, "", "")
		if err := h.Create(context.Background(), "web"); err != nil {
			t.Error(err)
		}
		m.containers[m.index("web")].State = "running"
		s.unit.InvocationID = "new"
	}
	m.containers[m.index("web")].State = "running"
	now := time.Now()
	h.Now = func() time.Time { now = now.Add(4 * time.Second); return now }
	if err := h.Trial(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if w, _ := h.store().Read("web"); !came || w.Trial != nil || w.Current.Generation != genB || h.marked("web") {
		t.Errorf("came: %v, state: %+v, trial %+v, marked: %v", came, w.Current, w.Trial, h.marked("web"))
	}
}
