package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// What changed while the machine was off is taken up at boot, on trial, and a bad version is rolled back.
func TestUpdateAtBoot(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	deploy(m, "good", forever, "")
	deploy(m, "bad", forever, "")
	deploy(m, "image", forever, "")
	m.Must("sitelet", "reload")
	for _, name := range []string{"good", "bad", "image"} {
		m.Must("podman", "exec", name, "sh", "-c", "echo written >/layer")
	}
	old := inspect(m, "bad", "{{.Id}}")
	oldImage := inspect(m, "image", "{{.Id}}")
	deploy(m, "good", forever, `, "host_name": "new"`)
	deploy(m, "bad", `["sh", "-c", "sleep 1; exit 3"]`, "")
	m.WriteFile("/etc/sitelet/containers/image.json", `{"container_name": "image", "image": {"name": "127.0.0.1:1/none:1"}}`, 0o600)
	m.Reboot()
	m.Eventually(60*time.Second, func() error {
		for name, want := range map[string]string{"good": "updated", "bad": "rolled back"} {
			if out, err := m.Exec("sitelet", "history", name); err != nil || !strings.Contains(out, want) {
				return fmt.Errorf("history of %s: %v\n%s", name, err, out)
			}
		}
		return nil
	})
	for _, name := range []string{"good", "bad", "image"} {
		expectActive(t, m, name, "active")
	}
	expect(t, "the new host name", m.Must("podman", "exec", "good", "hostname"), "new\n")
	expect(t, "bad's container", inspect(m, "bad", "{{.Id}}"), old)
	expect(t, "bad's layer", m.Must("podman", "exec", "bad", "cat", "/layer"), "written\n")
	expect(t, "image's container", inspect(m, "image", "{{.Id}}"), oldImage)
	// Over the next boot it is remembered.
	m.Reboot()
	expectActive(t, m, "bad", "active")
	expect(t, "bad's container", inspect(m, "bad", "{{.Id}}"), old)
	if out := m.Must("sitelet", "status", "bad"); !strings.Contains(out, "exit status 3") {
		t.Errorf("status:\n%s", out)
	}
}

// An operator's stop is neither a success nor a failure, and stays a stop.
func TestStopStaysAStop(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	deploy(m, "web", forever, "")
	m.Must("sitelet", "reload")
	m.Must("systemctl", "stop", "web")
	deploy(m, "web", forever, `, "host_name": "new"`)
	m.Must("sitelet", "reload")
	expectActive(t, m, "web", "inactive")
	m.Must("sitelet", "reload")
	expectActive(t, m, "web", "inactive")
	m.Must("systemctl", "start", "web")
	expect(t, "the host name", m.Must("podman", "exec", "web", "hostname"), "new\n")
	m.Eventually(20*time.Second, func() error {
		if out := m.Must("sitelet", "history", "web"); !strings.Contains(out, "updated") {
			return fmt.Errorf("history: %s", out)
		}
		if out := m.Shell("podman ps --all --format '{{.Names}}'"); out != "web\n" {
			return fmt.Errorf("containers: %s", out)
		}
		return nil
	})
}

func TestRollbackByHand(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	deploy(m, "web", forever, "")
	m.Must("sitelet", "reload")
	deploy(m, "web", forever, `, "host_name": "new"`)
	m.Must("sitelet", "reload")
	m.Must("sitelet", "rollback", "web")
	expect(t, "the host name", m.Must("podman", "exec", "web", "hostname"), "web-host\n")
	expect(t, "a reload", m.Must("sitelet", "reload"), "nothing to do\n")
	if out, err := m.Exec("sitelet", "plan"); err != nil || !strings.Contains(out, "refused") || !strings.Contains(out, "by hand") {
		t.Errorf("plan: %v\n%s", err, out)
	}
	m.Reboot()
	expectActive(t, m, "web", "active")
	expect(t, "the host name", m.Must("podman", "exec", "web", "hostname"), "web-host\n")
}

