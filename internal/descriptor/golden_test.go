package descriptor

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/diag"
)

var update = flag.Bool("update", false, "write the expected files anew")

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
			compare(t, filepath.Join(dir, "expected", "findings.txt"), printFindings(t, files, list))
			compare(t, filepath.Join(dir, "expected", "containers.json"), printContainers(t, good))
			compare(t, filepath.Join(dir, "expected", "inputs.txt"), printInputs(good))
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

func printFindings(t *testing.T, files []File, l diag.List) []byte {
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
	return b.Bytes()
}

func printContainers(t *testing.T, good []*Container) []byte {
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
	return b.Bytes()
}

func printInputs(good []*Container) []byte {
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
	return b.Bytes()
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		write(t, file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && (!os.IsNotExist(err) || len(got) > 0) {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", file, firstDifference(string(got), string(want)))
	}
}

// write leaves out empty files, so that what a case is about stands out.
func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if len(data) == 0 {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, at(g, i), at(w, i))
		}
	}
	return ""
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}
