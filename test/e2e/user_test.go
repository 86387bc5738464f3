package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A user's own containers: rootless, from the user's descriptors, run by the user's systemd, from the boot on if the user lingers.
func TestUserScope(t *testing.T) {
	m := newMachine(t)
	alice := m.As("alice")
	alice.Linger()
	alice.WriteFile("/home/alice/.config/sitelet/containers/web.json",
		shell("web", `trap 'exit 0' TERM; echo hello >/index.html; httpd -f -p 80 -h / & wait`, ports(`"container_port": 80, "host_port": 8080, "host_ip": "127.0.0.1"`)), 0o600)
	alice.WriteFile("/home/alice/.config/sitelet/containers/bad.json", "{", 0o600)
	alice.Shell("mkdir --mode=0 ~/.config/sitelet/containers/closed")
	out, err := alice.Exec("sitelet", "check")
	for _, want := range []string{"bad.json:1:2: ", "containers/closed: cannot be read: permission denied"} {
		if err == nil || !strings.Contains(out, "/home/alice/.config/sitelet/containers/"+strings.TrimPrefix(want, "containers/")) {
			t.Errorf("sitelet check does not say %q: %v\n%s", want, err, out)
		}
	}
	alice.Must("systemctl", "--user", "daemon-reload")
	alice.Must("systemctl", "--user", "start", "default.target")
	runs := func() error {
		if state, err := alice.Exec("systemctl", "--user", "is-active", "web"); err != nil {
			return errors.New("web is " + state)
		}
		return serves(m)()
	}
	alice.Eventually(time.Minute, runs)
	id := alice.Must("podman", "container", "inspect", "--format={{.Id}}", "web")
	alice.Must("podman", "exec", "web", "sh", "-c", "echo written >/layer")
	expect(t, "root's containers", m.Must("podman", "ps", "--all", "--quiet"), "")
	expect(t, "the processes' owner", m.Shell("stat --format=%U /proc/$(pgrep --exact --oldest conmon)"), "alice\n")

	alice.Must("systemctl", "--user", "restart", "web")
	m.Reboot()
	alice.Eventually(time.Minute, runs)
	expect(t, "the container after a reboot", alice.Must("podman", "container", "inspect", "--format={{.Id}}", "web"), id)
	expect(t, "its layer", alice.Must("podman", "exec", "web", "cat", "/layer"), "written\n")

	alice.Must("rm", "/home/alice/.config/sitelet/containers/web.json")
	alice.Must("systemctl", "--user", "daemon-reload")
	if err := runs(); err != nil {
		t.Error(fmt.Errorf("after the removal of its file: %w", err))
	}
	begin := time.Now()
	alice.Must("systemctl", "--user", "stop", "web")
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the stop took %v", took)
	}
}
