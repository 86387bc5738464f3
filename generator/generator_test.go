package generator

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/state"
)

// host is a root directory.
type host struct {
	t     *testing.T
	paths paths.Paths
	log   []string
}

func newHost(t *testing.T) *host {
	t.Helper()
	p, err := paths.New(paths.System, t.TempDir(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return &host{t: t, paths: p}
}

func (h *host) write(path, text string) {
	h.t.Helper()
	path = h.paths.Below(path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) descriptor(name string) {
	h.t.Helper()
	h.write("/etc/sitelet/containers/"+name+".json", `{"container_name":"`+name+`","image":{"name":"localhost/i:1"},"config":{"env":["PASSWORD=hunter2"]}}`)
}

// run runs the generator as a daemon-reload does, and returns the units that it wrote.
func (h *host) run() []string {
	h.t.Helper()
	if err := errors.Join(os.RemoveAll(h.paths.GeneratorDir), os.MkdirAll(h.paths.GeneratorDir, 0o755)); err != nil {
		h.t.Fatal(err)
	}
	return h.runInto(h.paths.GeneratorDir)
}

func (h *host) runInto(dir string) []string {
	h.t.Helper()
	h.log = nil
	if err := Run(h.paths, dir, func(_ diag.Severity, text string) { h.log = append(h.log, text) }); err != nil {
		h.t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.service"))
	if err != nil {
		h.t.Fatal(err)
	}
	var names []string
	for _, path := range found {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".service"))
	}
	return names
}

func (h *host) unit(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.paths.GeneratorDir, name+".service"))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// remember puts the unit of now into the state, as the create hook does.
func (h *host) remember(name string) {
	h.t.Helper()
	for _, u := range ReadManifest(h.paths).Units {
		if u.Name != name {
			continue
		}
		create, err := os.ReadFile(CreatePath(h.paths, u.Render))
		if err != nil {
			h.t.Fatal(err)
		}
		w := state.Workload{Name: name, Current: &state.Version{Generation: "g", Render: u.Render, Wanted: u.Wanted, Unit: h.unit(name), Create: string(create)}}
		if err := (state.Store{Dir: h.paths.StateDir}).Write(w); err != nil {
			h.t.Fatal(err)
		}
		return
	}
	h.t.Fatalf("there is no unit of %s", name)
}

func (h *host) expect(got []string, want ...string) {
	h.t.Helper()
	if !slices.Equal(got, want) {
		h.t.Errorf("units %q, want %q; log: %q", got, want, h.log)
	}
}

func (h *host) expectLog(part string) {
	h.t.Helper()
	if !strings.Contains(strings.Join(h.log, "\n"), part) {
		h.t.Errorf("the log does not say %q: %q", part, h.log)
	}
}

func TestUnitHoldsNoSecretAndAllElse(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.expect(h.run(), "web")
	unit := h.unit("web")
	for _, part := range []string{"hunter2", "podman run", "localhost/i:1"} {
		if strings.Contains(unit, part) {
			t.Errorf("the unit, which everyone may read, holds %q:\n%s", part, unit)
		}
	}
	for _, line := range []string{"Type=notify\n", "Wants=sitelet-create@web.service\n", "Description=Container web\n",
		"ExecStart=podman start --filter label=io.sitelet.generation=",
		"SourcePath=" + h.paths.ContainersDir + "/web.json\n"} {
		if !strings.Contains(unit, "\n"+line) {
			t.Errorf("the unit has no line %q:\n%s", line, unit)
		}
	}
	m := ReadManifest(h.paths)
	info, err := os.Stat(CreatePath(h.paths, m.Units[0].Render))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private text: %v, %v; want mode 0600", info.Mode(), err)
	}
	wants, err := os.ReadFile(filepath.Join(h.paths.GeneratorDir, "multi-user.target.d/50-sitelet.conf"))
	if err != nil || !strings.Contains(string(wants), "\nWants=web.service\n") {
		t.Errorf("%s, %v", wants, err)
	}
}

