package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A container is made once and then only started and stopped.
func TestContainerIsKept(t *testing.T) {
	m := newMachine(t)
	writeFiles(m, map[string]string{descriptors + "app.json": sleeper("app")})
	apply(m)
	expectActive(t, m, "app", "active")
	id := containerID(m, "app")
	m.Must("podman", "exec", "app", "sh", "-c", "echo written >/layer")
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"a stop and a start", func() { m.Shell("systemctl stop app; systemctl start app") }},
		{"a restart", func() { m.Must("systemctl", "restart", "app") }},
		{"daemon-reloads", func() {
			before := show(m, "app", "MainPID,InvocationID")
			m.Shell("systemctl daemon-reload; touch " + descriptors + "app.json; systemctl daemon-reload; systemctl daemon-reload")
			expect(t, "the process after daemon-reloads", show(m, "app", "MainPID,InvocationID"), before)
		}},
		{"a reboot", m.Reboot},
		{"a power cut", func() { m.PowerCut(); m.Boot() }},
	} {
		step.do()
		expectActive(t, m, "app", "active")
		expect(t, "the container after "+step.what, containerID(m, "app"), id)
		expect(t, "its layer after "+step.what, m.Must("podman", "exec", "app", "cat", "/layer"), "written\n")
	}
	expect(t, "what runs systemd's main process", m.Shell("cat /proc/$(systemctl show --property=MainPID --value app)/comm"), "conmon\n")
	expect(t, "NeedDaemonReload", property(m, "app.service", "NeedDaemonReload"), "no")
	expect(t, "what systemd-analyze has to say", m.Shell("systemd-analyze verify --man=no /run/systemd/generator/app.service /usr/lib/systemd/system/sitelet-*.service 2>&1 || true"), "")
}

// A changed descriptor is a new container beside the old one, which is kept until the new one has proved itself. One that
// somebody has removed is made again.
func TestChangedDescriptor(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	change := func(host string) {
		writeFiles(m, map[string]string{descriptors + "app.json": sleeper("app", fmt.Sprintf(`"host_name": %q`, host))})
		m.Must("systemctl", "daemon-reload")
	}
	generation := func() string {
		return m.Shell("sed -n s/^Generation=//p /run/systemd/generator/app.service | head -c 12")
	}
	proved := func() {
		t.Helper()
		m.Eventually(time.Minute, func() error {
			if names := containerNames(m); names != "app" {
				return fmt.Errorf("the containers are %s", names)
			}
			return nil
		})
	}
	change("one")
	m.Must("systemctl", "start", "app")
	old, oldGeneration := containerID(m, "app"), generation()
	proved()
	change("two")
	expect(t, "the container after a daemon-reload alone", inspect(m, "app", "{{.Id}} {{.State.Running}}"), old+" true")
	m.Must("systemctl", "restart", "app")
	expect(t, "the host name", m.Must("podman", "exec", "app", "hostname"), "two\n")
	expect(t, "the containers", containerNames(m), "app app."+oldGeneration)
	expect(t, "the old one", inspect(m, "app."+oldGeneration, "{{.Id}} {{.State.Running}}"), old+" false")
	proved()

	removed := containerID(m, "app")
	m.Must("podman", "rm", "--force", "--time=0", "app")
	m.Eventually(time.Minute, func() error {
		if id := containerID(m, "app"); id == "none" || id == removed {
			return errors.New("there is no new container")
		}
		return nil
	})
	expectActive(t, m, "app", "active")
	m.Shell("systemctl stop app; podman rm app; systemctl start app")
	expect(t, "the host name after removals by hand", m.Must("podman", "exec", "app", "hostname"), "two\n")
	expect(t, "the generation after them", inspect(m, "app", `{{index .Config.Labels "io.sitelet.generation"}}`)[:12], generation())
}

// What somebody else made under the name is left alone. The start that cannot succeed is tried again, but neither a caller nor
// a boot waits for it.
func TestForeignContainer(t *testing.T) {
	m := newMachine(t)
	m.Must("podman", "create", "--name=mine", "localhost/busybox:1", "true")
	id := containerID(m, "mine")
	writeFiles(m, map[string]string{
		descriptors + "mine.json": sleeper("mine", `"host_config": {"restart_policy": {"type": "always", "retry_timeout": "1s"}}`),
		descriptors + "lost.json": sleeper("lost", `"host_config": {"devices": [{"path_on_host": "/dev/lost"}], "restart_policy": {"type": "always", "retry_timeout": "1s"}}`),
	})
	m.Must("systemctl", "daemon-reload")
	for _, name := range []string{"mine", "lost"} {
		if _, err := m.Exec("systemctl", "start", name); err == nil {
			t.Errorf("%s started", name)
		}
	}
	expect(t, "the foreign container", inspect(m, "mine", "{{.Id}} {{.State.Status}}"), id+" created")
	if journal := m.Journal("sitelet-create@mine.service"); !strings.Contains(journal, "there is a container named mine that sitelet did not make; rename it") {
		t.Errorf("the journal does not say why:\n%s", journal)
	}
	m.Reboot()
	m.Shell("podman rename mine theirs; mknod /dev/lost c 1 3")
	expectRunning(t, m, []string{"mine", "lost"})
	expect(t, "the containers", containerNames(m), "lost mine theirs")
}

