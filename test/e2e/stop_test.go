package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// waitFor waits until a unit is in a sub-state, as systemctl show calls it.
func waitFor(m *machine.T, unit, state string) {
	m.Eventually(30*time.Second, func() error {
		if got := property(m, unit, "SubState"); got != state {
			return fmt.Errorf("%s is in %s, not in %s", unit, got, state)
		}
		return nil
	})
}

// A stop in the middle of a start is no failure: the unit is inactive, the trial goes on at the next start, and nothing else is
// started in its place.
func TestStopWhileStarting(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	deploy(m, "web", forever, "")
	m.Must("sitelet", "reload")
	deploy(m, "web", forever, `, "sitelet": {"health": {"command": "test -e /healthy", "interval": "1s", "retries": 600}}`)
	m.Shell("sitelet reload >/root/reload 2>&1 &")
	m.Eventually(30*time.Second, func() error {
		if out := m.Shell("podman ps --format '{{.Names}} {{.Status}}'"); !strings.Contains(out, "web Up") || !strings.Contains(out, "starting") {
			return fmt.Errorf("containers: %s", out)
		}
		return nil
	})
	waitFor(m, "web.service", "start")
	m.Must("systemctl", "stop", "web")
	expectActive(t, m, "web", "inactive")
	expect(t, "the service", property(m, "web.service", "Result"), "success")
	m.Eventually(30*time.Second, func() error {
		_, err := m.Exec("sh", "-c", "! systemctl is-active sitelet-trial@web sitelet-rollback@web && ! pgrep -x sitelet")
		return err
	})
	expectActive(t, m, "web", "inactive")
	if out := m.Must("podman", "ps", "--all", "--format", "{{.State}}"); strings.Contains(out, "running") || strings.Count(out, "\n") != 2 {
		t.Errorf("the containers of both versions, stopped, are wanted: %s", out)
	}
	if out := m.Must("sitelet", "history", "web"); strings.Contains(out, "refused") {
		t.Errorf("the history:\n%s", out)
	}
	m.Must("systemctl", "start", "--no-block", "web")
	m.Eventually(30*time.Second, func() error {
		_, err := m.Exec("podman", "exec", "web", "touch", "/healthy")
		return err
	})
	m.Eventually(30*time.Second, func() error {
		if out := m.Must("sitelet", "history", "web"); !strings.Contains(out, "updated") {
			return fmt.Errorf("the history:\n%s", out)
		}
		return nil
	})
	// Podman and conmon, which get the signal, end with 1 at some moments of a start.
	for _, pause := range []string{"0.02", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"} {
		m.Shell("podman exec web touch /healthy; systemctl restart --no-block web; sleep " + pause + "; systemctl stop web")
		m.Eventually(10*time.Second, func() error {
			if state := property(m, "web.service", "ActiveState"); state != "inactive" {
				return fmt.Errorf("stopped %s s after a restart was asked for, web is %s", pause, state)
			}
			return nil
		})
		m.Shell("systemctl start --no-block web; until podman exec web touch /healthy; do sleep 0.1; done; systemctl start web")
	}
	expect(t, "the containers", containerNames(m), "web")
}

// The router of a site may be stopped while its start waits for its answer.
func TestStopWhileRouterStarts(t *testing.T) {
	m := siteMachine(t)
	site(m, "east", resource("Site", "east", "{}"), listenerOf("backend", 8080, "backend"))
	m.Must("sitelet", "reload")
	m.Must("systemctl", "stop", "skupper-east")
	expectActive(t, m, "skupper-east", "inactive")
	m.Must("iptables", "-I", "INPUT", "-i", "lo", "-p", "tcp", "--syn", "-j", "DROP")
	m.Must("systemctl", "start", "--no-block", "skupper-east")
	waitFor(m, "skupper-east.service", "start-post")
	m.Must("systemctl", "stop", "skupper-east")
	m.Eventually(10*time.Second, func() error {
		if state := property(m, "skupper-east.service", "ActiveState"); state != "inactive" {
			return fmt.Errorf("after a stop the router is %s", state)
		}
		return nil
	})
	m.Must("iptables", "-F", "INPUT")
	m.Must("systemctl", "start", "skupper-east")
	expectActive(t, m, "skupper-east", "active")
}
