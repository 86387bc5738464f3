package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// spoils are ways in which a file that a container runs from turns bad, and what is said of them after the file's name.
var spoils = []struct{ name, script, want string }{
	{"truncated", `printf '{"container_name": "truncated",\n' >truncated.json`, ":2:1: the file ends in the middle"},
	{"misspelt", `sed -i s/image/imgae/ misspelt.json`, ":3:3: imgae: unknown key"},
	{"twin", `cp twin.json twin-b.json`, `:2:21: container_name: "twin" is also the name in`},
	{"port", `sed 2s/port/rival/ port.json >rival.json`, `host port 9001/tcp is also taken by "rival"`},
	{"writable", `chmod o+w writable.json`, ": is not used: "},
	{"removed", `rm removed.json`, ""},
	{"renamed", `sed -i s/renamed/other/ renamed.json`, ""},
}

// A mistake in a file takes nothing away from what runs from it: it goes on, can be stopped and started, and survives a boot.
func TestOwnFileTurnsBad(t *testing.T) {
	m := newMachine(t)
	files := map[string]string{}
	var names []string
	for _, spoil := range spoils {
		names = append(names, spoil.name)
		files[descriptors+spoil.name+".json"] = sleeper(spoil.name)
	}
	files[descriptors+"port.json"] = sleeper("port", ports(`"container_port": 80, "host_port": 9001`))
	writeFiles(m, files)
	apply(m)
	expectRunning(t, m, names)
	ids := func() string { return strings.Join(containerIDsOf(m, names), "\n") }
	before := ids()

	script := "cd " + descriptors
	for _, spoil := range spoils {
		script += "\n" + spoil.script
	}
	m.Shell(script)
	m.Must("systemctl", "daemon-reload")
	out, _ := m.Exec("sitelet", "check")
	for _, spoil := range spoils {
		if spoil.want != "" {
			expectFinding(t, out, spoil.name+".json", spoil.want)
		}
	}
	journal := m.Shell("journalctl --boot --no-pager --output=cat -t sitelet-generator")
	if !strings.Contains(journal, descriptors+"truncated.json:2:1: the file ends in the middle") {
		t.Errorf("the journal does not name the bad file:\n%s", journal)
	}
	expectRunning(t, m, names)
	expect(t, "the containers", ids(), before)
	expectStopsAndStarts(t, m, names)
	expect(t, "the containers after a stop and a start", ids(), before)

	m.Reboot()
	expectRunning(t, m, append(names, "other"))
	expect(t, "the containers after a boot", ids(), before)
	expectStopsAndStarts(t, m, []string{"truncated", "removed"})
	expect(t, "rival", property(m, "rival.service", "LoadState"), "not-found")
}

func expectRunning(t *testing.T, m *machine.T, names []string) {
	t.Helper()
	for _, name := range names {
		expectActive(t, m, name, "active")
	}
}

// expectStopsAndStarts stops services, which is quick as long as systemd knows how, and starts them again.
func expectStopsAndStarts(t *testing.T, m *machine.T, names []string) {
	t.Helper()
	expectWithin(t, m, 20*time.Second, append([]string{"systemctl", "stop"}, names...)...)
	for _, name := range names {
		expect(t, "the state of "+name, show(m, name, "LoadState,ActiveState,Result"), "ActiveState=inactive LoadState=loaded Result=success")
		expect(t, "the container of "+name, inspect(m, name, "{{.State.Running}}"), "false")
	}
	m.Must(append([]string{"systemctl", "start"}, names...)...)
}

// The modes off and init, and one that does not exist.
func TestModes(t *testing.T) {
	m := newMachine(t)
	mode := func(text string) {
		m.WriteFile("/etc/sitelet/sitelet.toml.d/50-mode.toml", text, 0o644)
		m.Must("systemctl", "daemon-reload")
		m.Must("systemctl", "start", "multi-user.target")
	}
	changed := func(name string) string { return sleeper(name, `"host_name": "changed"`) }
	writeFiles(m, map[string]string{descriptors + "a.json": sleeper("a"), descriptors + "b.json": sleeper("b")})
	apply(m)
	expectRunning(t, m, []string{"a", "b"})
	before := containerIDs(m)
	unchanged := func(what string) {
		t.Helper()
		expectRunning(t, m, []string{"a", "b"})
		expect(t, "the containers "+what, containerIDs(m), before)
		expect(t, "the load state of the new one "+what, property(m, "new.service", "LoadState"), "not-found")
	}

	writeFiles(m, map[string]string{descriptors + "a.json": changed("a"), descriptors + "new.json": sleeper("new")})
	m.Must("rm", descriptors+"b.json")
	mode("mode = \"off\"\n")
	m.Must("systemctl", "restart", "a", "b")
	unchanged("in mode off")
	mode("mode = \"sometimes\"\n")
	unchanged("in an unknown mode")
	out, err := m.Exec("sitelet", "check")
	want := "/etc/sitelet/sitelet.toml.d/50-mode.toml:1:1: mode: \"sometimes\" is no mode"
	if err == nil || !strings.Contains(out, want) {
		t.Errorf("sitelet check does not say %q: %v\n%s", want, err, out)
	}
	if journal := m.Journal(""); !strings.Contains(journal, want) {
		t.Errorf("the journal does not say %q", want)
	}
	m.Reboot()
	expectStopsAndStarts(t, m, []string{"a", "b"})
	unchanged("in an unknown mode after a boot")

	mode("mode = \"init\"\n")
	expectActive(t, m, "new", "active")
	m.Must("systemctl", "restart", "a", "b")
	expect(t, "the containers in mode init", m.Shell("podman ps --no-trunc --format '{{.Names}} {{.ID}}' | grep -v ^new | sort"), before)
	m.Must("rm", "/etc/sitelet/sitelet.toml.d/50-mode.toml")
	apply(m)
	m.Must("systemctl", "restart", "a")
	expect(t, "the host name of the new container", inspect(m, "a", "{{.Config.Hostname}}"), "changed")
	if id := containerID(m, "a"); strings.Contains(before, id) {
		t.Error("a is the old container")
	}
	m.Must("podman", "container", "exists", strings.Fields(before)[1])
}
