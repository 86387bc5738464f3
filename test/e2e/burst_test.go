package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// burst writes descriptors at random, and knows what the last of its writings come to.
type burst struct {
	*rand.Rand
	script strings.Builder
	files  map[string]written // by path below the directory
	made   int                // workloads so far
	dirs   int                // names of sub-directories so far
	dir    string             // the present one
}

// written is a descriptor. Its workload runs if the name begins with "run".
type written struct{ name, restart, host string }

// restarts are restart policies, each with what systemd calls it.
var restarts = map[string]string{"no": "no", "always": "always", "on-failure": "on-failure", "unless-stopped": "always"}

func (w written) text() string {
	started := strings.HasPrefix(w.name, "run")
	return sleeper(w.name, fmt.Sprintf(`"host_name": %q`, w.host), fmt.Sprintf(`"host_config": {"restart_policy": {"type": %q}}`, w.restart),
		fmt.Sprintf(`"sitelet": {"auto_start": %v}`, started))
}

func (b *burst) run(format string, args ...any) { fmt.Fprintf(&b.script, format+"\n", args...) }

// put writes a file in one of the ways that people and tools do.
func (b *burst) put(path string, w written) {
	b.files[path] = w
	to := []string{path, "/etc/new", path + ".tmp"}[b.IntN(3)]
	b.run("cat >%s <<'end'\n%send", to, w.text())
	if to != path {
		b.run("mv %s %s", to, path)
	}
}

// pick returns the path of a file there is.
func (b *burst) pick() string { return slices.Sorted(maps.Keys(b.files))[b.IntN(len(b.files))] }

// place returns a path that there is no file at.
func (b *burst) place() string {
	b.made++
	return []string{"", b.dir + "/"}[b.IntN(2)] + fmt.Sprintf("file-%d.json", b.made)
}

func (b *burst) restart() string { return slices.Sorted(maps.Keys(restarts))[b.IntN(len(restarts))] }

// step is one writing.
func (b *burst) step() {
	path := b.pick()
	w := b.files[path]
	switch n := b.IntN(20); {
	case n < 5 || len(b.files) < 6:
		path = b.place()
		b.put(path, written{fmt.Sprintf("idle-%d", b.made), b.restart(), "idle"})
	case n < 12:
		w.restart = b.restart()
		b.put(path, w)
	case n < 13:
		w.host = fmt.Sprintf("host-%d", b.Uint32())
		b.put(path, w)
	case n < 16:
		to := b.place()
		delete(b.files, path)
		b.files[to] = w
		b.run("mv %s %s", path, to)
	case n < 19:
		if !strings.HasPrefix(w.name, "run") {
			delete(b.files, path)
			b.run("rm %s", path)
		}
	default:
		b.moveDir()
	}
}

// moveDir gives the sub-directory another name.
func (b *burst) moveDir() {
	old := b.dir
	b.dirs++
	b.dir = fmt.Sprintf("dir-%d", b.dirs)
	b.run("mv %s %s", old, b.dir)
	for _, path := range slices.Sorted(maps.Keys(b.files)) {
		if rest, ok := strings.CutPrefix(path, old+"/"); ok {
			b.files[b.dir+"/"+rest] = b.files[path]
			delete(b.files, path)
		}
	}
}

// With auto-reload on, 300 writings come at random moments around the reloads that they set off. The last of them are taken up.
func TestBurstLosesNothing(t *testing.T) {
	m := newMachine(t)
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"1s\"\n", 0o644)
	m.Must("systemctl", "enable", "--now", "sitelet-containers.path")
	b := burst{Rand: newRandom(t), files: map[string]written{}, dir: "dir-0"}
	b.run("cd /etc/sitelet/containers; mkdir dir-0")
	for _, name := range []string{"run-a", "run-b", "run-c"} {
		b.put(b.place(), written{name, "always", "first"})
	}
	b.run("sleep 5")
	const rounds = 300
	for i := range rounds {
		b.step()
		if b.IntN(3) > 0 {
			b.run("sleep %.3f", b.Float64()*0.4)
		}
		if i%100 == 99 {
			m.Shell(b.script.String())
			b.script.Reset()
			b.run("cd /etc/sitelet/containers")
		}
	}
	m.Eventually(2*time.Minute, func() error {
		if out, err := m.Exec("sh", "-c", "sitelet plan && ! ls -A /run/sitelet/dirty | grep ."); err != nil {
			return fmt.Errorf("plan: %w\n%s", err, out)
		}
		return nil
	})
	expect(t, "the units of auto-reload", m.Shell("systemctl is-active sitelet-containers.path sitelet-reload.path sitelet-reload.timer | xargs"), "active active active\n")
	if out := m.Shell("sitelet plan | awk 'NR > 1 && $2 != \"none\" && $2 != \"orphaned\"'"); out != "" {
		t.Errorf("in the plan there is\n%s", out)
	}
	for path, w := range b.files {
		expect(t, "the unit of "+w.name, show(m, w.name, "Restart,SourcePath,NeedDaemonReload"),
			fmt.Sprintf("NeedDaemonReload=no Restart=%s SourcePath=%s%s", restarts[w.restart], descriptors, path))
		if strings.HasPrefix(w.name, "run") {
			expect(t, "the host name of "+w.name, m.Must("podman", "exec", w.name, "hostname"), w.host+"\n")
		}
	}
	units := m.Shell("cd /run/systemd/generator; grep -ls ^Render= *.service | wc -l")
	expect(t, "the units", units, fmt.Sprintln(len(b.files)))
	reloads := strings.Count(m.Journal("sitelet-reload.service"), "Finished ")
	t.Logf("%d reloads for %d writings", reloads, rounds)
}
