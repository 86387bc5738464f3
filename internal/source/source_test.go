package source

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSearch wants only the files of a kind to be read, in order, from sub-directories too.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yaml", "a.yml", "c.json", "sub/d.yaml", "e.YAML", "f.txt", "g.yaml~", "sub/h.Json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		search       func(Reader) ([]File, []string, []string)
		files, found string
	}{
		{"resources", func(r Reader) ([]File, []string, []string) {
			files, looked, found := r.Resources(dir)
			var list []string
			for _, d := range found {
				list = append(list, d.String())
			}
			return files, looked, list
		}, "a.yml b.yaml c.json sub/d.yaml", "e.YAML link sub/h.Json"},
		{"descriptors", func(r Reader) ([]File, []string, []string) {
			files, looked, found := r.Descriptors([]string{dir, dir})
			var list []string
			for _, d := range found {
				list = append(list, d.String())
			}
			return files, looked, slices.Compact(slices.Sorted(slices.Values(list)))
		}, "c.json", "link sub/h.Json"},
	} {
		files, looked, found := c.search(Reader{Root: "/"})
		var names []string
		for _, f := range files {
			name, _ := filepath.Rel(dir, f.Path)
			if string(f.Data) != name {
				t.Errorf("%s holds %q", name, f.Data)
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != c.files {
			t.Errorf("%s: read %s, want %s", c.name, got, c.files)
		}
		if !slices.Contains(looked, filepath.Join(dir, "sub")) {
			t.Errorf("%s: looked into %v", c.name, looked)
		}
		for i, name := range strings.Fields(c.found) {
			if len(found) != len(strings.Fields(c.found)) || !strings.Contains(found[i], "/"+name+": warning: ") {
				t.Errorf("%s: found %s, want %s", c.name, strings.Join(found, "\n"), c.found)
			}
		}
	}
	if files, _, found := (Reader{Root: "/"}).Resources(filepath.Join(dir, "nothing")); len(files)+len(found) != 0 {
		t.Errorf("%v %v", files, found)
	}
}

// TestUnfit wants each file that cannot be used to be named, with what to do about it.
func TestUnfit(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.Symlink("nothing", filepath.Join(dir, "a.json")),
		syscall.Mkfifo(filepath.Join(dir, "b.json"), 0o600),
		os.WriteFile(filepath.Join(dir, "c.json"), make([]byte, maxSize+1), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	_, _, found := Reader{Root: "/"}.Descriptors([]string{dir})
	want := []string{
		"a.json: cannot be read: no such file or directory. Mend where it leads to, or remove it.",
		"b.json: is not a regular file. Mend its type, size or permissions, or move it away.",
		"c.json: is larger than 1048576 bytes. Mend its type, size or permissions, or move it away.",
	}
	if len(found) != len(want) {
		t.Fatalf("found %v", found)
	}
	for i, d := range found {
		if got := strings.TrimPrefix(d.String(), dir+"/"); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

// TestTrust wants what others may change to be named, with the directory above that lets them.
func TestTrust(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"open/inside", "closed"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"open/hop": "../closed", "closed/far": "../open/hop", "closed/near": filepath.Join(root, "closed"),
		"closed/a.json": "far/b.json", "closed/c.json": "near/b.json", "closed/z.json": "pipe"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	pipe := filepath.Join(root, "closed/pipe")
	if err := errors.Join(os.WriteFile(filepath.Join(root, "closed/b.json"), nil, 0o644), syscall.Mkfifo(pipe, 0o600), os.Chmod(pipe, 0o666)); err != nil {
		t.Fatal(err)
	}
	r := Reader{Root: root, Trusted: true}
	for path, want := range map[string]string{"closed": "", "closed/none": "", "open": "open", "open/inside": "open", "open/inside/none/at/all": "open",
		"closed/near": "", "closed/far": "open", "closed/a.json": "open", "closed/c.json": "", "closed/z.json": ""} {
		d := r.Trust(filepath.Join(root, path))
		switch {
		case want == "" && d != nil:
			t.Errorf("%s: %v", path, d)
		case want != "" && (d == nil || !strings.HasPrefix(d.Message, filepath.Join(root, want)+" has mode 0777, ")):
			t.Errorf("%s: got %v, want a finding about %s", path, d, want)
		}
	}
	// A link that leads through what others may change, be it to what they may not.
	if files, _, found := r.Descriptors([]string{filepath.Join(root, "closed")}); len(files) != 2 || len(found) != 4 ||
		!strings.Contains(found[2].Message, filepath.Join(root, "open")+" has mode 0777") || found[3].Message != "is not a regular file" {
		t.Errorf("read %d files, %v", len(files), found)
	}
	if d := (Reader{Root: root}).Trust(filepath.Join(root, "open")); d != nil {
		t.Errorf("a user's: %v", d)
	}
}
