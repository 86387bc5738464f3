package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// T is a machine that belongs to a test. Where a Machine's method returns an error, T's fails the test.
type T struct {
	*Machine
	tb testing.TB
}

// Require skips the test where machines cannot run and says why; with SITELET_E2E=required in the environment
// it fails the test.
func Require(tb testing.TB) {
	tb.Helper()
	err := Available()
	switch {
	case err == nil:
	case os.Getenv("SITELET_E2E") == "required":
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
}

// New starts a machine that ends with the test. After a failure its journal is in the directory SITELET_ARTIFACTS
// or else its end in the test's log. Tests that run in parallel have at most as many machines as -parallel says.
func New(tb testing.TB, options Options) *T {
	tb.Helper()
	Require(tb)
	m, err := Start(options)
	if err != nil {
		tb.Fatal(err)
	}
	t := &T{m, tb}
	tb.Cleanup(func() {
		if tb.Failed() {
			t.saveJournal()
		}
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return t
}

// saveJournal keeps the journal of a test that failed.
func (t *T) saveJournal() {
	if !t.isOn() {
		if err := t.Machine.Boot(); err != nil {
			t.tb.Logf("no journal: %v", err)
			return
		}
	}
	journal, err := t.Machine.Journal("")
	if err != nil {
		t.tb.Logf("no journal: %v", err)
		return
	}
	if dir := os.Getenv("SITELET_ARTIFACTS"); dir != "" {
		name := strings.NewReplacer("/", "_", " ", "_").Replace(t.tb.Name()) + "-" + filepath.Base(t.dir) + ".journal"
		path := filepath.Join(dir, name)
		if err = os.MkdirAll(dir, 0o755); err == nil {
			err = os.WriteFile(path, []byte(journal), 0o644)
		}
		t.tb.Logf("journal: %s (%v)", path, err)
		return
	}
	// A log of many tests is read by its ends, so each one is brief.
	lines := strings.Split(journal, "\n")
	lines = lines[max(0, len(lines)-25):]
	for i, line := range lines {
		lines[i] = line[:min(len(line), 250)]
	}
	t.tb.Logf("end of the journal:\n%s", strings.Join(lines, "\n"))
}

// As returns the same machine with another user whose commands it runs.
func (t *T) As(user string) *T {
	return &T{t.Machine.As(user), t.tb}
}

// must fails the test at once if there is an error.
func (t *T) must(err error) {
	t.tb.Helper()
	if err != nil {
		t.tb.Fatal(err)
	}
}

// mustPrinting is must for a command, whose output may say more.
func (t *T) mustPrinting(out string, err error) {
	t.tb.Helper()
	if err != nil {
		t.tb.Fatalf("%v\n%s", err, out)
	}
}

// Must runs a command that must succeed and returns what it writes to standard output.
func (t *T) Must(args ...string) string {
	t.tb.Helper()
	out, err := t.Exec(args...)
	t.mustPrinting(out, err)
	return out
}

// Shell runs a script that must succeed and returns what it writes to standard output.
func (t *T) Shell(script string) string {
	t.tb.Helper()
	out, err := t.Machine.Shell(script)
	t.mustPrinting(out, err)
	return out
}

// WriteFile writes a file.
func (t *T) WriteFile(path, content string, mode os.FileMode) {
	t.tb.Helper()
	t.must(t.Machine.WriteFile(path, content, mode))
}

// CopyFile copies a file of the host.
func (t *T) CopyFile(host, path string) {
	t.tb.Helper()
	t.must(t.Machine.CopyFile(host, path))
}

// ReadFile returns the content of a file.
func (t *T) ReadFile(path string) string {
	t.tb.Helper()
	content, err := t.Machine.ReadFile(path)
	t.must(err)
	return content
}

// Journal returns what the journal has of a unit, or everything.
func (t *T) Journal(unit string) string {
	t.tb.Helper()
	journal, err := t.Machine.Journal(unit)
	t.must(err)
	return journal
}

// Eventually waits until check returns nil.
func (t *T) Eventually(timeout time.Duration, check func() error) {
	t.tb.Helper()
	t.must(Eventually(timeout, check))
}

// Linger starts the manager of the user of As.
func (t *T) Linger() {
	t.tb.Helper()
	t.must(t.Machine.Linger())
}

// Boot switches the machine on.
func (t *T) Boot() {
	t.tb.Helper()
	t.must(t.Machine.Boot())
}

// Reboot shuts the machine down and boots it again.
func (t *T) Reboot() {
	t.tb.Helper()
	t.must(t.Machine.Reboot())
}

// PowerCut stops everything at once.
func (t *T) PowerCut() {
	t.tb.Helper()
	t.must(t.Machine.PowerCut())
}
