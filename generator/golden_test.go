package generator

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/unit"
	"github.com/sitelet/sitelet/test/golden"
)

// Each testdata/NN-name/input is a root directory without a Podman; expected is what WriteTree makes of it, with its findings.
func TestTrees(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/input")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, input := range cases {
		t.Run(filepath.Base(filepath.Dir(input)), func(t *testing.T) {
			t.Parallel()
			p, err := paths.New(paths.System, input, os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			out := t.TempDir()
			found, err := WriteTree(p, out, nil)
			if err != nil {
				t.Fatal(err)
			}
			// Where this checkout and the temporary directory are decides nothing.
			for i, d := range found {
				found[i].File = strings.Replace(strings.TrimPrefix(d.File, p.Root), out, "OUT", 1)
			}
			found.Sort()
			var said bytes.Buffer
			for _, d := range found {
				said.WriteString(d.String() + "\n")
			}
			text := bytes.ReplaceAll(said.Bytes(), []byte(p.Root), nil)
			if err := os.WriteFile(filepath.Join(out, "findings"), text, 0o644); err != nil {
				t.Fatal(err)
			}
			nameRenderings(t, out)
			compare(t, p.Root, out, filepath.Join(filepath.Dir(input), "expected"))
		})
	}
}

// nameRenderings puts names in place of the digests of renderings, in which the path of this checkout is.
func nameRenderings(t *testing.T, out string) {
	t.Helper()
	units, _ := filepath.Glob(filepath.Join(out, "run/systemd/generator/*.service"))
	for _, path := range units {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		render := string(text[len(text)-25 : len(text)-1])
		name := strings.TrimSuffix(filepath.Base(path), ".service")
		cache := filepath.Join(out, "run/sitelet/cache")
		err = errors.Join(os.Remove(path), os.WriteFile(path, bytes.ReplaceAll(text, []byte(render), []byte("RENDER-"+name)), 0o644),
			os.Remove(filepath.Join(cache, render+".service")), // the same file
			os.Rename(filepath.Join(cache, render+".create"), filepath.Join(cache, "RENDER-"+name+".create")))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// compare holds the files below got against those below want, with root taken out of paths.
func compare(t *testing.T, root, got, want string) {
	t.Helper()
	files := golden.Read(t, got)
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, root, "")
	}
	golden.Tree(t, want, files)
}

// The same descriptor, for Podmans and systemds of different age.
func TestVersions(t *testing.T) {
	p, err := paths.New(paths.System, "testdata/02-every-field/input", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	rendered, found := Load(p).render(nil, hostFacts{systemd: 252})
	if found.HasErrors() {
		t.Fatal(found)
	}
	out := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unit, _, _ := bytes.Cut(rendered[0].Unit, []byte("Render="))
	write("systemd-252.service", unit)
	for _, version := range []quadlet.Version{{Major: 4, Minor: 9}, {Major: 5, Minor: 1}, {Major: 5, Minor: 2}, {Major: 5, Minor: 3}} {
		text, err := rendered[0].Quadlet.Text(version)
		if err != nil {
			t.Fatal(err)
		}
		write("podman-"+version.String()+".container", text)
	}
	compare(t, p.Root, out, "testdata/02-every-field/versions")
}

// The unit says of how the service is run what Quadlet would, in both scopes.
func TestUnitIsQuadlets(t *testing.T) {
	tool := hostQuadlet(t)
	inputs, _ := filepath.Glob("testdata/*/input")
	for _, input := range inputs {
		p, err := paths.New(paths.System, input, os.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range []paths.Scope{paths.System, paths.User} {
			rendered, _ := Load(p).render(nil, hostFacts{scope: scope})
			for _, r := range rendered {
				j := &quadlet.Job{Name: r.Name, File: r.Quadlet}
				if tool.Convert(t.Context(), t.TempDir(), scope == paths.User, []*quadlet.Job{j}); j.Err != nil {
					t.Fatal(j.Err)
				}
				theirs, err := unit.Parse(j.Unit)
				ours, err2 := unit.Parse(r.Unit)
				if err := errors.Join(err, err2); err != nil {
					t.Fatal(err)
				}
				for _, line := range theirs {
					made := strings.HasPrefix(line.Key, "Exec") || line.Key == "SourcePath" || strings.HasPrefix(line.Value, "SITELET_")
					if (line.Section == "Unit" || line.Section == "Service") && !made && !slices.Contains(ours, line) {
						t.Errorf("%s, %v: Quadlet has [%s] %s=%s", r.Name, scope, line.Section, line.Key, line.Value)
					}
				}
			}
		}
	}
}

// hostQuadlet returns a quadlet to run.
func hostQuadlet(t *testing.T) quadlet.Tool {
	t.Helper()
	root := "/"
	if command := os.Getenv("SITELET_TEST_QUADLET"); command != "" {
		h := newHost(t)
		h.write("/usr/libexec/podman/quadlet", "#!/bin/sh\nexec "+command+" \"$@\"\n")
		os.Chmod(h.paths.Below("/usr/libexec/podman/quadlet"), 0o755)
		root = h.paths.Root
	}
	tool, err := quadlet.Host(t.Context(), root, "")
	if err != nil {
		t.Skipf("%v, or set SITELET_TEST_QUADLET to the command that runs one", err)
	}
	return tool
}
