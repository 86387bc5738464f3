package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

const aliceNamespaces = "/home/alice/.local/share/skupper/namespaces/"

// A user's auto-reload takes up a site when it appears, changes it while it runs, and does so after a boot too.
func TestUserSite(t *testing.T) {
	m := siteMachine(t)
	alice := m.As("alice")
	alice.Linger()
	alice.Must("podman", "load", "--quiet", "--input", "/usr/share/router.tar")
	echo(m, 9000)
	alice.WriteFile("/home/alice/.config/sitelet/sitelet.toml", "[update]\nprobation = \"1s\"\n", 0o600)
	alice.Must("systemctl", "--user", "enable", "--now", "sitelet-sites.path")
	const dir = aliceNamespaces + "east/input/resources/"
	writeFiles(alice, map[string]string{
		dir + "site.yaml": resource("Site", "east", "{}"),
		dir + "more.yaml": connectorOf("backend", 9000, "backend") + "---\n" + listenerOf("backend", 8080, "backend"),
	})
	alice.Eventually(time.Minute, answers(m, 8080, "hello from 127.0.0.1:9000"))
	alice.Eventually(20*time.Second, func() error {
		_, err := alice.Exec("systemctl", "--user", "is-active", "--quiet", "sitelet-site@east.path", "sitelet-renew@east.timer")
		return err
	})

	process := func() string { return inspect(alice, "east-skupper-router", "{{.State.Pid}}") }
	pid := process()
	stop := startStream(t, m, 8080)
	alice.WriteFile(dir+"second.yaml", listenerOf("second", 8081, "backend"), 0o600)
	alice.Eventually(20*time.Second, answers(m, 8081, "hello from 127.0.0.1:9000"))
	alice.Must("rm", dir+"second.yaml")
	alice.Eventually(20*time.Second, func() error {
		if answers(m, 8081, "hello")() == nil {
			return errors.New("a listener whose file was removed still answers")
		}
		return nil
	})
	alice.Must("systemctl", "--user", "start", "sitelet-renew@east.service")
	if n := stop(); n < 50 {
		t.Errorf("only %d connections were made meanwhile", n)
	}
	expect(t, "the router's process after live changes", process(), pid)

	m.Reboot()
	echo(m, 9000)
	alice.Eventually(time.Minute, answers(m, 8080, "hello from 127.0.0.1:9000"))
	alice.WriteFile(dir+"third.yaml", listenerOf("third", 8082, "backend"), 0o600)
	alice.Eventually(20*time.Second, answers(m, 8082, "hello from 127.0.0.1:9000"))
	expect(t, "root's containers", m.Must("podman", "ps", "--all", "--quiet"), "")
	expect(t, "what of alice's failed", alice.Must("systemctl", "--user", "list-units", "--failed", "--no-legend", "sitelet-*"), "")
}

// A user's native router, beside one in a container; and both are removed again.
func TestUserSiteLinux(t *testing.T) {
	m := siteMachine(t)
	alice := m.As("alice")
	alice.Linger()
	alice.Must("podman", "load", "--quiet", "--input", "/usr/share/router.tar")
	echo(m, 9000)
	for i, platform := range []string{"podman", "linux"} {
		alice.WriteFile("/home/alice/.config/sitelet/sitelet.toml", fmt.Sprintf("platform = %q\n[update]\nprobation = \"1s\"\n", platform), 0o600)
		dir, port := aliceNamespaces+platform+"/input/resources/", 8080+10*i
		writeFiles(alice, map[string]string{
			dir + "site.yaml": resource("Site", platform, "{linkAccess: default}"),
			dir + "more.yaml": connectorOf("backend", 9000, "backend") + "---\n" + listenerOf("backend", port, "backend"),
		})
		alice.Must("sitelet", "reload", platform)
		alice.Eventually(20*time.Second, answers(m, port, "hello from 127.0.0.1:9000"))
		alice.WriteFile(dir+"second.yaml", listenerOf("second", port+1, "backend"), 0o600)
		alice.Must("sitelet", "reload", platform)
		alice.Eventually(20*time.Second, answers(m, port+1, "hello from 127.0.0.1:9000"))
	}
	expect(t, "the native router's owner", m.Shell("stat --format=%U /proc/$(pgrep --exact --oldest skrouterd)"), "alice\n")
	expect(t, "ports that both have", alice.Shell(
		`jq -r '.[] | select(.[0] == "listener" or .[0] == "tcpListener") | .[1].port' `+aliceNamespaces+`*/runtime/router/skrouterd.json | sort | uniq -d`), "")

	m.Reboot()
	echo(m, 9000)
	for i, platform := range []string{"podman", "linux"} {
		alice.Eventually(time.Minute, answers(m, 8080+10*i, "hello from 127.0.0.1:9000"))
		alice.Must("sitelet", "site", "remove", "--purge", platform)
		if err := answers(m, 8080+10*i, "hello")(); err == nil {
			t.Errorf("the router on %s answers after its removal", platform)
		}
	}
	expect(t, "the namespaces", alice.Shell("ls "+aliceNamespaces), "")
	expect(t, "the containers", containerNames(alice), "")
}
