package hooks

import (
	"context"
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
		{"one-shot", []systemd.Unit{active, {ActiveState: "inactive", InvocationID: "new", Result: "success", Ended: true}}, passed, ""},
		{"one-shot that was over before anybody looked", []systemd.Unit{{ActiveState: "inactive", InvocationID: "new", Result: "success", Ended: true}}, passed, ""},
		{"killed by itself", []systemd.Unit{active, {ActiveState: "inactive", InvocationID: "new", Result: "success", ExitStatus: 137, Ended: true}}, failed, "exit status 137"},
		{"stopped", []systemd.Unit{active, {ActiveState: "inactive", InvocationID: "new", Result: "success", ExitStatus: 143, Stopped: true}}, stopped, ""},
		{"stopped, and ends as if it were done", []systemd.Unit{active, {ActiveState: "inactive", InvocationID: "new", Result: "success", Stopped: true}}, stopped, ""},
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

func TestHistoryIsBounded(t *testing.T) {
	var w state.Workload
	for range 50 {
		w.Note(state.Event{Result: "updated"})
	}
	if len(w.History) != 20 {
		t.Errorf("%d events", len(w.History))
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