// Restart policies, seen in how often a container was started: each start leaves a line.
func TestRestartPolicies(t *testing.T) {
	m := newMachine(t)
	policy := func(name, script, policy string) {
		file := "/srv/" + name
		m.WriteFile(file, "", 0o666)
		m.WriteFile(descriptors+name+".json", shell(name, "echo >>/runs; "+script, mounts(file, "/runs"), `"host_config": {"restart_policy": `+policy+`}`), 0o600)
	}
	policy("always", "exit 0", `{"type": "always", "retry_timeout": "200ms"}`)
	policy("killed", quick, `{"type": "on-failure"}`)
	policy("thrice", "exit 3", `{"type": "on-failure", "maximum_retry_count": 2}`)
	policy("done", "exit 0", `{"type": "on-failure"}`)
	policy("never", "exit 3", `{"type": "no"}`)
	apply(m)
	runs := func(name string) int { return strings.Count(m.ReadFile("/srv/"+name), "\n") }
	state := func(name string) string { return show(m, name, "ActiveState,Result") }

	expectActive(t, m, "thrice", "failed")
	expect(t, "runs of thrice", runs("thrice"), 3)
	expectActive(t, m, "never", "failed")
	expect(t, "never", state("never"), "ActiveState=failed Result=exit-code")
	expectActive(t, m, "done", "inactive")
	expect(t, "done", state("done"), "ActiveState=inactive Result=success")
	m.Must("podman", "kill", "--signal=KILL", "killed")
	m.Eventually(time.Minute, func() error {
		if killed, always := runs("killed"), runs("always"); killed != 2 || always < 3 {
			return fmt.Errorf("%d runs of killed and %d of always", killed, always)
		}
		return nil
	})
	expectActive(t, m, "killed", "active")

	// A stop by an operator is one, also for those that are always restarted, and a reload is no start.
	m.Must("systemctl", "stop", "always", "killed")
	m.Must("systemctl", "daemon-reload")
	before := runs("always")
	time.Sleep(time.Second)
	for name, want := range map[string]int{"always": before, "killed": 2, "thrice": 3, "never": 1, "done": 1} {
		expect(t, "runs of "+name, runs(name), want)
	}
	expect(t, "always after the stop", state("always"), "ActiveState=inactive Result=success")
	m.Shell("systemctl reset-failed thrice; systemctl start thrice || true")
	expectActive(t, m, "thrice", "failed")
	expect(t, "runs of thrice after reset-failed", runs("thrice"), 6)
}

// What an administrator adds to a unit counts.
func TestAdministratorsSettings(t *testing.T) {
	m := newMachine(t)
	writeFiles(m, map[string]string{
		descriptors + "app.json":                    shell("app", quick, `"io_config": {"tty": false}`),
		descriptors + "masked.json":                 sleeper("masked"),
		"/etc/systemd/system/app.service.d/10.conf": "[Unit]\nDescription=mine\n[Service]\nExecStartPost=touch /run/dropped\nRestart=no\n",
	})
	m.Must("systemctl", "mask", "masked")
	m.Must("sitelet", "check")
	apply(m)
	expectActive(t, m, "app", "active")
	m.Must("ls", "/run/dropped")
	expect(t, "app", show(m, "app", "Description,Restart"), "Description=mine Restart=no")
	expect(t, "the masked one", show(m, "masked", "LoadState,ActiveState"), "ActiveState=inactive LoadState=masked")
	expect(t, "the containers", containerNames(m), "app")
	m.Must("systemctl", "unmask", "masked")
	m.Must("systemctl", "start", "masked")
	expect(t, "the modes of units", m.Shell("stat --format=%a /run/systemd/generator/app.service /run/systemd/generator/masked.service | sort -u"), "644\n")
	m.As("alice").Must("systemctl", "cat", "app.service")
}
