package main

import (
	"os"
	"regexp"
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
	if line := notShown(picture(t), out.String()); line != "" {
		t.Errorf("README.md has a line that was not shown, or not in that order: %s", line)
	}
	for line := range strings.Lines(intro + outro) {
		if len(line) > 81 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}

// picture returns what README.md shows of the demo.
func picture(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile("(?s)\n```text\n(.*?)```").FindSubmatch(readme)
	if match == nil {
		t.Fatal("README.md has no picture of the demo")
	}
	return string(match[1])
}

// notShown returns the first line of a picture that is not in the output after those before it, or nothing. A line of a picture may
// end in " ..." in place of the rest.
func notShown(picture, out string) string {
	for line := range strings.Lines(picture) {
		want, short := strings.CutSuffix(line, " ...\n")
		if !short {
			want = line
		}
		_, rest, ok := strings.Cut("\n"+out, "\n"+want)
		if !ok {
			return line
		}
		out = rest
	}
	return ""
}

func TestNotShown(t *testing.T) {
	const out = "== 1. A\n\nText.\n    demo# b c\n  ✓ d\n"
	for picture, want := range map[string]string{
		"== 1. A\n\n    demo# b ...\n  ✓ d\n": "", "  ✓ d\n    demo# b c\n": "    demo# b c\n", "    demo# b\n": "    demo# b\n", "other\n": "other\n",
	} {
		if got := notShown(picture, out); got != want {
			t.Errorf("of %q, %q was not shown; want %q", picture, got, want)
		}
	}
}

func TestDemoNeedsPackage(t *testing.T) {
	if err := run(&strings.Builder{}, ""); err == nil || !strings.Contains(err.Error(), "make demo") {
		t.Errorf("error %v", err)
	}
}
