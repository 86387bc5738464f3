package main

import (
	"os"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/test/machine"
)

// deb returns the package to test, for a test on a machine that runs in parallel with others.
func deb(t *testing.T) string {
	t.Helper()
	machine.Require(t)
	t.Parallel()
	path := os.Getenv("SITELET_DEB")
	switch {
	case path != "":
	case os.Getenv("SITELET_E2E") == "required":
		t.Fatal("SITELET_DEB is not set; run make test")
	default:
		t.Skip("SITELET_DEB is not set; run make test, which builds the package and names it there")
	}
	return path
}

// The whole demo; it checks its outcome itself.
func TestDemo(t *testing.T) {
	path := deb(t)
	var out strings.Builder
	if err := run(&out, path); err != nil {
		t.Fatalf("%v, after:\n%s", err, out.String())
	}
	for _, s := range steps() {
		if !strings.Contains(out.String(), s.title) {
			t.Errorf("%q was not shown", s.title)
		}
	}
	for line := range strings.Lines(intro + outro) {
		if len(line) > 81 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}

func TestDemoNeedsPackage(t *testing.T) {
	if err := run(&strings.Builder{}, ""); err == nil || !strings.Contains(err.Error(), "make demo") {
		t.Errorf("error %v", err)
	}
}
