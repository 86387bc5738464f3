package hooks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
	"github.com/sitelet/sitelet/internal/workload"
)

// knownUnits is a systemd in which units have these states, and which counts how often it is asked for them.
type knownUnits struct {
	scripted
	states map[string]string
	asked  int
	err    error
}

func (k *knownUnits) States(context.Context, []string) (map[string]string, error) {
	k.asked++
	return k.states, k.err
}

// countingEngine is an engine in memory that counts how often it is asked for containers.
type countingEngine struct {
	*memory
	asked int
	err   error
}

func (c *countingEngine) Containers(ctx context.Context, filter string) ([]engine.Container, error) {
	c.asked++
	all, _ := c.memory.Containers(ctx, filter)
	return all, c.err
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// know has the state know a workload that runs a generation, which came at noon.
func know(t *testing.T, h Hooks, name, generation string) {
	t.Helper()
	err := h.store().Write(state.Workload{Name: name,
		Current: &state.Version{Generation: workload.Digest(generation), Render: "r", Unit: "u", Create: "c", Source: "/" + name + ".json",
			Inputs: []workload.Input{{Field: "image.name", Value: "localhost/" + name + ":1"}}},
		History: []state.Event{{At: noon, Generation: workload.Digest(generation), Result: "created"}, {At: noon, Generation: genC, Result: "refused"}}})
	if err != nil {
		t.Fatal(err)
	}
}

func container(name, workload, generation, status string, created int64) engine.Container {
	return engine.Container{ID: name, Names: []string{name}, State: "running", Status: status, Created: created,
		Labels: map[string]string{generator.LabelWorkload: workload, generator.LabelGeneration: generation}}
}

func TestStatus(t *testing.T) {
	h := newHooks(t, &memory{})
	m := &countingEngine{memory: &memory{containers: []engine.Container{
		container("web", "web", genA, "Up 5 minutes (healthy)", noon.Add(time.Hour).Unix()),
		container("web.cccccccccccc", "web", genC, "Up 5 minutes (unhealthy)", 1),
		container("db", "db", genB, "Up 2 seconds (starting)", 1), // of another generation than the state's
		container("plain", "other", genA, "Up 2 seconds (healthy)", 1),
	}}}
	units := &knownUnits{states: map[string]string{"web.service": "active", "db.service": "activating", "plain.service": "failed"}}
	h.Engine, h.Systemd = m, func(context.Context) (Manager, error) { return units, nil }
	for _, name := range []string{"web", "db", "plain"} {
		know(t, h, name, genA)
	}
	s, err := h.Status(t.Context(), "")
	if err != nil || s.Unknown != nil {
		t.Fatal(err, s.Unknown)
	}
	var got []string
	for _, w := range s.Workloads {
		got = append(got, fmt.Sprintln(w.Kind(), w.Called(), w.State, w.Health, w.Source, w.Image, w.Platform, w.Verb, w.Created.UTC().Format(time.TimeOnly)))
	}
	want := []string{
		"container db activating starting /db.json localhost/db:1 podman orphaned 12:00:00\n",
		"container plain failed  /plain.json localhost/plain:1 podman orphaned 12:00:00\n",
		"container web active healthy /web.json localhost/web:1 podman orphaned 13:00:00\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if units.asked != 1 || m.asked != 1 {
		t.Errorf("systemd was asked %d times for states, Podman %d times for containers", units.asked, m.asked)
	}
	if s, err := h.Status(t.Context(), "db"); err != nil || len(s.Workloads) != 1 || s.Workloads[0].Name != "db" {
		t.Errorf("of one: %+v, %v", s.Workloads, err)
	}
	if s, err := h.Status(t.Context(), "none"); err != nil || s.Workloads != nil {
		t.Errorf("of none: %+v, %v", s.Workloads, err)
	}
}

// What cannot be asked is left out, and said.
func TestStatusUnknown(t *testing.T) {
	h := newHooks(t, &memory{})
	h.Engine = &countingEngine{memory: &memory{}, err: errors.New("no podman")}
	h.Systemd = func(context.Context) (Manager, error) { return nil, errors.New("no bus") }
	know(t, h, "web", genA)
	s, err := h.Status(t.Context(), "")
	if err != nil || len(s.Workloads) != 1 || s.Workloads[0].State != "" || s.Workloads[0].Health != "" || !s.Workloads[0].Created.Equal(noon) {
		t.Fatalf("%+v, %v", s.Workloads, err)
	}
	if want := "[the state of units is not known: no bus the health of containers is not known: no podman]"; fmt.Sprint(s.Unknown) != want {
		t.Errorf("%v", s.Unknown)
	}
}

func TestDetail(t *testing.T) {
	for _, c := range []struct {
		unit systemd.Unit
		why  string
	}{
		{systemd.Unit{ActiveState: "active", Result: "success", Since: noon}, ""},
		{systemd.Unit{ActiveState: "inactive"}, ""},
		{systemd.Unit{ActiveState: "activating", Result: "success"}, ""},
		{systemd.Unit{ActiveState: "failed", Result: "exit-code", ExitStatus: 7}, "it ended with exit status 7"},
		{systemd.Unit{ActiveState: "activating", Result: "exit-code", ExitStatus: 7}, "it ended with exit status 7"}, // a restart is due
	} {
		h := newHooks(t, &memory{})
		h.Systemd = func(context.Context) (Manager, error) { return &scripted{unit: c.unit}, nil }
		w := WorkloadStatus{Action: plan.Action{Name: "web"}}
		if err := h.Detail(t.Context(), &w); err != nil {
			t.Fatal(err)
		}
		if w.State != c.unit.ActiveState || w.Since != c.unit.Since || w.Failure != c.why || (len(w.Output) > 0) != (c.why != "") || (len(w.Journal) > 0) != (c.why != "") {
			t.Errorf("%+v: %+v", c.unit, w)
		}
	}
}

// A router is healthy when it answers, and asked only when it runs.
func TestStatusOfSites(t *testing.T) {
	l := liveSite(t)
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	r := l.start(t)
	units := &knownUnits{states: map[string]string{"skupper-ns1.service": "active"}}
	l.Systemd = func(context.Context) (Manager, error) { return units, nil }
	look := func() WorkloadStatus {
		t.Helper()
		s, err := l.Status(t.Context(), "ns1")
		if err != nil || s.Unknown != nil || len(s.Workloads) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		return s.Workloads[0]
	}
	w := look()
	if w.Kind() != "site" || w.Called() != "ns1" || w.Name != "skupper-ns1" || w.Platform != "linux" || w.Image != "" || w.Health != "healthy" || !w.Router.Answers {
		t.Errorf("one that answers: %+v", w)
	}
	ends, err := l.CertificateEnds()
	if err != nil || !slices.ContainsFunc(ends, func(e CertificateEnd) bool {
		return e.Name == "issuers/skupper-site-ca" && e.Namespace == "ns1" && e.At.After(noon)
	}) {
		t.Errorf("%v, %v", ends, err)
	}
	r.Close()
	if w := look(); w.Health != "unhealthy" || w.Router.Answers || !strings.Contains(w.Router.Why, "does not answer") {
		t.Errorf("one that does not: %+v", w)
	}
	for state, want := range map[string][]string{"activating": {"starting", "it is starting"}, "inactive": {"", "it does not run"}, "": {"", "it is not known whether it runs"}} {
		units.states["skupper-ns1.service"] = state
		begin := time.Now()
		if w := look(); !reflect.DeepEqual([]string{w.Health, w.Router.Why}, want) || time.Since(begin) > lookTime {
			t.Errorf("%q: %+v", state, w)
		}
	}
}
