// Package golden compares what tests come to with files that are kept beside them. `go test ./PACKAGE -update` writes those anew.
package golden

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update has the expected files written instead of compared.
var Update = flag.Bool("update", false, "write the expected files anew")

// File holds got against a file. One that is not there is empty, so that what a case is about stands out.
func File(t testing.TB, path, got string) {
	t.Helper()
	if *Update {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if got != "" {
			write(t, path, got)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (- expected, + got); if it is right, -update writes it anew:\n%s", path, diff)
	}
}

// Tree holds got, texts by their paths below a directory, against all files that are there.
func Tree(t testing.TB, dir string, got map[string]string) {
	t.Helper()
	if *Update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for name, text := range got {
			write(t, filepath.Join(dir, name), text)
		}
		return
	}
	if diff := cmp.Diff(Read(t, dir), got); diff != "" {
		t.Errorf("%s differs (- expected, + got); if it is right, -update writes it anew:\n%s", dir, diff)
	}
}

// Read returns the files below a directory by their paths there.
func Read(t testing.TB, dir string) map[string]string {
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

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
