package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/plan"
)

// describe writes descriptors.
func describe(t *testing.T, h Hooks, names ...string) {
	t.Helper()
	for _, name := range names {
		text := fmt.Sprintf(`{"container_name":%q,"image":{"name":"localhost/i:1"},"config":{"env":["NAME=%s"]}}`, name, name)
		path := filepath.Join(h.Paths.ContainersDir, name+".json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func runGenerator(t *testing.T, h Hooks) {
	t.Helper()
	if err := os.MkdirAll(h.Paths.GeneratorDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := generator.Run(h.Paths, h.Paths.GeneratorDir, func(_ diag.Severity, text string) { t.Log(text) }); err != nil {
		t.Fatal(err)
	}
}

func verbs(p Planned) string {
	var all []string
	for _, a := range p.Actions {
		all = append(all, a.Name+" "+string(a.Verb))
	}
	return strings.Join(all, ", ")
}

// A plan has one run of quadlet for all that is new, the containers are made from what that gave, and what quadlet refuses stops
// nothing else.
func TestConvertOnceForAll(t *testing.T) {
	h := newHooks(t, &memory{})
	describe(t, h, "a", "b", "c")
	p, err := h.Plan(context.Background())
	if err != nil || verbs(p) != "a create, b create, c create" || len(p.Found) > 0 || runs(h) != 1 {
		t.Fatalf("%v, %s, found %v, %d runs", err, verbs(p), p.Found, runs(h))
	}
	runGenerator(t, h)
	for _, name := range []string{"a", "b", "c"} {
		if err := h.Create(context.Background(), name); err != nil {
			t.Fatal(err)
		}
	}
	if runs(h) != 1 {
		t.Errorf("%d runs, want one for the plan and none for the containers", runs(h))
	}
	if left, _ := filepath.Glob(h.Paths.RuntimeDir + "/cache/*.quadlet"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}

	describe(t, h, "broken", "d")
	p, err = h.Plan(context.Background())
	if err != nil || verbs(p) != "a none, b none, broken refused, c none, d create" {
		t.Fatalf("%v, %s", err, verbs(p))
	}
	if len(p.Found) != 1 || !strings.HasSuffix(p.Found[0].File, "/broken.json") || !strings.Contains(p.Found[0].Message, "refuses it: broken.container: no") {
		t.Errorf("found: %v", p.Found)
	}
}

// Another Podman makes other commands, and no other units.
func TestPodmanUpdate(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	describe(t, h, "a", "b")
	h.Plan(context.Background())
	runGenerator(t, h)
	if err := h.Create(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	putQuadlet(t, h, strings.Replace(fakeQuadlet, " -d ", " -d --new ", 1)+"# newer")
	if p, err := h.Plan(context.Background()); err != nil || verbs(p) != "a none, b create" {
		t.Errorf("%v, %s", err, verbs(p))
	}
	if err := h.Create(context.Background(), "b"); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(m.created[0], "--new") || !slices.Contains(m.created[1], "--new") {
		t.Errorf("created: %q", m.created)
	}
}

// Without a Podman that can be used, what would need a new container is refused before anything is touched, for as long as that is
// so; what runs keeps its unit and its container.
func TestNoPodman(t *testing.T) {
	old := strings.Replace(fakeQuadlet, "5.4.2", "4.8.3", 1)
	for name, c := range map[string]struct {
		spoil func(h Hooks)
		want  string
	}{
		"missing": {func(h Hooks) { os.Remove(h.Paths.Below("/usr/libexec/podman/quadlet")) }, "there is no quadlet in /usr/local/libexec/podman, /usr/local/lib/podman, /usr/libexec/podman, /usr/lib/podman. No container can be made until then. Install Podman 4.9 or newer"},
		"old":     {func(h Hooks) { putQuadlet(t, h, old) }, "version 4.8.3 of Podman is older than 4.9.0"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{}
			h := newHooks(t, m)
			manager, _ := h.Systemd(context.Background())
			s := manager.(*scripted)
			s.h = &h
			s.reloads = func() { runGenerator(t, h) }
			describe(t, h, "web")
			runGenerator(t, h)
			if err := h.Create(context.Background(), "web"); err != nil {
				t.Fatal(err)
			}
			unit := func() string {
				text, _ := os.ReadFile(h.Paths.GeneratorDir + "/web.service")
				return string(text)
			}
			before := unit()
			c.spoil(h)
			path := filepath.Join(h.Paths.ContainersDir, "web.json")
			if err := os.WriteFile(path, []byte(`{"container_name":"web","image":{"name":"localhost/i:2"}}`), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := h.Plan(context.Background())
			if err != nil || verbs(p) != "web refused" || len(p.Found) != 0 || len(p.Host) != 1 || !strings.Contains(p.Host[0].String(), c.want) || p.Actions[0].Note != "there is no Podman that can be used; see `sitelet doctor`" {
				t.Fatalf("%v, %v, found %v", err, p.Actions, p.Findings())
			}
			for range 2 {
				if outcomes, err := h.Reload(context.Background(), "", false, func(Outcome) {}); err != nil || len(outcomes) > 0 {
					t.Errorf("%v, %v", outcomes, err)
				}
			}
			if unit() != before || len(m.created) != 1 || len(m.removed) > 0 {
				t.Errorf("created %q, removed %q, unit\n%s", m.created, m.removed, unit())
			}
			putQuadlet(t, h, fakeQuadlet)
			if p, err = h.Plan(context.Background()); err != nil || p.Actions[0].Verb != plan.Recreate {
				t.Errorf("with a Podman: %v, %v", p.Actions, err)
			}
		})
	}
}

// A boot finds out only in the create hook: as with any container that cannot be made, the version before stays, and the new one is
// tried again.
func TestCreateWithoutPodman(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	install(t, h, genA, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	install(t, h, genB, "", "")
	os.Remove(h.Paths.Below("/usr/libexec/podman/quadlet"))
	err := h.Create(context.Background(), "web")
	if !errors.Is(err, errNoCandidate) || !strings.Contains(err.Error(), "install Podman 4.9 or newer") {
		t.Errorf("error: %v", err)
	}
	if w, _ := h.store().Read("web"); w.Refused == nil || !w.Refused.Retry || w.Current.Generation != genA {
		t.Errorf("state: %+v, refused %+v", w, w.Refused)
	}
	expectNames(t, m, "web")
}

func TestUnreadablePrivateText(t *testing.T) {
	h := newHooks(t, &memory{})
	for _, text := range []string{"[X-Sitelet]\nHook={}\n", "{", `{"Quadlet":[["Image"],[]]}`, `{"Generation":"` + genA + `"}`} {
		install(t, h, genA, "", "")
		if err := os.WriteFile(generator.CreatePath(h.Paths, "render-"+genA), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.Create(context.Background(), "web"); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
