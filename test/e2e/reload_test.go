package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// forever is a command that ends at once when it is told to.
const forever = `["sh", "-c", "trap 'exit 0' TERM; sleep infinity & wait"]`

// deploy writes a descriptor whose other fields are more, e.g. `, "sitelet": {}`.
func deploy(m *machine.T, name, cmd, more string) {
	m.WriteFile("/etc/sitelet/containers/"+name+".json", fmt.Sprintf(
		"{\"container_name\": %q, \"image\": {\"name\": \"localhost/busybox:1\"},\n \"config\": {\"cmd\": %s}%s}\n", name, cmd, more), 0o600)
}

// quickTrials has trials end soon.
func quickTrials(m *machine.T) {
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"5s\"\n", 0o644)
}

func TestReloadRecreatesOnlyWhatChanged(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		deploy(m, name, forever, "")
	}
	m.Must("sitelet", "reload")
	running := func() map[string]string {
		all := map[string]string{}
		for _, name := range names {
			all[name] = inspect(m, name, "{{.Id}} {{.State.StartedAt}}")
		}
		return all
	}
	before := running()
	if out, err := m.Exec("sitelet", "plan"); err != nil || strings.Count(out, " none ") != 5 {
		t.Fatalf("plan after the reload: %v\n%s", err, out)
	}
	deploy(m, "c", forever, `, "host_name": "other"`)
	out, err := m.Exec("sitelet", "plan")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(out, `host_name: "c-host" → "other"`) || !strings.Contains(out, "recreate  restart") {
		t.Errorf("plan: %v\n%s", err, out)
	}
	m.Must("sitelet", "reload")
	after := running()
	for _, name := range names {
		if changed := before[name] != after[name]; changed != (name == "c") {
			t.Errorf("%s: %s before, %s after", name, before[name], after[name])
		}
	}
	expect(t, "containers", m.Shell("podman ps --all --format '{{.Names}}' | sort | tr '\\n' ' '"), "a b c d e ")
	expect(t, "a reload without a change", m.Must("sitelet", "reload"), "nothing to do\n")
}

// Each bad version ends with the old container running, with what had been written in it; a good one after it is taken up.
func TestReloadRollsBack(t *testing.T) {
	for _, bad := range []struct {
		name, cmd, more string
		within          time.Duration
		reason          string
	}{
		{"exits at once", `["sh", "-c", "echo last words; exit 7"]`, "", 45 * time.Second, "exit status 7"},
		{"exits after 3 s", `["sh", "-c", "sleep 3; exit 8"]`, "", 60 * time.Second, "exit status 8"},
		{"never healthy", forever, `, "sitelet": {"health": {"command": ["false"], "interval": "1s", "retries": 2, "timeout": "1s"}}`, 120 * time.Second, ""},
		{"no image", forever, `, "image": {"name": "127.0.0.1:1/none:1"}`, 60 * time.Second, "image"},
		{"port taken", forever, `, "host_config": {"port_mappings": [{"container_port": 1, "host_port": 7777}]}`, 60 * time.Second, ""},
		{"no device", forever, `, "host_config": {"devices": [{"path_on_host": "/dev/nope"}]}`, 60 * time.Second, ""},
	} {
		t.Run(bad.name, func(t *testing.T) {
			m := newMachine(t)
			quickTrials(m)
			m.Shell("systemd-run --unit=squatter busybox nc -l -p 7777 -e true; true")
			deploy(m, "web", forever, "")
			deploy(m, "user", forever, `, "sitelet": {"requires": ["web"]}`)
			m.Must("sitelet", "reload")
			m.Must("podman", "exec", "web", "sh", "-c", "echo written >/layer")
			id := inspect(m, "web", "{{.Id}}")
			if bad.name == "no image" {
				m.WriteFile("/etc/sitelet/containers/web.json", `{"container_name": "web", "image": {"name": "127.0.0.1:1/none:1"}}`, 0o600)
			} else {
				deploy(m, "web", bad.cmd, bad.more)
			}
			begin := time.Now()
			out, err := m.Exec("sitelet", "reload")
			took := time.Since(begin)
			if err == nil {
				t.Errorf("reload succeeded: %s", out)
			} else if !strings.Contains(err.Error(), bad.reason) {
				t.Errorf("reload said %v, want %q in it", err, bad.reason)
			}
			if took > bad.within {
				t.Errorf("it took %v, want %v at most", took, bad.within)
			}
			t.Logf("rolled back after %v: %v", took, err)
			expectActive(t, m, "web", "active")
			expectActive(t, m, "user", "active")
			expect(t, "the container", inspect(m, "web", "{{.Id}} {{.State.Running}}"), id+" true")
			expect(t, "its layer", m.Must("podman", "exec", "web", "cat", "/layer"), "written\n")
			expect(t, "containers", m.Shell("podman ps --all --format '{{.Names}}' | sort | tr '\\n' ' '"), "user web ")
			if bad.name != "no image" {
				expect(t, "a second reload", m.Must("sitelet", "reload"), "nothing to do\n")
			}
			deploy(m, "web", forever, `, "host_name": "good"`)
			m.Must("sitelet", "reload")
			expect(t, "the good version", m.Must("podman", "exec", "web", "hostname"), "good\n")
		})
	}
}
