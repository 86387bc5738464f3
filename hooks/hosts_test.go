package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/engine"
)

// lookup installs web with two hosts to look up, and a running container db that one of them means.
func lookup(t *testing.T) (Hooks, *memory) {
	t.Helper()
	m := &memory{
		containers: []engine.Container{{ID: "db1", Names: []string{"db"}, State: "running", Labels: map[string]string{"io.sitelet.host": "db-host"}}},
		addresses:  map[string][]string{"db1": {"10.89.0.7"}},
		hostsFiles: map[string]string{},
	}
	h := newHooks(t, m)
	install(t, h, genA, "", `,"Lookup":[{"Name":"store","Kind":3,"Value":"db-host"},{"Name":"gone","Kind":3,"Value":"other-host"}]`)
	etc := h.Paths.Below("/etc")
	if err := errors.Join(os.MkdirAll(etc, 0o755), os.WriteFile(filepath.Join(etc, "hosts"), []byte("127.0.0.1 localhost\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return h, m
}

func TestPrepareWritesLookedUpHosts(t *testing.T) {
	h, _ := lookup(t)
	if err := h.Prepare(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	expectFile(t, filepath.Join(h.dir("web"), "hosts"), "10.89.0.7\tstore\n127.0.0.1 localhost\n")
	expectFile(t, filepath.Join(h.dir("web"), "containers.conf"), "[containers]\nbase_hosts_file = \""+filepath.Join(h.dir("web"), "hosts")+"\"\n")
}

func TestRefreshRewritesTheRunningContainersHosts(t *testing.T) {
	h, m := lookup(t)
	if err := h.Prepare(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hosts")
	m.hostsFiles["web"] = file
	os.WriteFile(file, []byte("10.89.0.7\tstore\n127.0.0.1\tlocalhost\n10.89.0.9\tweb-host web\n"), 0o644)
	before, _ := os.Stat(file)
	m.addresses["db1"] = []string{"10.89.0.8"}
	if err := h.RefreshHosts(context.Background(), "web", "never-started"); err != nil {
		t.Fatal(err)
	}
	expectFile(t, file, "10.89.0.8\tstore\n127.0.0.1\tlocalhost\n10.89.0.9\tweb-host web\n")
	if after, _ := os.Stat(file); !os.SameFile(before, after) {
		t.Error("the file was replaced: a container that has it mounted sees the old one")
	}
}

func TestInterfaceThatIsNotThere(t *testing.T) {
	h, _ := lookup(t)
	install(t, h, genA, "", `,"Lookup":[{"Name":"up","Kind":2,"Value":"no-such-if0"}]`)
	err := h.Prepare(context.Background(), "web")
	if err == nil || !strings.Contains(err.Error(), "no network interface no-such-if0") {
		t.Errorf("error: %v", err)
	}
}

func TestPrepareWritesHooks(t *testing.T) {
	h, _ := lookup(t)
	install(t, h, genA, "", `,"Hooks":[{"Path":"/bin/a","Args":["a","%h"],"Env":["X=1"],"Timeout":5,"Stage":"prestart"},{"Path":"/bin/b","Stage":"poststop"}]`)
	if err := h.Prepare(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(h.dir("web"), "hooks.d")
	expectFile(t, filepath.Join(h.dir("web"), "containers.conf"), "[engine]\nhooks_dir = [\""+dir+"\", {append=true}]\n")
	expectFile(t, filepath.Join(dir, "000-prestart.json"), `{
	"version": "1.0.0",
	"hook": {
		"path": "/bin/a",
		"args": [
			"a",
			"%h"
		],
		"env": [
			"X=1"
		],
		"timeout": 5
	},
	"when": {
		"always": true
	},
	"stages": [
		"prestart"
	]
}
`)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d hooks, %v", len(entries), err)
	}
}

func TestReplaceLookups(t *testing.T) {
	lookups := []descriptor.Host{{Name: "a"}, {Name: "b"}}
	got := string(replaceLookups([]byte("1.1.1.1\ta\n127.0.0.1 localhost a b\n"), []byte("3.3.3.3\tb\n127.0.0.1 localhost\n"), lookups))
	if want := "3.3.3.3\tb\n127.0.0.1 localhost a b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func expectFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds\n%s\nwant\n%s", path, got, want)
	}
}
