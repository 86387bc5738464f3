package e2e

import (
	"testing"

	"github.com/sitelet/sitelet/test/machine"
)

// troubles are the sections of docs/troubleshooting.md: each makes the trouble that its section is about, and looks whether it has gone.
var troubles = []section{
	{before: func(t *testing.T, m *machine.T) {
		quickTrials(m)
		deploy(m, "web", forever, "")
		m.Must("sitelet", "reload")
	}},
	{title: "Nothing happens when I save a file",
		before: func(t *testing.T, m *machine.T) { deploy(m, "web", forever, `, "host_name": "saved"`) },
		after: func(t *testing.T, m *machine.T) {
			expect(t, "the host name after a reload", m.Must("podman", "exec", "web", "hostname"), "saved\n")
			deploy(m, "web", forever, `, "host_name": "again"`)
			has("podman exec web hostname", "again\n")(t, m)
			autoReloadOff(m, "sitelet-containers.path")
		}},
	{title: "The old version came back",
		before: func(t *testing.T, m *machine.T) {
			deploy(m, "web", `["sh", "-c", "trap exit TERM; sleep infinity & exit 7"]`, `, "host_name": "mended"`)
			fails(t, m, "sitelet", "reload")
		},
		after: has("podman exec web hostname", "mended\n")},
	{title: "A version is `refused`, and no reload tries it again",
		before: func(t *testing.T, m *machine.T) {
			deploy(m, "web", `["sh", "-c", "test -e /data/there || exit 7; trap exit TERM; sleep infinity & wait"]`,
				`, "host_name": "lucky", "mount_points": [{"source": "/srv", "destination": "/data"}]`)
			fails(t, m, "sitelet", "reload")
			expect(t, "a second reload", m.Must("sitelet", "reload"), "nothing to do\n")
			m.Must("touch", "/srv/there")
		},
		after: has("podman exec web hostname", "lucky\n")},
	{title: "A workload is `held`",
		before: func(t *testing.T, m *machine.T) {
			m.WriteFile("/etc/sitelet/sitelet.toml", "mode = \"init\"\n[update]\nprobation = \"5s\"\n", 0o644)
			deploy(m, "web", forever, `, "host_name": "held"`)
			has("sitelet plan || true", "held")(t, m)
		},
		after: has("podman exec web hostname", "held\n")},
	{title: "`address already in use`",
		before: func(t *testing.T, m *machine.T) {
			m.Shell(`printf '[Service]\nExecStart=busybox nc -ll -p 8080 -e true\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/other-web.service
				systemctl daemon-reload; systemctl enable --now other-web`)
			deploy(m, "port", forever, `, "host_config": {"port_mappings": [{"container_port": 80, "host_port": 8080}]}`)
			fails(t, m, "sitelet", "reload")
		},
		after: has("systemctl is-active port", "active\n")},
	{title: "It stays stopped after a reload",
		before: func(t *testing.T, m *machine.T) {
			m.Must("systemctl", "stop", "web")
			m.Must("sitelet", "reload")
		},
		after: has("systemctl is-active web", "active\n")},
	{title: "A reload says that auto-reload is on",
		before: func(t *testing.T, m *machine.T) {
			m.Must("systemctl", "start", "sitelet-containers.path")
			fails(t, m, "sitelet", "reload")
		},
		after: func(t *testing.T, m *machine.T) { autoReloadOff(m, "sitelet-containers.path") }},
	{title: "`is not used: ... could change what runs as root`",
		before: func(t *testing.T, m *machine.T) {
			m.Shell("chown alice " + descriptors + "web.json; chmod go+w " + descriptors + "web.json")
			fails(t, m, "sitelet", "check")
		},
		after: func(t *testing.T, m *machine.T) { m.Must("sitelet", "check") }},
	{title: "`a unit of this name is there already`",
		before: func(t *testing.T, m *machine.T) {
			m.WriteFile("/etc/containers/systemd/web.container", webUnit, 0o644)
			fails(t, m, "sitelet", "check")
		},
		after: func(t *testing.T, m *machine.T) { m.Must("sitelet", "check") }},
	{title: "A container runs on though its descriptor is gone",
		before: func(t *testing.T, m *machine.T) {
			m.Shell("mv " + descriptors + "web.json /root")
			m.Must("sitelet", "reload")
			m.Must("systemctl", "is-active", "web")
		},
		after: func(t *testing.T, m *machine.T) { fails(t, m, "podman", "container", "exists", "web") }},
	{title: "After a power cut, or when a reload was killed",
		before: func(t *testing.T, m *machine.T) {
			m.Shell("mv /root/web.json " + descriptors)
			m.Must("sitelet", "reload")
			m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"15s\"\n", 0o644) // long enough to be cut off
			deploy(m, "web", forever, `, "host_name": "late"`)
			m.Must("systemd-run", "--quiet", "sitelet", "reload")
			has("sitelet status web", "on trial")(t, m)
			m.PowerCut()
			m.Boot()
		},
		after: has("podman exec web hostname", "late\n")},
	{title: "A user's services end at logout, or do not start at boot",
		after: func(t *testing.T, m *machine.T) { m.Must("ls", "/var/lib/systemd/linger/alice") }},
	{title: "A container has no network, or does not find another one by name",
		before: func(t *testing.T, m *machine.T) {
			quickTrials(m)
			deploy(m, "db", forever, "")
			m.Must("sitelet", "reload")
		}},
	{title: "The router does not answer",
		before: func(t *testing.T, m *machine.T) {
			echo(m, 9000)
			site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", 8090, "backend"))
			m.Must("sitelet", "reload")
			m.Must("systemctl", "stop", "skupper-east")
		},
		after: func(t *testing.T, m *machine.T) {
			m.Eventually(patience, answers(m, 8090, "hello from 127.0.0.1:9000"))
		}},
}

// fails wants a command to fail.
func fails(t *testing.T, m *machine.T, args ...string) {
	t.Helper()
	if out, err := m.Exec(args...); err == nil {
		t.Errorf("%q succeeds: %s", args, out)
	}
}
