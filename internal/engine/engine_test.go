package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEndpoint(t *testing.T) {
	for _, c := range []struct {
		platform, configured string
		env                  map[string]string
		want                 string
	}{
		{"docker", "", nil, "unix:///run/docker.sock"},
		{"podman", "", nil, "unix:///run/podman/podman.sock"},
		{"docker", "", map[string]string{"CONTAINER_ENDPOINT": "/run/x.sock"}, "unix:///run/x.sock"},
		{"docker", "", map[string]string{"CONTAINER_ENDPOINT": "/run/x.sock", "DOCKER_CONTAINER_ENDPOINT": "tcp://192.0.2.1:2375"}, "tcp://192.0.2.1:2375"},
		// The variable of the other engine's is none of this one's.
		{"podman", "", map[string]string{"DOCKER_CONTAINER_ENDPOINT": "/run/docker.sock"}, "unix:///run/podman/podman.sock"},
		{"docker", "unix:///run/mine.sock", map[string]string{"DOCKER_CONTAINER_ENDPOINT": "/run/x.sock"}, "unix:///run/mine.sock"},
	} {
		got := Endpoint(c.platform, c.configured, "/run", func(name string) string { return c.env[name] })
		if got != c.want {
			t.Errorf("%s, %q, %v: %s, want %s", c.platform, c.configured, c.env, got, c.want)
		}
	}
}

func TestHealth(t *testing.T) {
	for _, c := range []struct{ state, status, want string }{
		{"running", "Up 5 minutes (healthy)", "healthy"},
		{"running", "Up 5 minutes (unhealthy)", "unhealthy"},
		{"running", "Up 2 seconds (starting)", "starting"},
		{"running", "Up 2 seconds", ""},
		{"exited", "Exited (0) 3 minutes ago", ""},
		{"exited", "Exited (0) 3 minutes ago (unhealthy)", ""}, // from when it ran
	} {
		if got := (Container{State: c.state, Status: c.status}).Health(); got != c.want {
			t.Errorf("%q: %q, want %q", c.status, got, c.want)
		}
	}
}

// A native program's record goes the way of a container: made, renamed, found by its label, removed.
func TestNative(t *testing.T) {
	n := Native{Dir: filepath.Join(t.TempDir(), "native")}
	ctx := t.Context()
	if all, err := n.Containers(ctx, "label=w=web"); err != nil || len(all) > 0 {
		t.Fatalf("of none: %v, %v", all, err)
	}
	for _, generation := range []string{"1", "2"} {
		if err := n.Create(ctx, []string{"create", "--name=web." + generation, "--label=w=web", "--label=g=" + generation}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Create(ctx, []string{"create", "--name=other", "--label=w=other"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := n.Rename(ctx, "web.2", "web"); err != nil {
		t.Fatal(err)
	}
	all, err := n.Containers(ctx, "label=w=web")
	if err != nil || len(all) != 2 || !all[1].Named("web") || all[1].Labels["g"] != "2" || all[1].State != "running" {
		t.Fatalf("%v, %v", all, err)
	}
	for range 2 { // what is gone already is no error
		if err := n.Remove(ctx, "web.1"); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := n.Containers(ctx, "label=w=web"); err != nil || len(all) != 1 {
		t.Errorf("after a removal: %v, %v", all, err)
	}
}

// A name is no beginning of an id: a container e2a4... does not make a name "e" one that is taken.
func TestExists(t *testing.T) {
	dir := t.TempDir()
	const fake = `#!/bin/sh
case "$1 $*" in
"ps "*"name=^e$"*) echo '[]' ;;
"ps "*"name=^a\\.b$"*) echo '[{"Id":"e2a4","Names":["a.b"]}]' ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "podman"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	p := Podman{Command: filepath.Join(dir, "podman")}
	if p.Exists(t.Context(), "e") {
		t.Error(`a container named "e" is there, for one with such an id`)
	}
	if !p.Exists(t.Context(), "a.b") {
		t.Error("a container is not found by its name")
	}
}

// A container decides how long its lines are, and the end of what it said is kept.
func TestLogs(t *testing.T) {
	command := filepath.Join(t.TempDir(), "podman")
	const fake = `#!/bin/sh
[ "$*" = "logs --tail 10 web" ] || exit 1
head -c 3000000 /dev/zero | tr '\0' x
echo "the end"
echo "last words" >&2
`
	if err := os.WriteFile(command, []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	lines := Podman{Command: command}.Logs(t.Context(), "web", 10)
	if len(lines) != 2 || len(lines[0]) > 3000 || !strings.HasSuffix(lines[0], "xthe end") || lines[1] != "last words" {
		t.Errorf("%d lines: %.3000q", len(lines), lines)
	}
	if lines := (Podman{Command: command}).Logs(t.Context(), "db", 10); lines != nil {
		t.Errorf("%q", lines)
	}
}

// fakeDocker knows one container, and writes down how it is called.
const fakeDocker = `#!/bin/sh
echo "$DOCKER_HOST $*" >>"$(dirname "$0")/calls"
case "$1 $2" in
"ps --all") echo 0123 ;;
"container inspect") echo '[{"Id":"0123","Image":"sha256:4","Name":"/east-skupper-router","Config":{"Labels":{"a":"b"}},"State":{"Status":"running"}}]' ;;
"rm "*) echo "Error response from daemon: No such container: x" >&2; exit 1 ;;
"rename "*) echo "Error response from daemon: it breaks" >&2; exit 1 ;;
esac
`

func TestDocker(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(fakeDocker), 0o755); err != nil {
		t.Fatal(err)
	}
	d := NewDocker("unix:///run/mine.sock")
	d.Command = filepath.Join(dir, "docker")
	all, err := d.Containers(t.Context(), "label=a=b")
	if err != nil || len(all) != 1 || !all[0].Named("east-skupper-router") || all[0].Labels["a"] != "b" || all[0].ImageID != "sha256:4" || all[0].State != "running" {
		t.Errorf("%v, %v", all, err)
	}
	if err := d.Remove(t.Context(), "x"); err != nil {
		t.Errorf("the removal of what is gone: %v", err)
	}
	if err := d.Rename(t.Context(), "x", "y"); err == nil || !strings.Contains(err.Error(), "it breaks") {
		t.Errorf("a failure: %v", err)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"unix:///run/mine.sock ps --all --no-trunc --quiet --filter label=a=b\n", " rm --volumes x\n", " rename x y\n"} {
		if !strings.Contains(string(calls), want) {
			t.Errorf("there is no call %q in\n%s", want, calls)
		}
	}
}
