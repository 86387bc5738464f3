package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
)

// deployed is a host on which workloads have been deployed and run.
func deployed(t *testing.T, m *memory, names ...string) (Hooks, *scripted) {
	t.Helper()
	h := newHooks(t, m)
	manager, _ := h.Systemd(context.Background())
	s := manager.(*scripted)
	s.h = &h
	s.unit = systemd.Unit{ActiveState: "active", InvocationID: "old"}
	s.reloads = func() { runGenerator(t, h) }
	describe(t, h, names...)
	runGenerator(t, h)
	for _, name := range names {
		if err := errors.Join(h.Create(context.Background(), name), h.provedFirst(name, true)); err != nil {
			t.Fatal(err)
		}
		m.containers[m.index(name)].State = "running"
	}
	return h, s
}

// edit gives the descriptor of a workload more fields.
func edit(t *testing.T, h Hooks, name, fields string) {
	t.Helper()
	text := `{"container_name":"` + name + `","image":{"name":"localhost/i:1"},"config":{"env":["NAME=` + name + `"]}` + fields + `}`
	if err := os.WriteFile(filepath.Join(h.Paths.ContainersDir, name+".json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func configure(t *testing.T, h Hooks, text string) {
	t.Helper()
	path := h.Paths.Below("/etc/sitelet/sitelet.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func reload(t *testing.T, h Hooks) []Outcome {
	t.Helper()
	outcomes, err := h.Reload(context.Background(), "", false, func(o Outcome) {
		if o.Err != nil {
			t.Errorf("%s: %v", o.Name, o.Err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

func expectPlan(t *testing.T, h Hooks, want string) {
	t.Helper()
	if p, err := h.Plan(context.Background()); err != nil || verbs(p) != want {
		t.Errorf("the plan is %q, %v; want %q", verbs(p), err, want)
	}
}

// A version on trial that is stopped gives way to what its file says now, and the one before is kept for that.
func TestStoppedTrialGivesWay(t *testing.T) {
	m := &memory{}
	h, s := deployed(t, m, "web")
	s.unit = systemd.Unit{ActiveState: "inactive", InvocationID: "old", Stopped: true}
	m.containers[0].State = "exited"
	a, _ := h.store().Read("web")
	edit(t, h, "web", `,"host_name":"b"`)
	reload(t, h)
	b, _ := h.store().Read("web")
	expectPlan(t, h, "web none")
	edit(t, h, "web", `,"host_name":"c"`)
	reload(t, h)
	c, _ := h.store().Read("web")
	if b.Trial == nil || c.Trial == nil || c.Trial.Generation == b.Trial.Generation || c.Current.Generation != a.Current.Generation || c.Refused != nil {
		t.Fatalf("b %+v, c %+v", b, c)
	}
	expectPlan(t, h, "web none")
	expectNames(t, m, "web", "web."+string(a.Current.Generation[:shortLength]))
	edit(t, h, "web", "")
	reload(t, h)
	expectPlan(t, h, "web none")
	expectNames(t, m, "web")
	if w, _ := h.store().Read("web"); w.Trial != nil || m.containers[0].ID != "id1" || h.marked("web") || started(s) {
		t.Errorf("trial %+v, containers %+v, calls %q", w.Trial, m.containers, s.calls)
	}
}

// What is not started at boot waits for its start with its trial, and a reload has nothing to do about it.
func TestTrialThatNobodyStarts(t *testing.T) {
	m := &memory{}
	h, s := deployed(t, m, "web")
	edit(t, h, "web", `,"sitelet":{"auto_start":false}`)
	reload(t, h)
	s.unit = systemd.Unit{ActiveState: "inactive"}
	edit(t, h, "web", `,"sitelet":{"auto_start":false},"host_name":"b"`)
	reload(t, h)
	expectPlan(t, h, "web none")
	if w, _ := h.store().Read("web"); w.Trial == nil || started(s) {
		t.Errorf("trial %+v, calls %q", w.Trial, s.calls)
	}
}

// In mode init, a unit that only another version of sitelet has worded is taken up, and no reload is for ever pending for it.
func TestInitTakesUpAnotherWording(t *testing.T) {
	h, _ := deployed(t, &memory{}, "web")
	configure(t, h, "mode = \"init\"\n")
	err := h.store().Change("web", func(w *state.Workload) error {
		w.Current.Unit = strings.ReplaceAll(w.Current.Unit, string(w.Current.Render), "older") + "# older\n"
		w.Current.Render = "older"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	runGenerator(t, h)
	expectPlan(t, h, "web reload")
	reload(t, h)
	expectPlan(t, h, "web none")
	edit(t, h, "web", `,"host_name":"b"`)
	expectPlan(t, h, "web held")
}

// A descriptor that comes back while a reload is at work is none to prune by.
func TestPruneLooksAgain(t *testing.T) {
	m := &memory{}
	h, s := deployed(t, m, "old", "web")
	configure(t, h, "prune = true\n")
	os.Remove(filepath.Join(h.Paths.ContainersDir, "old.json"))
	edit(t, h, "web", `,"host_config":{"restart_policy":{"type":"no"}}`)
	expectPlan(t, h, "old orphaned, web reload")
	s.reloads = func() {
		describe(t, h, "old")
		runGenerator(t, h)
	}
	reload(t, h)
	if i := m.index("old"); i < 0 || m.containers[i].ID != "id1" {
		t.Errorf("the container is another one: %+v", m.containers)
	}
	os.Remove(filepath.Join(h.Paths.ContainersDir, "old.json"))
	s.reloads = func() { runGenerator(t, h) }
	if err := h.mark("old"); err != nil {
		t.Fatal(err)
	}
	p, _ := h.Plan(context.Background())
	p.Actions[0].Verb = plan.Orphaned
	if _, err := h.Prune(context.Background(), p, []string{"old"}); err != nil {
		t.Fatal(err)
	}
	expectNames(t, m, "web")
	if h.marked("old") {
		t.Error("the mark of what is gone is still there")
	}
}

// What is required by what runs is not pruned, unless that is, too.
func TestPruneLeavesWhatIsRequired(t *testing.T) {
	m := &memory{}
	h, s := deployed(t, m, "db", "web")
	s.others = map[string]systemd.Unit{"db.service": {ActiveState: "active", RequiredBy: []string{"web.service"}}, "web.service": {ActiveState: "active"}}
	os.Remove(filepath.Join(h.Paths.ContainersDir, "db.json"))
	prune := func(want string) {
		t.Helper()
		p, err := h.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := h.Prune(context.Background(), p, nil)
		if err != nil || len(outcomes) == 0 || fmt.Sprint(outcomes[0].Err) != want {
			t.Errorf("%+v, %v", outcomes, err)
		}
	}
	prune("web.service requires it and would stop, too; have it require it no more, or stop it first")
	expectNames(t, m, "db", "web")
	os.Remove(filepath.Join(h.Paths.ContainersDir, "web.json"))
	prune("<nil>")
	expectNames(t, m)
}

// A reload of one workload takes nothing away from the reload of all that a flag asks for.
func TestReloadOfOneLeavesFlags(t *testing.T) {
	h, _ := deployed(t, &memory{}, "web")
	flag := filepath.Join(h.Paths.RuntimeDir, "dirty", "containers")
	if err := errors.Join(os.MkdirAll(filepath.Dir(flag), 0o755), os.WriteFile(flag, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Reload(context.Background(), "web", false, func(Outcome) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(flag); err != nil {
		t.Error(err)
	}
	reload(t, h)
	if _, err := os.Stat(flag); err == nil {
		t.Error("the flag is still there")
	}
}

// An image that was refused does not end the following of its tag: the next one is tried, the same one is not.
func TestTagIsFollowedAfterARefusal(t *testing.T) {
	m := &memory{}
	h, _ := deployed(t, m, "web")
	follow := func(id, want string) {
		t.Helper()
		m.pulling = func(context.Context) (string, error) { return id, nil }
		p, err := h.Plan(context.Background())
		if err == nil {
			p, err = h.followTags(context.Background(), p)
		}
		if err != nil || verbs(p) != want {
			t.Errorf("%s: %v, %v, want %s", id, p.Actions, err, want)
		}
	}
	follow("bad", "web recreate")
	err := h.store().Change("web", func(w *state.Workload) error {
		p, err := h.Plan(context.Background())
		text, _ := os.ReadFile(filepath.Join(h.Paths.ContainersDir, "web.json"))
		w.Refused = &state.Refusal{Generation: p.rendered[0].Generation, Text: state.TextDigest(text)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	follow("bad", "web refused")
	follow("good", "web recreate")
}

// A start that fails is no success of the reload.
func TestStartIsWaitedFor(t *testing.T) {
	h, s := deployed(t, &memory{}, "web")
	s.startErr = errors.New("the job ended as failed")
	if err := h.do(context.Background(), s, plan.Action{Name: "web", Verb: plan.Start}); err == nil || !strings.Contains(err.Error(), "journalctl -u web") {
		t.Errorf("error: %v", err)
	}
}

// A registry that never answers is given up: everything else waits for it.
func TestPullThatHangs(t *testing.T) {
	m := &memory{missing: []string{"localhost/i:1"}}
	h := newHooks(t, m)
	m.pulling = func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", errors.New("podman: signal: killed")
	}
	synctest.Test(t, func(t *testing.T) {
		err := h.pull(context.Background(), generator.Rendered{Name: "web", Image: "localhost/i:1", Pull: "missing", Generation: genA})
		if err == nil || !strings.Contains(err.Error(), "within 1h0m0s") {
			t.Errorf("error: %v", err)
		}
	})
	if w, err := h.store().Read("web"); err != nil || w.Refused == nil || !w.Refused.Retry {
		t.Errorf("state: %+v, %v", w.Refused, err)
	}
}
