package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// crash is a machine on which one process of sitelet after the other is killed in the middle of an update of web.
type crash struct {
	*machine.T
	t     *testing.T
	route route
	round int
}

// route is one way that an update goes.
type route struct {
	name     string
	bad      bool     // the new version fails
	command  string   // takes it up
	victims  []string // who has a hand in it
	powerCut bool     // comes after the kill, instead of another reload
}

const (
	byReload  = "killat /run/kill/reload sitelet reload"
	byRestart = "systemctl daemon-reload; systemctl restart web" // as a boot goes
)

// stride is how many steps there are to one that is taken where not all are.
const stride = 6

// kill is the n-th time that a process of sitelet comes to a step.
type kill struct {
	victim, step string
	n            int
}

func (k kill) String() string {
	return fmt.Sprintf("%s killed before step %q, %d", k.victim, k.step, k.n)
}

// A process of sitelet is killed right before a step of an update; then another reload, or a power cut and a boot, makes a whole of
// it: the new version, or the old one with what had been written in its container. An update that nothing befalls shows which
// steps there are. Some of them are taken, always the same, half of them with the one and half with the other thereafter; with
// SITELET_CRASH=all in the environment, each is, as often as it comes and with both.
func TestCrashAnywhere(t *testing.T) {
	for _, r := range []route{
		{"good", false, byReload, []string{"reload", "trial"}, false},
		{"good, power cut", false, byReload, []string{"reload", "trial"}, true},
		{"bad", true, byReload, []string{"reload", "create", "trial", "rollback"}, false},
		{"bad, power cut", true, byReload, []string{"reload", "create", "trial", "rollback"}, true},
		{"good by restart", false, byRestart, []string{"create", "trial"}, false},
		{"good by restart, power cut", false, byRestart, []string{"create", "trial"}, true},
		{"bad by restart", true, byRestart, []string{"create", "trial", "rollback"}, false},
		{"bad by restart, power cut", true, byRestart, []string{"create", "trial", "rollback"}, true},
	} {
		t.Run(r.name, func(t *testing.T) {
			c := newCrash(t, r)
			all, killed, settled := c.steps(), 0, 0
			for _, k := range all {
				was, isNew := c.once(k)
				if was {
					killed++
				}
				if isNew {
					settled++
				}
			}
			t.Logf("%d of %d were killed; %d ended as the new version", killed, len(all), settled)
			if len(all) == 0 || killed < len(all)*3/4 {
				t.Errorf("only %d of %d were killed", killed, len(all))
			}
		})
	}
}

// newCrash has sitelet's hooks for web run by killat, which /run/kill/HOOK tells when to kill one.
func newCrash(t *testing.T, r route) *crash {
	m := newMachine(t)
	program := filepath.Join(t.TempDir(), "killat")
	build := exec.Command("go", "build", "-o", program, "./killat")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m.CopyFile(program, "/usr/bin/killat")
	for _, hook := range []string{"create", "trial", "rollback"} {
		m.WriteFile("/etc/systemd/system/sitelet-"+hook+"@web.service.d/kill.conf",
			"[Service]\nExecStart=\nExecStart=killat /run/kill/"+hook+" sitelet hook "+hook+" %i\n", 0o644)
	}
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"1s\"\n", 0o644)
	c := &crash{T: m, t: t, route: r}
	deploy(m, "web", forever, "")
	deploy(m, "user", forever, `, "sitelet": {"requires": ["web"]}`)
	m.Must("systemctl", "daemon-reload")
	m.Must("sitelet", "reload")
	return c
}

// steps updates web without a kill, and returns those that there could have been, in the order of their steps.
func (c *crash) steps() []kill {
	c.update("for victim in reload create trial rollback; do echo 1000 nothing >/run/kill/$victim; done")
	traced := map[string]string{}
	for _, victim := range c.route.victims {
		traced[victim] = c.Shell("cat /run/kill/" + victim + ".steps 2>/dev/null || true")
	}
	c.recover("an update")
	every := os.Getenv("SITELET_CRASH") == "all"
	seen := map[kill]int{}
	var out []kill
	for _, victim := range c.route.victims {
		for _, step := range strings.Split(strings.TrimSpace(traced[victim]), "\n") {
			k := kill{victim: victim, step: step}
			seen[k]++
			turn := len(seen) % stride
			if n := seen[k]; every || n == 1 && (turn == 0 && !c.route.powerCut || turn == stride/2 && c.route.powerCut) {
				out = append(out, kill{victim, step, n})
			}
		}
	}
	return out
}

