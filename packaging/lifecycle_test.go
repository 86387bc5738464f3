package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/test/machine"
)

const descriptor = `{
  "container_name": "kept",
  "image": {"name": "localhost/busybox:1"},
  "config": {"cmd": ["sleep", "infinity"]}
}
`

// What runs goes on running, whatever happens to the package; what the user wrote stays.
func TestInstallUpgradeRemovePurge(t *testing.T) {
	deb, _ := packages(t)
	m := machine.New(t, machine.Options{})
	m.CopyFile(deb, "/root/sitelet.deb")
	m.CopyFile(nextVersion(t, deb), "/root/next.deb")
	m.WriteFile("/etc/sitelet/containers/kept.json", descriptor, 0o644)

	alice := m.As("alice")
	alice.Linger()
	alice.WriteFile("/home/alice/.config/sitelet/containers/kept.json", descriptor, 0o644)

	m.Must("dpkg", "-i", "/root/sitelet.deb")
	expect(t, alice, "systemctl --user show --property LoadState kept", "LoadState=loaded")
	expect(t, m, "systemctl list-unit-files --no-legend 'sitelet*' | awk '$2 == \"enabled\"'", "")
	expect(t, m, "systemctl list-units --failed --no-legend", "")
	expect(t, m, "stat -c %a /etc/sitelet/containers /var/lib/sitelet /var/lib/sitelet-ports", "755\n700\n1777")
	expect(t, m, "systemctl is-active kept || true", "inactive")

	m.Must("systemctl", "start", "kept")
	process := m.Shell("podman inspect --format '{{.State.Pid}} {{.State.StartedAt}}' kept")
	running := func(when string) {
		t.Helper()
		if got := m.Shell("podman inspect --format '{{.State.Pid}} {{.State.StartedAt}}' kept"); got != process {
			t.Errorf("%s: the container is %q, was %q", when, got, process)
		}
	}
	m.Shell("echo '# mine' >>/etc/sitelet/sitelet.toml")

	m.Must("dpkg", "-i", "/root/next.deb")
	running("after the upgrade")
	expect(t, m, "systemctl is-active kept", "active")
	expect(t, m, "tail -n 1 /etc/sitelet/sitelet.toml", "# mine")
	expect(t, m, "systemctl show --property NeedDaemonReload kept", "NeedDaemonReload=no")

	m.Must("dpkg", "--remove", "sitelet")
	running("after the removal")
	expect(t, m, "tail -n 1 /etc/sitelet/sitelet.toml; test -d /var/lib/sitelet && echo state", "# mine\nstate")
	expect(t, m, "ls /run/systemd/generator/kept.service /run/sitelet 2>/dev/null || true", "")

	m.Must("dpkg", "--purge", "sitelet")
	running("after the purge")
	expect(t, m, "find /etc/sitelet /var/lib/sitelet /var/lib/sitelet-ports -type f 2>/dev/null || true", "/etc/sitelet/containers/kept.json")
	expect(t, m, "ls -d /var/lib/sitelet* 2>/dev/null || true", "")

	m.Must("dpkg", "-i", "/root/sitelet.deb")
	running("after the second installation")
	m.Must("systemctl", "restart", "kept")
	expect(t, m, "systemctl is-active kept", "active")
}

// expect runs a script and compares what it prints, without the last line break.
func expect(t *testing.T, m *machine.T, script, want string) {
	t.Helper()
	if got := strings.TrimSpace(m.Shell(script)); got != want {
		t.Errorf("%s: got %q, want %q", script, got, want)
	}
}

// nextVersion returns the same package with a higher version.
func nextVersion(t *testing.T, deb string) string {
	dir := filepath.Join(t.TempDir(), "root")
	run(t, "dpkg-deb", "-R", deb, dir)
	control := filepath.Join(dir, "DEBIAN/control")
	text, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^Version: .*`).ReplaceAll(text, []byte("${0}+next"))
	if err := os.WriteFile(control, text, 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "dpkg-deb", "-b", dir, dir+".deb")
	return dir + ".deb"
}
