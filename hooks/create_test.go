package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
	"github.com/sitelet/sitelet/internal/unit"
	"github.com/sitelet/sitelet/internal/workload"
)

const (
	genA = "aaaaaaaaaaaaaaaaaaaaaaaa"
	genB = "bbbbbbbbbbbbbbbbbbbbbbbb"
	genC = "cccccccccccccccccccccccc"
)

// newHooks returns hooks whose paths are below a directory of the test.
func newHooks(t *testing.T, m *memory) Hooks {
	t.Helper()
	p, err := paths.New(paths.System, t.TempDir(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	h := Hooks{Paths: p, Engine: m, Log: t.Logf, Now: time.Now, Poll: time.Millisecond}
	putQuadlet(t, h, fakeQuadlet)
	s := &scripted{h: &h, m: m}
	h.Systemd = func(context.Context) (Manager, error) { return s, nil }
	return h
}

// fakeQuadlet makes a command of as much as these tests need, or takes PodmanArgs= for the command. It counts its runs.
const fakeQuadlet = `#!/bin/sh
for out; do :; done
if [ "$out" = -version ]; then echo 5.4.2; exit; fi
echo run >>"$(dirname "$0")/runs"
cd "$QUADLET_UNIT_DIRS" && exec awk -v out="$out" '
FNR == 1 { unit = out "/" substr(FILENAME, 1, length(FILENAME) - 10) ".service"; bad = index(FILENAME, "broken"); service = 0; if (bad) print FILENAME ": no" }
{ value = $0; sub(/^[^=]*=/, "", value) }
bad { next }
/^ContainerName=/ { name = value }
/^Image=/ { image = value }
/^Label=io.sitelet.generation=/ {
	sub(/^io.sitelet.generation=/, "", value)
	print "[Service]\nExecStart=/usr/bin/podman run --name " name " -d --label io.sitelet.workload=" name " --label io.sitelet.generation=" value " " image >unit
}
/^PodmanArgs=/ { print "[Service]\nExecStart=" value >unit }
/^\[Service\]/ { service = 1 }
service { print >unit }
' *.container
`

func putQuadlet(t *testing.T, h Hooks, script string) {
	t.Helper()
	path := h.Paths.Below("/usr/libexec/podman/quadlet")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// runs is how often fakeQuadlet has converted files.
func runs(h Hooks) int {
	text, _ := os.ReadFile(h.Paths.Below("/usr/libexec/podman/runs"))
	return strings.Count(string(text), "run")
}

// install puts a unit of web where systemd and the generator would have it.
func install(t *testing.T, h Hooks, generation, flags, hookData string) {
	t.Helper()
	install := func(path, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	render := "render-" + generation
	commands, err := unit.Commands("/usr/bin/podman run --name web --cidfile=/run/web.cid --replace --rm --cgroups=split --sdnotify=conmon -d"+
		" --label io.sitelet.workload=web --label io.sitelet.generation="+generation+flags+" localhost/i:1 run -d --rm --env PASSWORD=x $${HOME} %%h \"\"", nil, func(byte) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(generator.QuadletPath(h.Paths, workload.Digest(render))) // another text under the same name
	var f quadlet.File
	f.Add("PodmanArgs", commands[0].Argv...)
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	install(filepath.Join(h.Paths.GeneratorDir, "web.service"), "[Unit]\nSourcePath=/etc/sitelet/containers/web.json\n[X-Sitelet]\nRender="+render+"\n")
	install(generator.CreatePath(h.Paths, workload.Digest(render)), `{"Generation":"`+generation+`","Image":"localhost/i:1","Bridge":true`+hookData+`,"Quadlet":`+string(text)+`}`)
}

func TestCreateFirst(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	install(t, h, genA, " --env DB_PASSWORD=hunter2 --env \"A=b c\" --health-cmd \"[\\\"CMD\\\",\\\"-d\\\"]\"", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	want := []string{"create", "--replace", "--name=web.aaaaaaaaaaaa", "--cgroups=split", "--sdnotify=conmon", "--label", "io.sitelet.workload=web",
		"--label", "io.sitelet.generation=" + genA, "--env", "DB_PASSWORD", "--env", "A=b c", "--health-cmd", `["CMD","-d"]`,
		"localhost/i:1", "run", "-d", "--rm", "--env", "PASSWORD=x", "${HOME}", "%h", ""}
	if !reflect.DeepEqual(m.created[0], want) {
		t.Errorf("podman got\n%q, want\n%q", m.created[0], want)
	}
	if want := []string{"DB_PASSWORD=hunter2", "PODMAN_SYSTEMD_UNIT=web.service"}; !reflect.DeepEqual(m.env[0], want) {
		t.Errorf("podman's environment got %q, want %q", m.env[0], want)
	}
	if !reflect.DeepEqual(m.networks, []string{"sitelet"}) {
		t.Errorf("networks: %q", m.networks)
	}
	expectNames(t, m, "web")
	w, err := h.store().Read("web")
	if err != nil || w.Current == nil || w.Current.Generation != genA || w.Current.Source != "/etc/sitelet/containers/web.json" || !strings.Contains(w.Current.Create, "hunter2") {
		t.Errorf("state: %+v, %v", w, err)
	}
}

// A secret whose name podman would take for its own setting is the container's only.
func TestPodmanDoesNotReadTheContainersSecrets(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	file := filepath.Join(h.dir("web"), "env")
	m.creating = func(args []string) {
		if !slices.Contains(args, "--env-file="+file) {
			t.Errorf("podman got no --env-file: %q", args)
		}
		text, err := os.ReadFile(file)
		if want := "REGISTRY_AUTH_FILE=/run/auth.json\nCONTAINERS_TOKEN=x\n"; err != nil || string(text) != want {
			t.Errorf("the file holds %q, %v", text, err)
		}
	}
	install(t, h, genA, " --env REGISTRY_AUTH_FILE=/run/auth.json --env CONTAINERS_TOKEN=x --env MY_TOKEN=y", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"MY_TOKEN=y", "PODMAN_SYSTEMD_UNIT=web.service"}; !reflect.DeepEqual(m.env[0], want) {
		t.Errorf("podman's environment got %q, want %q", m.env[0], want)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestCreateAgainDoesNothing(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	install(t, h, genA, "", "")
	for range 3 {
		if err := h.Create(context.Background(), "web"); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.created) != 1 || m.calls != 3 {
		t.Errorf("%d containers made in %d calls; want one, in a network, a creation and a renaming", len(m.created), m.calls)
	}
}

func TestCreateKeepsTheLastAndRemovesThoseBefore(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	for _, generation := range []string{genA, genB} {
		install(t, h, generation, "", "")
		if err := h.Create(context.Background(), "web"); err != nil {
			t.Fatal(err)
		}
		m.containers[len(m.containers)-1].State = "running"
	}
	expectNames(t, m, "web", "web.aaaaaaaaaaaa")
	m.containers[0].State = "exited"
	install(t, h, genC, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	expectNames(t, m, "web", "web.bbbbbbbbbbbb")
	// Back to a generation that is still there: its own container is taken.
	install(t, h, genB, "", "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if len(m.created) != 3 {
		t.Errorf("%d containers were made, want 3", len(m.created))
	}
	expectNames(t, m, "web", "web.cccccccccccc")
}

func TestCreateRefusesAnothersContainer(t *testing.T) {
	m := &memory{containers: []engine.Container{{ID: "x", Names: []string{"web"}}}}
	h := newHooks(t, m)
	install(t, h, genA, "", "")
	err := h.Create(context.Background(), "web")
	if err == nil || !strings.Contains(err.Error(), "did not make") {
		t.Errorf("error: %v", err)
	}
	if m.calls != 0 {
		t.Errorf("%d calls had an effect", m.calls)
	}
}

// Whatever call fails, before or after its effect, the next run ends with one container of that name and of the new generation,
// and the old one kept.
// A registry that never comes to an end keeps no older version from running for long.
func TestCreateTakesTooLong(t *testing.T) {
	defer func(d time.Duration) { createTime = d }(createTime)
	m := &memory{}
	h, _ := operated(t, m, systemd.Unit{})
	createTime = 10 * time.Millisecond
	m.creating = func([]string) { time.Sleep(2 * createTime) }
	err := h.Create(t.Context(), "web")
	if !errors.Is(err, errNoCandidate) || !strings.Contains(err.Error(), "it was not made within 10ms") {
		t.Error(err)
	}
	expectNames(t, m, "web")
	if w, err := h.store().Read("web"); err != nil || w.Refused == nil || w.Refused.Generation != genB || !w.Refused.Retry || !h.marked("web") {
		t.Errorf("%+v, %v", w.Refused, err)
	}
}

func TestCreateCutAnywhere(t *testing.T) {
	for _, after := range []bool{false, true} {
		for failAt := 1; ; failAt++ {
			m := &memory{}
			h := newHooks(t, m)
			install(t, h, genA, "", "")
			if err := h.Create(context.Background(), "web"); err != nil {
				t.Fatal(err)
			}
			install(t, h, genB, "", "")
			m.calls, m.failAt, m.afterEffect = 0, failAt, after
			err := h.Create(context.Background(), "web")
			if err == nil {
				break // there are no more calls
			}
			if !errors.Is(err, errCut) {
				t.Fatalf("cut at call %d: %v", failAt, err)
			}
			m.failAt = 0
			if err := h.Create(context.Background(), "web"); err != nil {
				t.Fatalf("cut at call %d, then: %v", failAt, err)
			}
			expectNames(t, m, "web", "web.aaaaaaaaaaaa")
			i := m.index("web")
			if got := m.containers[i].Labels[generator.LabelGeneration]; got != genB {
				t.Errorf("cut at call %d: web is of generation %s", failAt, got)
			}
			if len(m.created) != 2 {
				t.Errorf("cut at call %d: %d containers were made", failAt, len(m.created))
			}
		}
	}
}

func expectNames(t *testing.T, m *memory, want ...string) {
	t.Helper()
	var names []string
	for _, c := range m.containers {
		names = append(names, c.Names[0])
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("containers %q, want %q", names, want)
	}
}

func TestPasswordsOfKeysStayOutOfTheCommand(t *testing.T) {
	m := &memory{}
	h := newHooks(t, m)
	install(t, h, genA, "", `,"Keys":[{"Path":"/keys/a.pem","Password":"se:cret"},{"Path":"/keys/b.pem"}]`)
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(h.dir("web"), "keys", "0")
	for _, want := range []string{"--decryption-key=/keys/a.pem:file=" + file, "--decryption-key=/keys/b.pem"} {
		if !slices.Contains(m.created[0], want) {
			t.Errorf("no %s in %q", want, m.created[0])
		}
	}
	if strings.Contains(strings.Join(m.created[0], " "), "se:cret") {
		t.Error("the password is in the command")
	}
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("the password's file is still there: %v", err)
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
