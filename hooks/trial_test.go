package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
)

func TestJudge(t *testing.T) {
	activating := systemd.Unit{ActiveState: "activating", InvocationID: "new", Queued: true, Result: "success"}
	active := systemd.Unit{ActiveState: "active", InvocationID: "new", Result: "success"}
	for _, c := range []struct {
		name string
		show []systemd.Unit // one a second
		want verdict
		why  string
	}{
		{"runs", []systemd.Unit{activating, active, active, active, active}, passed, ""},
		{"not long enough", []systemd.Unit{activating, active, active, active}, undecided, ""},
		{"the old one still runs", []systemd.Unit{{ActiveState: "active", InvocationID: "old", Queued: true}, {ActiveState: "deactivating", InvocationID: "old"}}, undecided, ""},
		{"the old one's restarts do not count", []systemd.Unit{{ActiveState: "active", InvocationID: "old", Restarts: 4, Queued: true}}, undecided, ""},
		{"exits and is restarted", []systemd.Unit{active, {ActiveState: "activating", InvocationID: "new", Restarts: 1, ExitStatus: 7}}, failed, "exit status 7"},
		{"waits for its first restart", []systemd.Unit{activating, {ActiveState: "activating", InvocationID: "new", Result: "exit-code", ExitStatus: 9}}, failed, "exit status 9"},
		{"fails for good", []systemd.Unit{activating, {ActiveState: "failed", InvocationID: "new", Result: "exit-code", ExitStatus: 125}}, failed, "exit status 125"},
		{"never ready", []systemd.Unit{activating, {ActiveState: "failed", InvocationID: "new", Result: "timeout"}}, failed, "not up in time"},
		{"one-shot", []systemd.Unit{active, {ActiveState: "inactive", InvocationID: "new", Result: "success"}}, passed, ""},
		{"stopped", []systemd.Unit{active, {ActiveState: "inactive", InvocationID: "new", Result: "success", ExitStatus: 143}}, stopped, ""},
		{"nobody starts it", []systemd.Unit{{ActiveState: "inactive"}, {ActiveState: "inactive"}, {ActiveState: "inactive"}, {ActiveState: "inactive"}, {ActiveState: "inactive"}, {ActiveState: "inactive"}}, stopped, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judge{before: "old", probation: 3 * time.Second}
			now := time.Now()
			got := undecided
			for _, u := range c.show {
				if got = j.look(u, now); got != undecided {
					break
				}
				now = now.Add(time.Second)
			}
			if got != c.want || !strings.Contains(j.reason, c.why) {
				t.Errorf("got %d because %q, want %d because %q", got, j.reason, c.want, c.why)
			}
		})
	}
}

