package descriptor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/test/golden"
)

// TestGolden reads each set of files in testdata/*/input as a host would, and compares what is said about them, what
// they become, and what decides about them with testdata/*/expected.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/input")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no test data: ", err)
	}
	for _, input := range dirs {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			files := readFiles(t, input)
			good, list := loadSet(files)
			golden.File(t, filepath.Join(dir, "expected", "findings.txt"), printFindings(t, files, list))
			golden.File(t, filepath.Join(dir, "expected", "containers.json"), printContainers(t, good))
			golden.File(t, filepath.Join(dir, "expected", "inputs.txt"), printInputs(good))
		})
	}
}

func readFiles(t *testing.T, dir string) (files []File) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{e.Name(), data})
	}
	return files
}

func loadSet(files []File) ([]*Container, diag.List) {
	var all diag.List
	var cs []*Container
	var refused []Refused
	for _, f := range files {
		c, l := Parse(f)
		all = append(all, l...)
		if c != nil {
			cs = append(cs, c)
		} else if r, ok := NameOf(f); ok {
			refused = append(refused, r)
		}
	}
	good, l := CheckSet(cs, refused, func(name string) (string, bool) {
		return "/usr/lib/systemd/system/sshd.service", name == "sshd"
	})
	all = append(all, l...)
	all.Sort()
	return good, all
}

func printFindings(t *testing.T, files []File, l diag.List) string {
	source := func(name string) []byte {
		for _, f := range files {
			if f.Path == name {
				return f.Data
			}
		}
		return nil
	}
	var b bytes.Buffer
	if err := diag.Print(&b, l, source, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func printContainers(t *testing.T, good []*Container) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	for _, c := range good {
		short := *c
		short.SourceText = nil
		if err := enc.Encode(short); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func printInputs(good []*Container) string {
	var b bytes.Buffer
	for _, c := range good {
		fmt.Fprintf(&b, "%s\n", c.Source)
		for _, in := range c.Inputs() {
			marks := "create"
			if in.Live {
				marks = "live  "
			}
			if in.Secret {
				marks += " secret"
			}
			fmt.Fprintf(&b, "  %s %s = %q\n", marks, in.Field, in.Value)
		}
	}
	return b.String()
}
