package generator

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
)

var update = flag.Bool("update", false, "write what comes out as what is expected")

// Each testdata/NN-name/input is a root directory without a quadlet; expected is what WriteTree makes of it, with its findings.
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
			found, err := WriteTree(p, out)
			if err != nil {
				t.Fatal(err)
			}
			found.Sort()
			var said bytes.Buffer
			for _, d := range found {
				said.WriteString(d.String() + "\n")
			}
			text := bytes.ReplaceAll(said.Bytes(), []byte(p.Root), nil)
			text = bytes.ReplaceAll(text, []byte(out), []byte("OUT"))
			if err := os.WriteFile(filepath.Join(out, "findings"), text, 0o644); err != nil {
				t.Fatal(err)
			}
			compare(t, p.Root, out, filepath.Join(filepath.Dir(input), "expected"))
		})
	}
}

// compare holds the files below got against those below want, with root taken out of paths.
func compare(t *testing.T, root, got, want string) {
	t.Helper()
	files := readTree(t, got)
	for name, text := range files {
		files[name] = string(bytes.ReplaceAll([]byte(text), []byte(root), nil))
	}
	if *update {
		if err := os.RemoveAll(want); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			path := filepath.Join(want, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if diff := cmp.Diff(readTree(t, want), files); diff != "" {
		t.Errorf("the tree differs (- expected, + got); if it is right, run `go test ./generator -update`:\n%s", diff)
	}
}

func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The same descriptor, for Podmans of different age: what the older ones have no key for is a flag.
func TestPodmanVersions(t *testing.T) {
	p, err := paths.New(paths.System, "testdata/02-every-field/input", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	set, found := Load(p).Check()
	if found.HasErrors() {
		t.Fatal(found)
	}
	for _, version := range []quadlet.Version{{Major: 4, Minor: 9}, {Major: 5, Minor: 4, Patch: 2}, {Major: 5, Minor: 8}} {
		t.Run(version.String(), func(t *testing.T) {
			rendered, found := Render(set, nil, Facts{Podman: version, Systemd: 252})
			out := t.TempDir()
			for _, r := range rendered {
				os.WriteFile(filepath.Join(out, r.Name+".container"), r.Quadlet, 0o644)
				os.WriteFile(filepath.Join(out, r.Name+".settings"), r.Settings, 0o644)
			}
			for _, d := range found {
				t.Log(d)
			}
			compare(t, p.Root, out, filepath.Join("testdata/02-every-field/podman-"+version.String()))
		})
	}
}

// What is written for settled is written for all that are newer, and its probe is taken since then.
func TestSettled(t *testing.T) {
	p, err := paths.New(paths.System, "testdata/02-every-field/input", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	set, _ := Load(p).Check()
	text := func(v quadlet.Version) []byte {
		rendered, found := Render(set, nil, Facts{Podman: v, Systemd: 257})
		if len(rendered) == 0 || found.HasErrors() {
			t.Fatal(found)
		}
		return bytes.Join([][]byte{rendered[0].Quadlet, rendered[0].Settings}, nil)
	}
	if diff := cmp.Diff(string(text(settled)), string(text(quadlet.Version{Major: 99}))); diff != "" {
		t.Errorf("newer Podmans get something else:\n%s", diff)
	}
	if bytes.Equal(text(settled), text(quadlet.Version{Major: 5, Minor: 2, Patch: 99})) {
		t.Error("older Podmans get the same; lower settled, with another probe")
	}
	f := quadlet.New(settled)
	f.Add("Image", "localhost/probe")
	f.Add("AddHost", "probe:127.0.0.1")
	if want, err := f.Bytes(); err != nil || string(want) != probe {
		t.Errorf("the probe is\n%s\nbut for %v this is written, %v\n%s", probe, settled, err, want)
	}
	f.Reset(quadlet.Version{Major: 5, Minor: 2, Patch: 99})
	f.Add("AddHost", "probe:127.0.0.1")
	if text, _ := f.Bytes(); bytes.Contains(text, []byte("\nAddHost=")) {
		t.Error("the probe's key is older than settled")
	}
}