// A text that is in the cache is not written again, and a run that repeats the last one does not look into it.
func TestNothingIsDoneTwice(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.descriptor("db")
	h.expect(h.run(), "db", "web")
	for _, u := range ReadManifest(h.paths).Units {
		if u.Name == "web" {
			for _, path := range []string{unitPath(h.paths, u.Render), CreatePath(h.paths, u.Render)} {
				if err := os.WriteFile(path, []byte("kept\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	h.expect(h.run(), "db", "web")
	h.descriptor("third")
	h.expect(h.run(), "db", "third", "web")
	if h.unit("web") != "kept\n" {
		t.Errorf("the unit was made again:\n%s", h.unit("web"))
	}
}

// Whatever Podman there is, or none, the text stays the same.
func TestPodmanIsNotAsked(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.run()
	before := h.unit("web")
	h.write("/usr/libexec/podman/quadlet", "#!/bin/sh\ntouch "+h.paths.Root+"/asked\n")
	os.Chmod(h.paths.Below("/usr/libexec/podman/quadlet"), 0o755)
	os.RemoveAll(h.paths.RuntimeDir)
	h.expect(h.run(), "web")
	if _, err := os.Stat(h.paths.Below("/asked")); err == nil || h.unit("web") != before {
		t.Errorf("quadlet was run, or the unit changed to\n%s", h.unit("web"))
	}
}

func TestRunTwiceIntoOneDirectory(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.run()
	for range 2 {
		h.expect(h.runInto(h.paths.GeneratorDir), "web")
	}
}

func TestEmptiedCacheIsFilledAgain(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.run()
	if err := os.RemoveAll(cacheDir(h.paths)); err != nil {
		t.Fatal(err)
	}
	h.expect(h.run(), "web")
}

func TestOldRenderingsAreSweptUp(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.descriptor("db")
	h.run()
	os.Remove(h.paths.ContainersDir + "/db.json")
	h.expect(h.run(), "web")
	left, _ := filepath.Glob(filepath.Join(cacheDir(h.paths), "*.service"))
	if len(left) != 1 {
		t.Errorf("the cache holds %q", left)
	}
}

func TestBadFileLeavesTheOthers(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.write("/etc/sitelet/containers/bad.json", "{\n  \"container_name\": 7\n}")
	h.expect(h.run(), "web")
	h.expectLog("bad.json:2:21: container_name: ")
	// A run that repeats the last one repeats what it said.
	h.run()
	h.expectLog("bad.json:2:21: container_name: ")
}

func TestWhatRunsKeepsItsUnit(t *testing.T) {
	for name, spoil := range map[string]func(h *host){
		"bad file": func(h *host) { h.write("/etc/sitelet/containers/web.json", "{") },
		"deleted":  func(h *host) { os.Remove(h.paths.ContainersDir + "/web.json") },
		"two files": func(h *host) {
			h.write("/etc/sitelet/containers/web2.json", `{"container_name":"web","image":{"name":"localhost/i:2"}}`)
		},
		"mode off":    func(h *host) { h.write("/etc/sitelet/sitelet.toml", "mode = \"off\"\n") },
		"bad mode":    func(h *host) { h.write("/etc/sitelet/sitelet.toml", "mode = \"of\"\n") },
		"other owner": func(h *host) { os.Chmod(h.paths.ContainersDir+"/web.json", 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.descriptor("web")
			h.run()
			before := h.unit("web")
			h.remember("web")
			spoil(h)
			h.expect(h.run(), "web")
			if h.unit("web") != before {
				t.Errorf("the unit is now\n%s", h.unit("web"))
			}
			// A reboot empties the runtime directory.
			os.RemoveAll(h.paths.RuntimeDir)
			h.expect(h.run(), "web")
			if h.unit("web") != before {
				t.Errorf("after a reboot the unit is\n%s", h.unit("web"))
			}
		})
	}
}

func TestInitModeDeploysOnce(t *testing.T) {
	h := newHost(t)
	h.write("/etc/sitelet/sitelet.toml", "mode = \"init\"\n")
	h.descriptor("web")
	h.expect(h.run(), "web")
	h.remember("web")
	before := h.unit("web")
	h.write("/etc/sitelet/containers/web.json", `{"container_name":"web","image":{"name":"localhost/i:2"}}`)
	h.descriptor("db")
	h.expect(h.run(), "db", "web")
	if h.unit("web") != before {
		t.Error("a change was made in mode init")
	}
}

// What no Podman can be told is refused, and takes nothing else with it.
func TestUnwritable(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	long := strings.Repeat("x", 140_000)
	h.write("/etc/sitelet/containers/long.json", `{"container_name":"long","image":{"name":"localhost/i:1"},"config":{"cmd":["`+long+`"]}}`)
	h.expect(h.run(), "web")
	h.expectLog("it is longer than the 128 KiB")
}

func TestTakenNames(t *testing.T) {
	h := newHost(t)
	for _, name := range []string{"sshd", "data", "app", "masked", "web"} {
		h.descriptor(name)
	}
	h.write("/usr/lib/systemd/system/sshd.service", "[Service]\n")
	h.write("/etc/containers/systemd/sub/app.container", "[Container]\n")
	h.write("/etc/containers/systemd/data.volume", "[Volume]\n") // data-volume.service
	os.MkdirAll(h.paths.Below("/etc/systemd/system"), 0o755)
	if err := os.Symlink("/dev/null", h.paths.Below("/etc/systemd/system/masked.service")); err != nil {
		t.Fatal(err)
	}
	h.expect(h.run(), "data", "masked", "web")
	h.expectLog("/usr/lib/systemd/system/sshd.service")
	h.expectLog("/etc/containers/systemd/sub/app.container")
}

// Quadlet would write into the cache, through the link in systemd's directory.
func TestQuadletFileTakesTheName(t *testing.T) {
	h := newHost(t)
	h.descriptor("web")
	h.run()
	h.remember("web")
	before := h.unit("web")
	h.write("/etc/containers/systemd/web.container", "[Container]\n")
	h.expect(h.run())
	h.expectLog("/etc/containers/systemd/web.container: warning: takes the place of the unit of the container web")
	os.Remove(h.paths.Below("/etc/containers/systemd/web.container"))
	h.expect(h.run(), "web")
	if h.unit("web") != before {
		t.Errorf("the unit is now\n%s", h.unit("web"))
	}
}

func TestNoDescriptors(t *testing.T) {
	h := newHost(t)
	h.expect(h.run())
	if len(h.log) > 0 {
		t.Errorf("log: %q", h.log)
	}
}

func TestBroken(t *testing.T) {
	known := []state.Workload{{Name: "web", Current: &state.Version{Source: ""}}}
	for name, c := range map[string]struct {
		do   func(h *host)
		want []string
	}{
		"good":      {func(*host) {}, nil},
		"bad":       {func(h *host) { h.write("/etc/sitelet/containers/web.json", "{") }, []string{"web"}},
		"untrusted": {func(h *host) { os.Chmod(h.paths.ContainersDir+"/web.json", 0o666) }, []string{"web"}},
		"directory": {func(h *host) { os.Chmod(h.paths.ContainersDir, 0o777) }, []string{"web"}},
		"deleted":   {func(h *host) { os.Remove(h.paths.ContainersDir + "/web.json") }, nil},
		"other name": {func(h *host) {
			h.write("/etc/sitelet/containers/web.json", `{"container_name":"new","image":{"name":"localhost/i:1"}}`)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.descriptor("web")
			known[0].Current.Source = h.paths.ContainersDir + "/web.json"
			c.do(h)
			in := Load(h.paths)
			rendered, _ := in.Render(known)
			if got := Broken(in, rendered, known); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q; findings: %v", got, c.want, in.Found)
			}
		})
	}
}
