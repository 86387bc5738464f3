package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// victims are scripts that end the making of a container with kill -9: all of it, the hook only, podman only.
var victims = []string{
	"systemctl kill --signal=KILL sitelet-create@app.service",
	"systemctl kill --signal=KILL --kill-whom=main sitelet-create@app.service",
	"pkill -KILL --exact podman",
}

// The making of a container is killed at some moments, at the first start and when it is made anew. The next start makes
// up for it.
func TestCreateKilled(t *testing.T) {
	m := newMachine(t)
	random := newRandom(t)
	descriptor := func(round int) {
		writeFiles(m, map[string]string{descriptors + "app.json": sleeper("app", fmt.Sprintf(`"host_name": "round-%d"`, round))})
		m.Must("systemctl", "daemon-reload")
	}
	descriptor(0)
	m.Must("systemctl", "start", "app")
	whole := createTime(t, m)
	const rounds = 12
	for round := 1; round <= rounds; round++ {
		if round%3 == 0 {
			m.Shell("systemctl stop app; podman rm --all; rm /var/lib/sitelet/workloads/app.json")
		}
		descriptor(round)
		delay, victim := random.Float64()*whole, victims[round%len(victims)]
		m.Shell(fmt.Sprintf("systemctl start --no-block sitelet-create@app; sleep %.3f; %s || true", delay, victim))
		what := fmt.Sprintf("round %d, after %.3f s of %.3f: %s", round, delay, whole, victim)
		// It fails where it waits for what was just killed; then systemd does it again.
		m.Exec("systemctl", "restart", "app")
		expectOneContainer(t, m, what)
		whole = createTime(t, m)
	}
	killed := strings.Count(m.Journal("sitelet-create@app.service"), "Failed with result")
	t.Logf("%d of %d were cut off", killed, rounds)
	if killed < rounds/4 {
		t.Errorf("only %d of %d were cut off; the machine is too slow or too fast for %.3f s", killed, rounds, whole)
	}
}

// createTime returns how many seconds the last making of the container took.
func createTime(t *testing.T, m *machine.T) float64 {
	t.Helper()
	micros := func(name string) float64 {
		n, err := strconv.ParseFloat(property(m, "sitelet-create@app.service", name), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return (micros("ExecMainExitTimestampMonotonic") - micros("ExecMainStartTimestampMonotonic")) / 1e6
}

// expectOneContainer expects that app comes to run in a container of its unit's generation, and that there is none but it and the
// one before it. One whose removal was killed goes with the next change.
func expectOneContainer(t *testing.T, m *machine.T, what string) {
	t.Helper()
	err := machine.Eventually(30*time.Second, func() error {
		generation := strings.TrimSpace(m.Shell("sed -n s/^Generation=//p /run/systemd/generator/app.service"))
		busy := m.Shell("systemctl list-jobs --no-legend '*app.service' | grep -v trial || true; systemctl is-active app.service || true")
		lines := strings.Split(strings.TrimSpace(m.Must("podman", "ps", "--all", "--external", "--format", `{{.Names}} {{.State}} {{.Label "io.sitelet.generation"}}`)), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, " removing ") })
		running := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.Contains(line, " running ") })
		if busy != "active\n" || len(lines) > 2 || !slices.Equal(running, []string{"app running " + generation}) {
			return fmt.Errorf("%s: the generation is %s, the unit is %q and the containers are %q", what, generation, busy, lines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