func TestOrphansAndPrune(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	deploy(m, "web", forever, "")
	deploy(m, "old", forever, "")
	m.Shell("podman create --name mine localhost/busybox:1 true")
	m.Must("sitelet", "reload")
	m.Shell("rm /etc/sitelet/containers/web.json; sed -i s/old/new/ /etc/sitelet/containers/old.json")
	m.Must("sitelet", "reload")
	plan, err := m.Exec("sitelet", "plan")
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"web       orphaned", "old       orphaned", "has another container_name now, new", "new       none"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan has no %q:\n%s", want, plan)
		}
	}
	for _, name := range []string{"web", "old", "new"} {
		expectActive(t, m, name, "active")
	}
	begin := time.Now()
	m.Must("sitelet", "prune", "web")
	m.Must("sitelet", "prune")
	if took := time.Since(begin); took > 40*time.Second {
		t.Errorf("pruning took %v", took)
	}
	expect(t, "containers", m.Shell("podman ps --all --format '{{.Names}}' | sort | tr '\\n' ' '"), "mine new ")
	expect(t, "units", m.Shell("systemctl list-units --all --no-legend 'web.service' 'old.service' | wc -l"), "0\n")
	expect(t, "state", m.Shell("ls /var/lib/sitelet/workloads"), "new.json\n")

	deploy(m, "db", forever, "")
	deploy(m, "user", forever, `, "sitelet": {"requires": ["db"]}`)
	m.Must("sitelet", "reload")
	m.Shell("rm /etc/sitelet/containers/db.json")
	if out, err := m.Exec("sitelet", "prune"); err == nil || !strings.Contains(out+err.Error(), "db: user.service requires it and would stop, too") {
		t.Errorf("what is required is pruned: %v, %s", err, out)
	}
	expectActive(t, m, "user", "active")
	m.Shell("rm /etc/sitelet/containers/user.json")
	m.Must("sitelet", "prune")
	expect(t, "containers", m.Shell("podman ps --all --format '{{.Names}}' | sort | tr '\\n' ' '"), "mine new ")
}

func TestModesOfReload(t *testing.T) {
	m := newMachine(t)
	quickTrials(m)
	m.WriteFile("/etc/sitelet/sitelet.toml.d/mode.toml", "mode = \"init\"\n", 0o644)
	deploy(m, "web", forever, "")
	m.Must("sitelet", "reload")
	deploy(m, "web", forever, `, "host_name": "new"`)
	deploy(m, "second", forever, "")
	m.Must("sitelet", "reload")
	expect(t, "web", m.Must("podman", "exec", "web", "hostname"), "web-host\n")
	expectActive(t, m, "second", "active")
	if out, err := m.Exec("sitelet", "plan"); err != nil || !strings.Contains(out, "held") {
		t.Errorf("plan: %v\n%s", err, out)
	}
	m.WriteFile("/etc/sitelet/sitelet.toml.d/mode.toml", "mode = \"off\"\n", 0o644)
	deploy(m, "third", forever, "")
	m.Must("sitelet", "reload")
	m.Reboot()
	for name, want := range map[string]string{"web": "active", "second": "active", "third": "inactive"} {
		expectActive(t, m, name, want)
	}
}

// autoReload turns auto-reload on and waits until there is nothing to do.
func autoReload(m *machine.T) {
	quickTrials(m)
	m.Must("systemctl", "enable", "--now", "sitelet-containers.path")
}

func TestAutoReload(t *testing.T) {
	m := newMachine(t)
	autoReload(m)
	deploy(m, "web", forever, "")
	hostname := func(name, want string) {
		t.Helper()
		m.Eventually(60*time.Second, func() error {
			if out, err := m.Exec("podman", "exec", name, "hostname"); err != nil || out != want+"\n" {
				return fmt.Errorf("%s is named %q (%v), want %q", name, out, err, want)
			}
			return nil
		})
	}
	hostname("web", "web-host")
	deploy(m, "web", forever, `, "host_name": "changed"`)
	hostname("web", "changed")
	// Renamed into the directory, in a sub-directory, and in a sub-directory that is new.
	m.Shell(`cd /etc/sitelet; echo '{"container_name": "moved", "image": {"name": "localhost/busybox:1"}, "config": {"cmd": ` + forever + `}}' >moved.tmp; mv moved.tmp containers/moved.json
		mkdir -p containers/a/b; sed s/moved/deep/ containers/moved.json >containers/a/b/deep.json`)
	hostname("moved", "moved-host")
	hostname("deep", "deep-host")
	m.Shell(`sed -i 's/"image"/"host_name": "deeper", "image"/' /etc/sitelet/containers/a/b/deep.json`)
	hostname("deep", "deeper")
	// The directory is replaced.
	m.Shell(`cd /etc/sitelet; cp -a containers other; sed -i 's/changed/replaced/' other/web.json; mv containers old; mv other containers; rm -r old`)
	hostname("web", "replaced")
	m.Shell(`sed -i 's/replaced/again/' /etc/sitelet/containers/web.json`)
	hostname("web", "again")
	if out, err := m.Exec("sitelet", "reload"); err == nil || !strings.Contains(err.Error(), "systemctl stop sitelet-containers.path") {
		t.Errorf("reload beside auto-reload: %v %s", err, out)
	}
	m.Must("sitelet", "reload", "--force")
	m.Reboot()
	hostname("web", "again")
	deploy(m, "web", forever, `, "host_name": "booted"`)
	hostname("web", "booted")
}
