package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/systemd"
)

// operated brings web to where genA runs and a unit of genB has come with a daemon-reload; u is what systemd says of its run.
func operated(t *testing.T, m *memory, u systemd.Unit) (Hooks, *scripted) {
	t.Helper()
	h := newHooks(t, m)
	manager, _ := h.Systemd(context.Background())
	s := manager.(*scripted)
	s.h = &h
	install(t, h, genA, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if err := h.provedFirst("web", true); err != nil {
		t.Fatal(err)
	}
	m.containers[0].State = "exited"
	install(t, h, genB, "", "")
	s.unit = u
	s.reloads = func() {
		w, _ := h.store().Read("web")
		install(t, h, string(w.Runs().Generation), "", "")
	}
	return h, s
}

func started(s *scripted) bool {
	return slices.ContainsFunc(s.calls, func(call string) bool { return strings.HasPrefix(call, "restart ") })
}

// A reload brings no workload up that nobody expects to run, whatever becomes of its new version.
func TestReloadIsNoStart(t *testing.T) {
	stopped := systemd.Unit{ActiveState: "inactive", InvocationID: "old", Stopped: true}
	for name, u := range map[string]systemd.Unit{"stopped": stopped, "without auto_start": {ActiveState: "inactive"}} {
		for _, bad := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, bad %v", name, bad), func(t *testing.T) {
				m := &memory{}
				h, s := operated(t, m, u)
				if bad {
					m.calls, m.failAt = 0, 1
				}
				err := h.recreate(context.Background(), s, plan.Action{Name: "web", Generation: genB})
				if (err != nil) != bad {
					t.Errorf("error: %v", err)
				}
				if started(s) {
					t.Errorf("calls: %q", s.calls)
				}
				w, _ := h.store().Read("web")
				if onTrial := w.Trial != nil; onTrial == bad || h.marked("web") != onTrial {
					t.Errorf("on trial: %v, marked: %v", onTrial, h.marked("web"))
				}
				if bad {
					expectNames(t, m, "web")
				}
			})
		}
	}
}

// A one-shot that is done does its work again as another version.
func TestOneShotRunsAgain(t *testing.T) {
	m := &memory{}
	h, s := operated(t, m, systemd.Unit{ActiveState: "inactive", InvocationID: "old", Result: "success", Ended: true})
	install(t, h, genB, "", `,"Wanted":true`)
	ctx, cancel := context.WithCancel(context.Background())
	h.Doing = func(what string) func() {
		if what == "web: on trial" {
			cancel()
		}
		return func() {}
	}
	if err := h.recreate(ctx, s, plan.Action{Name: "web", Generation: genB}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !started(s) {
		t.Errorf("calls: %q", s.calls)
	}
}

// What came with a restart of another workload is neither restarted once more nor called done when it has failed.
func TestRecreateOfWhatRunsAlready(t *testing.T) {
	m := &memory{}
	h, s := trialOf(t, m)
	s.unit = systemd.Unit{ActiveState: "active", InvocationID: "new"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.recreate(ctx, s, plan.Action{Name: "web", Generation: genB}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if started(s) {
		t.Errorf("calls: %q", s.calls)
	}
	if err := h.refuse(context.Background(), "web", genB, "it fell over"); err != nil {
		t.Fatal(err)
	}
	s.reloads()
	err := h.recreate(context.Background(), s, plan.Action{Name: "web", Generation: genB})
	if err == nil || !strings.Contains(err.Error(), "it fell over") {
		t.Errorf("error: %v", err)
	}
}

// The container to go back to is there before the one that runs goes. Where it cannot be made, nothing has happened.
func TestRollbackByHand(t *testing.T) {
	for _, bad := range []bool{false, true} {
		t.Run(fmt.Sprintf("bad %v", bad), func(t *testing.T) {
			m := &memory{}
			h, s := trialOf(t, m)
			s.unit = systemd.Unit{ActiveState: "active", InvocationID: "new"}
			m.containers[m.index("web")].State = "running"
			m.containers[0].ImageID = "image1"
			if err := h.settle(context.Background(), "web", genB); err != nil {
				t.Fatal(err)
			}
			expectNames(t, m, "web")
			before, _ := h.store().Read("web")
			m.creating = func([]string) {
				if i := m.index("web"); i < 0 || m.containers[i].State != "running" {
					t.Errorf("there is nothing that runs: %+v", m.containers)
				}
			}
			if bad {
				m.calls, m.failAt = 0, 1
			}
			if err := h.RollbackByHand(context.Background(), "web"); (err != nil) != bad {
				t.Fatalf("error: %v", err)
			}
			w, _ := h.store().Read("web")
			if h.marked("web") {
				t.Error("the mark is still there")
			}
			expectNames(t, m, "web")
			if bad {
				if diff := cmp.Diff(before, w); diff != "" || m.containers[0].ID != "id2" || started(s) {
					t.Errorf("%+v, %q\n%s", m.containers, s.calls, diff)
				}
				return
			}
			if n := len(w.History) - len(before.History); n != 1 {
				t.Errorf("%d events: %+v", n, w.History)
			}
			if args := m.created[2]; !slices.Contains(args, "image1") || slices.Contains(args, "localhost/i:1") {
				t.Errorf("it is made from what its tag is now: %q", args)
			}
			if w.Current.Generation != genA || w.Refused == nil || w.Refused.Generation != genB || m.containers[0].State != "running" {
				t.Errorf("state %+v, containers %+v", w, m.containers)
			}
		})
	}
}

// What requires what requires a version on trial is stopped with it, too.
func TestDependantsOfDependants(t *testing.T) {
	m := &memory{}
	h, s := operated(t, m, systemd.Unit{ActiveState: "active", InvocationID: "old", RequiredBy: []string{"user.service", "idle.service"}})
	s.others = map[string]systemd.Unit{
		"user.service": {ActiveState: "active", RequiredBy: []string{"far.service"}},
		"far.service":  {ActiveState: "activating"},
		"idle.service": {ActiveState: "inactive", RequiredBy: []string{"idler.service"}},
	}
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	w, _ := h.store().Read("web")
	if want := []string{"user.service", "far.service"}; w.Trial == nil || !slices.Equal(w.Trial.Dependants, want) {
		t.Errorf("trial %+v, want %q", w.Trial, want)
	}
}
