package packaging

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
	"github.com/sitelet/sitelet/test/standin/image"
)

const (
	descriptor = `{
  "container_name": "kept",
  "image": {"name": "localhost/busybox:1"},
  "config": {"cmd": ["sleep", "infinity"]}
}
`
	site = `apiVersion: skupper.io/v2alpha1
kind: Site
metadata: {name: east}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: backend}
spec: {host: 127.0.0.1, port: 8080, routingKey: backend}
---
apiVersion: skupper.io/v2alpha1
kind: Connector
metadata: {name: backend}
spec: {host: 127.0.0.1, port: 9000, routingKey: backend}
`
	resources = "/var/lib/skupper/namespaces/east/input/resources/site.yaml"
)

// What runs goes on running, whatever happens to the package; what the user wrote stays.
func TestInstallUpgradeRemovePurge(t *testing.T) {
	machine.Require(t)
	deb := packages(t).deb
	old, err := previous()
	if err != nil {
		t.Fatal(err)
	}
	m := machine.New(t, machine.Options{})
	m.CopyFile(old.deb, "/root/old.deb")
	m.CopyFile(deb, "/root/sitelet.deb")
	loadRouter(t, m)
	alice := m.As("alice")
	alice.Linger()
	m.WriteFile("/etc/sitelet/containers/kept.json", descriptor, 0o644)
	m.WriteFile(resources, site, 0o644)
	alice.WriteFile("/home/alice/.config/sitelet/containers/kept.json", descriptor, 0o644)

	m.Must("dpkg", "-i", "/root/old.deb")
	expect(t, alice, "systemctl --user show --property LoadState kept", "LoadState=loaded")
	expect(t, m, "find /etc/systemd -name 'sitelet*'; systemctl list-units --all --plain --no-legend --state active,failed 'sitelet*'", "")
	expect(t, m, "systemctl list-unit-files --no-legend 'sitelet*' | awk '$2 == \"enabled\" || $3 == \"enabled\"'", "")
	expect(t, alice, "systemctl --user list-unit-files --no-legend 'sitelet*' | awk '$2 == \"enabled\" || $3 == \"enabled\"'", "")
	expect(t, m, "systemctl list-units --failed --no-legend", "")
	expect(t, m, "stat -c %a /etc/sitelet/containers /var/lib/sitelet /var/lib/sitelet-ports", "755\n700\n1777")
	expect(t, m, "systemctl is-active kept skupper-east || true", "inactive\ninactive")

	m.Must("sitelet", "reload")
	alice.Must("sitelet", "reload")
	m.Must("systemctl", "enable", "--now", "sitelet-containers.path", "sitelet-site@east.path")
	m.Shell("echo '# mine' >>/etc/sitelet/sitelet.toml; echo '# mine' >/etc/sitelet/sitelet.toml.d/mine.toml")
	alice.Shell("echo '# mine' >~/.config/sitelet/sitelet.toml")
	r := runs{t: t, m: m, alice: alice}
	r.before = r.now()
	// The CAs of a site, which links of others depend on, are in its namespace too.
	const sums = "cd /var/lib/skupper/namespaces; find -path '*/issuers/*' -type f -o -path '*/input/*' -type f | sort | xargs sha256sum"
	sites := strings.TrimSpace(m.Shell(sums))
	expect(t, m, "systemctl show --property Description --value kept skupper-east | grep .", "Earlier container kept\nSkupper router of east")

	m.Must("dpkg", "-i", "/root/sitelet.deb")
	r.verify("after the upgrade")
	expect(t, m, "systemctl is-active kept skupper-east sitelet-containers.path sitelet-site@east.path", "active\nactive\nactive\nactive")
	expect(t, alice, "systemctl --user is-active kept", "active")
	expect(t, m, "systemctl show --property Description --value kept", "Container kept")
	alice.Eventually(20*time.Second, func() error { // its manager was asked to reload, and nobody waits
		return same(strings.TrimSpace(alice.Must("systemctl", "--user", "show", "--property", "Description", "--value", "kept")), "Container kept")
	})
	expect(t, m, "tail -n 1 /etc/sitelet/sitelet.toml", "# mine")
	expect(t, m, "systemctl show --property NeedDaemonReload --value kept skupper-east | sort -u | grep .", "no")
	expect(t, m, "sitelet plan -o json | jq -r '.[].action' | sort -u", "none")

	m.Must("dpkg", "--remove", "sitelet")
	r.verify("after the removal")
	expect(t, m, "tail -n 1 /etc/sitelet/sitelet.toml; ls /var/lib/sitelet/workloads", "# mine\nkept.json\nskupper-east.json")
	expect(t, m, "ls -d /run/systemd/generator/kept.service /run/sitelet 2>/dev/null || true", "")
	expect(t, m, "systemctl list-units --plain --no-legend --type path,timer 'sitelet*'", "")

	m.Must("dpkg", "--purge", "sitelet")
	r.verify("after the purge")
	expect(t, m, "find /etc/sitelet -type f | sort", "/etc/sitelet/containers/kept.json\n/etc/sitelet/sitelet.toml.d/mine.toml")
	expect(t, m, "find /etc/systemd -name 'sitelet*'; ls -d /var/lib/sitelet* 2>/dev/null || true", "")
	expect(t, m, sums, sites)
	expect(t, alice, "cat ~/.config/sitelet/sitelet.toml; ls ~/.local/state/sitelet/workloads", "# mine\nkept.json")

	m.Must("dpkg", "-i", "/root/sitelet.deb")
	r.verify("after the second installation")
	m.Must("systemctl", "restart", "kept")
	expect(t, m, "systemctl is-active kept", "active")
}

// loadRouter gives a machine the image of a router.
func loadRouter(t *testing.T, m *machine.T) {
	t.Helper()
	program, err := image.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tar := filepath.Join(t.TempDir(), "router.tar")
	if err := image.Archive(tar, "quay.io/skupper/skupper-router:main", program); err != nil {
		t.Fatal(err)
	}
	m.CopyFile(tar, "/root/router.tar")
	m.Must("podman", "load", "--quiet", "--input", "/root/router.tar")
}

// runs knows which processes ran at first: those of a container, of a site's router and of a user's container.
type runs struct {
	t        *testing.T
	m, alice *machine.T
	before   string
}

func (r runs) now() string {
	const inspect = "podman inspect --format '{{.Name}} {{.State.Running}} {{.State.Pid}} {{.State.StartedAt}}' "
	return r.m.Shell(inspect+"kept east-skupper-router") + r.alice.Shell(inspect+"kept")
}

// verify fails the test if other processes run now, or the router does not serve.
func (r runs) verify(when string) {
	r.t.Helper()
	if err := same(r.now(), r.before); err != nil {
		r.t.Errorf("%s: %v", when, err)
	}
	if _, err := r.m.Exec("timeout", "5", "bash", "-c", "</dev/tcp/127.0.0.1/8080"); err != nil {
		r.t.Errorf("%s the router does not listen: %v", when, err)
	}
}

// expect runs a script and compares what it prints, without the last line break.
func expect(t *testing.T, m *machine.T, script, want string) {
	t.Helper()
	if err := same(strings.TrimSpace(m.Shell(script)), want); err != nil {
		t.Errorf("%s: %v", script, err)
	}
}

func same(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}