// once updates web to a version that comes to be killed at a step, and sees what becomes of it: whether it came to that, and
// whether the new version runs then.
func (c *crash) once(k kill) (killed, isNew bool) {
	begin := time.Now()
	c.update(fmt.Sprintf("echo %d %s >/run/kill/%s", k.n, k.step, k.victim))
	killed = c.Shell("ls /run/kill/*.killed 2>/dev/null || true") != ""
	isNew = c.recover(k.String())
	c.t.Logf("%.1f s, killed: %v, new: %v: %v", time.Since(begin).Seconds(), killed, isNew, k)
	return killed, isNew
}

// update has a new version of web taken up, after a script, until that is done or something was killed.
func (c *crash) update(script string) {
	c.round++
	c.Must("podman", "exec", "web", "sh", "-c", fmt.Sprintf("echo %d >/layer", c.round))
	if c.route.bad {
		deploy(c.T, "web", fmt.Sprintf(`["sh", "-c", "exit %d"]`, c.round%200+1), "")
	} else {
		deploy(c.T, "web", forever, fmt.Sprintf(`, "host_name": "good-%d"`, c.round))
	}
	c.Shell(fmt.Sprintf(`rm -rf /run/kill; mkdir /run/kill
		podman container inspect --format {{.Id}} web >/run/kill/before
		%s
		{ { %s; } || true; while [ -e /run/sitelet/trials/web ]; do sleep 0.05; done; touch /run/done-%[3]d; } >/run/kill/out 2>&1 &
		until [ -e /run/done-%[3]d ] || ls /run/kill/*.killed >/dev/null 2>&1; do sleep 0.05; done`, script, c.route.command, c.round))
}

// recover has the machine make a whole of what an update has come to, and tells whether that is the new version.
func (c *crash) recover(what string) (isNew bool) {
	c.t.Helper()
	before := c.Shell("cat /run/kill/before")
	out := ""
	if c.route.powerCut {
		c.PowerCut()
		c.Boot()
	} else {
		out, _ = c.Exec("sh", "-c", "sitelet reload 2>&1")
		out = c.Shell("cat /run/kill/out") + out
	}
	if err := machine.Eventually(time.Minute, func() error { return c.whole(strings.TrimSpace(before)) }); err != nil {
		state, _ := c.Exec("jq", "del(..|.Inputs?,.Unit?,.Create?)", "/var/lib/sitelet/workloads/web.json")
		c.t.Fatalf("%s: %v\n%s\n%s", what, err, out, state)
	}
	return strings.TrimSpace(before) != containerID(c.T, "web")
}

// whole tells whether web is in a state that lasts: its container is the one from before, which ran in this round, or a new one of
// the descriptor's version.
func (c *crash) whole(before string) error {
	got := c.Shell(`systemctl is-active web user | xargs || true
		sitelet plan | awk '$1 == "web" {print $2}' || true
		{ ls /run/sitelet/trials; find /run/sitelet /var/lib/sitelet -name ready -o -name env -o -name keys -o -name 'quadlet-*' -o -name '.*'; } 2>/dev/null | xargs || true
		podman ps --all --external --format '{{.Names}} {{.State}}' | sort | xargs
		podman ps --no-trunc --filter name=^web$ --format '{{.ID}} {{.Label "io.sitelet.generation"}}'
		sed -n s/^Generation=//p /run/systemd/generator/web.service 2>/dev/null || echo none # in the middle of a daemon-reload
		podman exec web cat /layer 2>/dev/null || echo none`)
	lines := strings.Split(got, "\n")
	id, generation, _ := strings.Cut(lines[4], " ")
	want := []string{"active active", "none", "", "user running web running", lines[4], generation, "none", ""}
	if id == before {
		want[1], want[6] = "refused", fmt.Sprint(c.round)
	}
	if !slices.Equal(lines, want) {
		return fmt.Errorf("there is %q, want %q", lines, want)
	}
	return nil
}

// A state file that is damaged or gone is reported and made again, and the container is left alone.
func TestLostState(t *testing.T) {
	m := newMachine(t)
	deploy(m, "web", forever, "")
	m.Must("sitelet", "reload")
	id := inspect(m, "web", "{{.Id}} {{.State.StartedAt}}")
	const file = "/var/lib/sitelet/workloads/web.json"
	for _, damage := range []string{"truncate --size=100 " + file, ": >" + file, "rm " + file} {
		m.Shell(damage)
		out, err := m.Exec("sh", "-c", "sitelet reload 2>&1")
		if err != nil || !strings.Contains(out, "web") || !strings.Contains(out, "state") {
			t.Errorf("after %s: %v\n%s", damage, err, out)
		}
		expect(t, "the plan", m.Shell("sitelet plan | awk '$1 == \"web\" {print $2}'"), "none\n")
		expect(t, "the container", inspect(m, "web", "{{.Id}} {{.State.StartedAt}}"), id)
		expect(t, "the marks", m.Shell("ls /run/sitelet/trials"), "")
		expect(t, "the state", m.Shell("jq -r .Current.Source "+file), descriptors+"web.json\n")
	}
}
