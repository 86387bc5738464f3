package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/paths"
)

// TestMain is the process that TestKilled kills where the environment says so.
func TestMain(m *testing.M) {
	if root := os.Getenv("SITELET_TEST_REFRESH"); root != "" {
		os.Exit(refreshIn(root))
	}
	os.Exit(m.Run())
}

func refreshIn(root string) int {
	p, err := paths.New(paths.System, root, os.Getenv)
	h := Hooks{Paths: p, Now: time.Now, Log: func(string, ...any) {}}
	if err == nil {
		_, err = h.refreshSite(context.Background(), "ns1")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKilled kills a refresh before its first change of each directory, and wants the next one to end where one that is let be does:
// with nothing left over, and with the ports, the identity and the CAs that were begun with.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills many processes")
	}
	killat := filepath.Join(t.TempDir(), "killat")
	if out, err := exec.Command("go", "build", "-o", killat, "../test/e2e/killat").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h := siteHooks(t)
	running(t, h)
	want, record := written(h), mustRecord(t, h)
	steps := refreshUntil(t, h, killat, "")
	if len(steps) < 25 {
		t.Fatalf("it has %d steps:\n%s", len(steps), strings.Join(steps, "\n"))
	}
	for _, step := range firstOfEach(steps) {
		begun := tree(filepath.Join(h.home("ns1"), "runtime/issuers"))
		refreshUntil(t, h, killat, step)
		refresh(t, h)
		if diff := cmp.Diff(want, written(h)); diff != "" {
			t.Fatalf("killed before it would %s, the next refresh does not finish (-want +got):\n%s", step, diff)
		}
		if diff := cmp.Diff(record, mustRecord(t, h)); diff != "" {
			t.Fatalf("killed before it would %s, the state is another: %s", step, diff)
		}
		if diff := cmp.Diff(begun, tree(filepath.Join(h.home("ns1"), "runtime/issuers"))); diff != "" {
			t.Fatalf("killed before it would %s, a CA is another", step)
		}
	}
}

// refreshUntil refreshes a site of which only CAs, ports and identity are left until it would take a step, and returns the steps
// that it took.
func refreshUntil(t *testing.T, h Hooks, killat, step string) []string {
	t.Helper()
	for _, name := range []string{"runtime/router", "runtime/links", "runtime/resources", "runtime/certs/web", "runtime/certs/x-profile", "internal"} {
		if err := os.RemoveAll(filepath.Join(h.home("ns1"), name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(h.Paths.PortsDir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "at")
	if err := os.WriteFile(file, fmt.Appendln(nil, 1, step), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(killat, file, os.Args[0])
	cmd.Env = append(os.Environ(), "SITELET_TEST_REFRESH="+h.Paths.Root)
	out, err := cmd.CombinedOutput()
	_, killed := os.Stat(file + ".killed")
	if step == "" && err != nil || step != "" && killed != nil {
		t.Fatalf("%q: %v, %v: %s", step, err, killed, out)
	}
	text, err := os.ReadFile(file + ".steps")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// firstOfEach returns the steps that are the first in their directory: the others there are no different.
func firstOfEach(steps []string) []string {
	var first []string
	seen := map[string]bool{}
	for _, step := range steps {
		if dir := filepath.Dir(step); !seen[dir] {
			first, seen[dir] = append(first, step), true
		}
	}
	return first
}