// trialOf brings web to where genB is on trial and genA is set aside.
func trialOf(t *testing.T, m *memory) (Hooks, *scripted) {
	t.Helper()
	h := newHooks(t, m)
	manager, _ := h.Systemd(context.Background())
	s := manager.(*scripted)
	s.h = &h
	s.unit = systemd.Unit{ActiveState: "active", InvocationID: "old", RequiredBy: []string{"user.service"}}
	install(t, h, genA, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	m.containers[0].State = "running"
	install(t, h, genB, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	// What the generator does: it goes by the state alone.
	s.reloads = func() {
		w, err := h.store().Read("web")
		if err != nil {
			t.Fatal(err)
		}
		install(t, h, string(w.Runs().Generation), "", "")
	}
	return h, s
}

func TestTrialPasses(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	w, _ := h.store().Read("web")
	if w.Trial == nil || w.Trial.Generation != genB || w.Current.Generation != genA || w.Trial.Before != "old" || len(w.Trial.Dependants) != 1 {
		t.Fatalf("state: %+v, %+v", w.Current, w.Trial)
	}
	s.unit = systemd.Unit{ActiveState: "active", InvocationID: "new"}
	m.containers[m.index("web")].State = "running"
	now := time.Now()
	h.Now = func() time.Time { now = now.Add(4 * time.Second); return now }
	if err := h.Trial(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	w, _ = h.store().Read("web")
	if w.Trial != nil || w.Current.Generation != genB || w.Previous.Generation != genA {
		t.Errorf("state: %+v", w)
	}
	expectNames(t, m, "web")
	if h.marked("web") {
		t.Error("the mark is still there")
	}
}

// A version that comes while the first one is still watched finds the trial unit at work, which goes on with it.
func TestTrialOfTheNextBeginsWithinTheFirst(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	if err := h.store().Change("web", func(w *state.Workload) error { w.Trial = nil; return nil }); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	looks := 0
	h.Now = func() time.Time {
		if looks++; looks == 2 {
			if err := h.Create(context.Background(), "web"); err != nil {
				t.Error(err)
			}
			s.unit.InvocationID = "new"
		}
		now = now.Add(4 * time.Second)
		return now
	}
	m.containers[m.index("web")].State = "running"
	if err := h.Trial(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if w, _ := h.store().Read("web"); w.Trial != nil || w.Current.Generation != genB || h.marked("web") {
		t.Errorf("state: %+v, trial %+v, marked: %v", w.Current, w.Trial, h.marked("web"))
	}
}

// The trial of the version before may end between the request for a start and the making of its container.
func TestCreateStartsTheTrialOfAStartThatWaits(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	if slices.Contains(s.calls, "start sitelet-trial@web.service") {
		t.Errorf("a trial was started for nothing: %q", s.calls)
	}
	s.unit.Queued = true
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.calls, "start sitelet-trial@web.service") {
		t.Errorf("no trial was started: %q", s.calls)
	}
}

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

func TestLostStateIsMadeAgain(t *testing.T) {
	m := &memory{}
	h, _ := trialOf(t, m)
	h.store().Remove("web")
	install(t, h, genC, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	w, err := h.store().Read("web")
	if err != nil || w.Current.Generation != genB || w.Trial == nil || w.Trial.Generation != genC {
		t.Errorf("state: %+v, %v", w, err)
	}
	if strings.Contains(w.Current.Unit, genC) || w.Current.Render == w.Trial.Render {
		t.Errorf("the unit made up for genB:\n%s", w.Current.Unit)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var w state.Workload
	for range 50 {
		w.Note(state.Event{Result: "updated"})
	}
	if len(w.History) != 20 {
		t.Errorf("%d events", len(w.History))
	}
}

// After a power cut the mark of what was settled is gone, and what it would have removed is still there.
func TestLeftoversGoAtTheNextStart(t *testing.T) {
	m := &memory{}
	h, _ := trialOf(t, m)
	err := h.store().Change("web", func(w *state.Workload) error {
		w.Current, w.Trial, w.Unproven = &w.Trial.Version, nil, false
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.unmark("web")
	m.containers[0].State = "exited"
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	expectNames(t, m, "web")
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

// A third version that comes before a settling has ended keeps its container and its mark.
func TestSettlingKeepsTheNextVersion(t *testing.T) {
	m := &memory{}
	h, _ := trialOf(t, m)
	err := h.store().Change("web", func(w *state.Workload) error {
		w.Current, w.Trial, w.Unproven = &w.Trial.Version, nil, false
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	install(t, h, genC, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if err := h.finish(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	expectNames(t, m, "web", "web.bbbbbbbbbbbb")
	if w, _ := h.store().Read("web"); w.Trial == nil || w.Trial.Generation != genC || !h.marked("web") {
		t.Errorf("trial %+v, marked: %v", w.Trial, h.marked("web"))
	}
}

// What waits for the end of a trial hears of it when another version is on trial already.
func TestTrialThatAnotherHasFollowed(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	s.unit = systemd.Unit{ActiveState: "active", InvocationID: "new", Result: "success"}
	err := h.store().Change("web", func(w *state.Workload) error {
		w.Refused = &state.Refusal{Generation: genB, Reason: "it fell over"}
		w.Trial.Generation = genC
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.awaitSettled(context.Background(), "web", genB); err == nil || !strings.Contains(err.Error(), "it fell over") {
		t.Errorf("error: %v", err)
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
