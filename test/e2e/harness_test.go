// Package e2e runs sitelet on booted Debian machines. It needs root, and is skipped where machines cannot run.
package e2e

import (
	"fmt"
	"os"
	"testing"

	"github.com/sitelet/sitelet/test/machine"
)

// TestMain makes what all machines start from, so that no test's time includes it.
func TestMain(m *testing.M) {
	if machine.Available() == nil {
		if err := machine.Prepare(os.Getenv("SITELET_DEB")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// newMachine returns a fresh machine with sitelet installed from the package that SITELET_DEB names,
// for a test that runs in parallel with others.
func newMachine(t *testing.T) *machine.T {
	t.Helper()
	t.Parallel()
	deb := os.Getenv("SITELET_DEB")
	if deb == "" {
		if os.Getenv("SITELET_E2E") == "required" {
			t.Fatal("SITELET_DEB is not set; run make test")
		}
		t.Skip("SITELET_DEB is not set; run make test, which builds the package and names it there")
	}
	return machine.New(t, machine.Options{Deb: deb})
}

// plainMachine returns a fresh machine without sitelet, for a test that runs in parallel with others.
func plainMachine(t *testing.T) *machine.T {
	t.Helper()
	t.Parallel()
	return machine.New(t, machine.Options{})
}
