package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

const aliceDescriptors = "/home/alice/.config/sitelet/containers/"

// webPage is a descriptor of a web server with one page.
func webPage(text string) string {
	return shell("web", fmt.Sprintf(`trap 'exit 0' TERM; echo %s >/index.html; httpd -f -p 80 -h / & wait`, text),
		ports(`"container_port": 80, "host_port": 8080, "host_ip": "127.0.0.1"`))
}

// shows returns a check that the web server has that page.
func shows(m *machine.T, text string) func() error {
	return func() error {
		out, err := m.Exec("curl", "--silent", "--show-error", "--max-time", "5", "http://127.0.0.1:8080/index.html")
		if err == nil && out != text+"\n" {
			err = errors.New("it serves " + out)
		}
		return err
	}
}

// A user's auto-reload takes up a descriptor, a good version and no bad one, also after a boot; and the user goes back by hand.
func TestUserUpdates(t *testing.T) {
	m := newMachine(t)
	alice := m.As("alice")
	alice.Linger()
	alice.WriteFile("/home/alice/.config/sitelet/sitelet.toml", "[update]\nprobation = \"2s\"\n", 0o600)
	alice.Must("systemctl", "--user", "enable", "--now", "sitelet-containers.path")
	write := func(text string) { alice.WriteFile(aliceDescriptors+"web.json", text, 0o600) }
	result := func() string {
		return strings.TrimSpace(alice.Shell(`sitelet status web -o json | jq -r '.[0].result'`))
	}
	settled := func() error {
		if got := containerNames(alice); got != "web" {
			return errors.New("there are the containers " + got)
		}
		if state, _ := alice.Exec("systemctl", "--user", "is-active", "sitelet-reload.service"); state == "activating\n" {
			return errors.New("the reload is not over")
		}
		return nil
	}
	container := func() string { return inspect(alice, "web", "{{.Id}}") }

	write(webPage("one"))
	alice.Eventually(time.Minute, shows(m, "one"))
	alice.Must("podman", "exec", "web", "sh", "-c", "echo written >/layer")
	first := container()
	if out, err := alice.Exec("sitelet", "reload"); err == nil || !strings.Contains(err.Error(), "systemctl --user stop sitelet-containers.path") {
		t.Errorf("sitelet reload does not refuse: %v, %s", err, out)
	}

	write(shell("web", "echo last words; exit 3"))
	alice.Eventually(time.Minute, func() error {
		if out := alice.Must("sitelet", "status", "web"); !strings.Contains(out, "last words") {
			return errors.New("nothing is refused: " + out)
		}
		return nil
	})
	alice.Eventually(time.Minute, shows(m, "one"))
	expect(t, "the container after the bad version", container(), first)
	expect(t, "its layer", alice.Must("podman", "exec", "web", "cat", "/layer"), "written\n")

	write(webPage("two"))
	alice.Eventually(time.Minute, shows(m, "two"))
	alice.Eventually(time.Minute, settled)
	expect(t, "the result", result(), "updated")

	m.Reboot()
	alice.Eventually(time.Minute, shows(m, "two"))
	write(webPage("three"))
	alice.Eventually(time.Minute, shows(m, "three"))
	alice.Eventually(time.Minute, settled)

	alice.Must("sitelet", "rollback", "web")
	alice.Eventually(time.Minute, shows(m, "two"))
	if history := alice.Must("sitelet", "history", "web"); !strings.Contains(history, "by hand") {
		t.Errorf("the history is\n%s", history)
	}
	expect(t, "root's containers", m.Must("podman", "ps", "--all", "--quiet"), "")
	expect(t, "root's workloads", m.Shell("ls /var/lib/sitelet/workloads 2>/dev/null || true"), "")
	expect(t, "what of alice's failed", alice.Must("systemctl", "--user", "list-units", "--failed", "--no-legend", "sitelet-*"), "")
}
