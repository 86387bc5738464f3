package quadlet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "usr/lib/podman/quadlet"), "", 0o644) // not executable
	if path, err := find(root); err == nil || !strings.Contains(err.Error(), "install Podman 4.9") {
		t.Errorf("without a quadlet: got %q, %v", path, err)
	}
	for _, dir := range []string{"usr/libexec/podman", "usr/local/lib/podman"} { // the later one is looked for first
		want := filepath.Join(root, dir, "quadlet")
		writeFile(t, want, "", 0o755)
		if path, err := find(root); err != nil || path != want {
			t.Errorf("got %q, %v; want %q", path, err, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quadlet")
	if _, err := identity(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	get := func() string {
		id, err := identity(path)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	writeFile(t, path, "1", 0o755)
	first := get()
	if second := get(); second != first {
		t.Errorf("it changed from %s to %s", first, second)
	}
	then := time.Now().Add(-time.Hour)
	writeFile(t, path+".new", "2", 0o755)
	for _, p := range []string{path, path + ".new"} {
		if err := os.Chtimes(p, then, then); err != nil {
			t.Fatal(err)
		}
	}
	first = get()
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if second := get(); second == first {
		t.Error("it is the same after a replacement of equal size and time")
	}
}

// fakeQuadlet puts a shell script where Host finds it below the root that is returned.
func fakeQuadlet(t *testing.T, script string) (root string) {
	root = t.TempDir()
	writeFile(t, filepath.Join(root, "usr/libexec/podman/quadlet"), "#!/bin/sh\nroot="+root+"\n"+script+"\n", 0o755)
	return root
}

func TestHost(t *testing.T) {
	root := fakeQuadlet(t, "echo run >>$root/runs; echo 5.4.2")
	note := filepath.Join(root, "note")
	expect := func(want Version, runs int) {
		t.Helper()
		tool, err := Host(t.Context(), root, note)
		if err != nil || tool.Version != want {
			t.Errorf("got %v, %v; want %v", tool.Version, err, want)
		}
		if text, _ := os.ReadFile(filepath.Join(root, "runs")); strings.Count(string(text), "run") != runs {
			t.Errorf("it ran %d times, want %d", strings.Count(string(text), "run"), runs)
		}
	}
	expect(Version{5, 4, 2}, 1)
	expect(Version{5, 4, 2}, 1)
	text, _ := os.ReadFile(note)
	writeFile(t, note, string(text[:len(text)-2]), 0o644) // half written
	expect(Version{5, 4, 2}, 2)
	writeFile(t, filepath.Join(root, "usr/libexec/podman/quadlet"), "#!/bin/sh\necho run >>"+root+"/runs; echo 5.10.0", 0o755)
	expect(Version{5, 10, 0}, 3)
	expect(Version{5, 10, 0}, 3)

	for script, want := range map[string]string{
		"echo nonsense": `"nonsense" is no version`, "echo no; echo more; exit 3": "exit status 3: no; more",
		"echo 4.8.3": "version 4.8.3 of Podman is older than 4.9.0, the first that sitelet can work with; install a newer one",
	} {
		if tool, err := Host(t.Context(), fakeQuadlet(t, script), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v; want %q", script, tool, err, want)
		}
	}
}

// A file that quadlet refuses, or that keeps it from reading any other, stops no other.
func TestConvert(t *testing.T) {
	tool := hostQuadlet(t)
	var jobs []*Job
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		jobs = append(jobs, &Job{Name: name, File: File{{"Image", "localhost/x:1"}, {"ContainerName", name}}})
	}
	jobs[1].File.Add("PodmanArgs", "\x00") // sitelet's own refusal
	jobs[3].Name = "no/such/directory"
	dir := t.TempDir()
	tool.Convert(t.Context(), dir, true, jobs)
	for i, j := range jobs {
		if bad := i == 1 || i == 3; bad != (j.Err != nil) || bad != (j.Unit == nil) {
			t.Errorf("%s: %v, %d bytes", j.Name, j.Err, len(j.Unit))
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestConvertRunsAloneWhatItLost(t *testing.T) {
	root := fakeQuadlet(t, `case "$1" in -version) echo 5.4.2; exit ;; esac
echo run >>$root/runs
for out; do :; done
echo "$@" >$root/arguments
ls -ld "$out" "$QUADLET_UNIT_DIRS" "$QUADLET_UNIT_DIRS"/* >>$root/modes
if [ -e "$QUADLET_UNIT_DIRS/bad.container" ]; then echo bad.container: no; echo at all; exit 1; fi
for file in "$QUADLET_UNIT_DIRS"/*; do cp "$file" "$out/$(basename "$file" .container).service"; done`)
	tool, err := Host(t.Context(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	file := File{{"Image", "localhost/x:1"}}
	jobs := []*Job{{Name: "one", File: file}, {Name: "bad", File: file}, {Name: "two", File: file}}
	tool.Convert(t.Context(), root, true, jobs)
	if jobs[0].Unit == nil || jobs[2].Unit == nil || jobs[0].Err != nil {
		t.Errorf("the good ones: %+v, %+v", jobs[0], jobs[2])
	}
	if err := jobs[1].Err; err == nil || !strings.Contains(err.Error(), "refuses it") || !strings.Contains(err.Error(), "bad.container: no; at all") {
		t.Errorf("the bad one: %v", err)
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(root, name))
		return string(text)
	}
	if runs := strings.Count(read("runs"), "run"); runs != 4 {
		t.Errorf("%d runs, want one for all and one for each", runs)
	}
	if arguments := read("arguments"); !strings.HasPrefix(arguments, "-no-kmsg-log -user "+root+"/quadlet-") {
		t.Errorf("arguments: %q", arguments)
	}
	for line := range strings.Lines(read("modes")) {
		if mode := line[:10]; mode != "drwx------" && mode != "-rw-------" {
			t.Errorf("others may read it: %s", line)
		}
	}
}

func TestConvertEnds(t *testing.T) {
	root := fakeQuadlet(t, `case "$1" in -version) echo 5.4.2; exit ;; esac
exec sleep 60`)
	tool, err := Host(t.Context(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	jobs := []*Job{{Name: "a"}, {Name: "b"}}
	tool.Convert(ctx, root, false, jobs)
	for _, j := range jobs {
		if !errors.Is(j.Err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
			t.Errorf("after %v: %v", time.Since(start), j.Err)
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	tool := hostQuadlet(b)
	dir := b.TempDir()
	for b.Loop() {
		j := &Job{Name: "x", File: File{{"Image", "localhost/x:1"}}}
		if tool.Convert(b.Context(), dir, false, []*Job{j}); j.Err != nil {
			b.Fatal(j.Err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	f := example()
	for b.Loop() {
		if _, err := f.Text(Version{5, 4, 2}); err != nil {
			b.Fatal(err)
		}
	}
}
