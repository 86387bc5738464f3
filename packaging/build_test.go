package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// work is where packages are built that the environment does not name.
var work string

func TestMain(m *testing.M) {
	var err error
	if work, err = os.MkdirTemp("", "packaging"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(work)
	os.Exit(status)
}

// built is the two packages of one build.
type built struct{ deb, rpm string }

// previous are packages of an earlier version, whose generator gives units another description.
var previous = sync.OnceValues(func() (built, error) {
	return build("previous", runtime.GOARCH, "0.0.1", func(dir string) error {
		path := filepath.Join(dir, "generator/service.go")
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed := strings.Replace(string(text), `"Description", "Container "`, `"Description", "Earlier container "`, 1)
		if changed == string(text) {
			return fmt.Errorf("%s has no description to change", path)
		}
		return os.WriteFile(path, []byte(changed), 0o644)
	})
})

// foreign are packages of this version for the other architecture.
var foreign = sync.OnceValues(func() (built, error) {
	architecture := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	return build("foreign", architecture, "", func(string) error { return nil })
})

// build makes packages from a copy of the work tree that edit has changed; an empty version is that of the work tree.
func build(name, architecture, version string, edit func(dir string) error) (built, error) {
	dir := filepath.Join(work, name)
	const copyTree = `mkdir "$1"; cd ..; git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done | tar --null -T - -c | tar -x -C "$1"`
	if out, err := exec.Command("bash", "-euo", "pipefail", "-c", copyTree, "bash", dir).CombinedOutput(); err != nil {
		return built{}, fmt.Errorf("copying the work tree: %w\n%s", err, out)
	}
	if err := edit(dir); err != nil {
		return built{}, err
	}
	args := []string{"--silent", "-C", dir, "package", "GOARCH=" + architecture}
	if version != "" {
		args = append(args, "VERSION="+version)
	}
	if out, err := exec.Command("make", args...).CombinedOutput(); err != nil {
		return built{}, fmt.Errorf("make package: %w\n%s", err, out)
	}
	debs, err := filepath.Glob(filepath.Join(dir, "dist/*.deb"))
	if err != nil || len(debs) != 1 {
		return built{}, fmt.Errorf("make package made %v, %w", debs, err)
	}
	return beside(debs[0]), nil
}

// beside finds the RPM that was built with a DEB.
func beside(deb string) built {
	name := strings.Split(strings.TrimSuffix(filepath.Base(deb), ".deb"), "_") // sitelet, version, architecture
	architecture := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[name[2]]
	return built{deb, filepath.Join(filepath.Dir(deb), "sitelet-"+name[1]+"-1."+architecture+".rpm")}
}

// packages returns the packages that SITELET_DEB names one of.
func packages(t *testing.T) built {
	t.Helper()
	deb := os.Getenv("SITELET_DEB")
	if deb == "" {
		missing(t, "SITELET_DEB names no package; run the tests with `make test`")
	}
	return beside(deb)
}

// onBoth runs a test on the packages of each architecture.
func onBoth(t *testing.T, test func(*testing.T, built)) {
	this := packages(t)
	t.Run("this architecture", func(t *testing.T) { test(t, this) })
	t.Run("the other architecture", func(t *testing.T) {
		other, err := foreign()
		if err != nil {
			t.Fatal(err)
		}
		test(t, other)
	})
}

// missing skips a test, or fails it where all have to run.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("SITELET_E2E") == "required" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
