package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// hostname waits until the container of a workload that runs has that name.
func hostname(m *machine.T, name, want string) {
	m.Eventually(30*time.Second, func() error {
		if got, err := m.Exec("podman", "exec", name, "hostname"); err != nil || got != want+"\n" {
			return fmt.Errorf("the host name of %s is %q, %v", name, got, err)
		}
		return nil
	})
}

// A version that is stopped in its trial, and ends well, has not passed; what its file says by the next start takes its place.
func TestStopAmidTrial(t *testing.T) {
	m := newMachine(t)
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"10s\"\n", 0o644)
	deploy(m, "web", forever, "")
	m.Must("sitelet", "reload")
	first := containerID(m, "web")
	deploy(m, "web", forever, `, "host_name": "b"`)
	m.Shell("sitelet reload >/root/reload 2>&1 &")
	hostname(m, "web", "b")
	m.Eventually(30*time.Second, func() error {
		if state := property(m, "sitelet-trial@web.service", "ActiveState"); state != "activating" {
			return fmt.Errorf("the trial is %s", state)
		}
		return nil
	})
	m.Must("systemctl", "stop", "web")
	m.Eventually(30*time.Second, func() error {
		_, err := m.Exec("sh", "-c", "! systemctl is-active sitelet-trial@web && ! pgrep -x sitelet")
		return err
	})
	if out := m.Must("sitelet", "history", "web"); strings.Contains(out, "updated") || strings.Contains(out, "refused") {
		t.Errorf("the history:\n%s\n%s", out, m.ReadFile("/root/reload"))
	}
	deploy(m, "web", forever, `, "host_name": "c"`)
	m.Must("sitelet", "reload")
	expectActive(t, m, "web", "inactive")
	if names := containerNames(m); !strings.Contains(names, "web web.") || strings.Count(names, "web") != 2 {
		t.Errorf("containers: %s", names)
	}
	m.Must("podman", "container", "exists", first)
	m.Must("systemctl", "start", "web")
	hostname(m, "web", "c")
}

// A one-shot that is over at once has done its work, the first time and as another version.
func TestOneShot(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	const once = `, "host_config": {"restart_policy": {"type": "no"}}`
	deploy(m, "job", `["true"]`, once)
	expect(t, "the first reload", m.Must("sitelet", "reload"), "job: create done\n")
	deploy(m, "job", `["sh", "-c", "exit 0"]`, once)
	expect(t, "the second reload", m.Must("sitelet", "reload"), "job: recreate done\n")
	expect(t, "the containers", containerNames(m), "job")
	if out, err := m.Exec("sitelet", "plan"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What requires what requires a version that failed runs again; and what changes together with what it requires is started once.
func TestChainOfRequirements(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	m.WriteFile("/srv/runs", "", 0o666)
	user := func(more string) {
		m.WriteFile(descriptors+"user.json", shell("user", "echo >>/runs; trap 'exit 0' TERM; sleep infinity & wait", mounts("/srv/runs", "/runs"),
			`"sitelet": {"requires": ["web"]}`+more), 0o600)
	}
	deploy(m, "web", forever, "")
	user("")
	deploy(m, "far", forever, `, "sitelet": {"requires": ["user"]}`)
	m.Must("sitelet", "reload")
	deploy(m, "web", `["sh", "-c", "exit 3"]`, "")
	if out, err := m.Exec("sitelet", "reload"); err == nil {
		t.Errorf("a bad version was taken up: %s", out)
	}
	for _, name := range []string{"web", "user", "far"} {
		expectActive(t, m, name, "active")
	}
	runs := strings.Count(m.ReadFile("/srv/runs"), "\n")
	deploy(m, "web", forever, `, "host_name": "new"`)
	user(`, "host_name": "new"`)
	m.Must("sitelet", "reload")
	expect(t, "the starts of user", strings.Count(m.ReadFile("/srv/runs"), "\n")-runs, 1)
	for _, name := range []string{"web", "user", "far"} {
		expectActive(t, m, name, "active")
	}
}

// Restarts by hand do not use up the starts that a new version is given.
func TestStartLimitIsTheVersions(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	const limit = `, "host_config": {"restart_policy": {"type": "on-failure", "maximum_retry_count": 1}}`
	deploy(m, "web", forever, limit)
	m.Must("sitelet", "reload")
	deploy(m, "web", forever, limit+`, "host_name": "new"`)
	m.Must("systemctl", "restart", "web")
	m.Must("sitelet", "reload")
	hostname(m, "web", "new")
}
