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
	if path, err := Find(root); err == nil || !strings.Contains(err.Error(), "install Podman 4.9") {
		t.Errorf("without a quadlet: got %q, %v", path, err)
	}
	for _, dir := range []string{"usr/libexec/podman", "usr/local/lib/podman"} { // the later one is looked for first
		want := filepath.Join(root, dir, "quadlet")
		writeFile(t, want, "", 0o755)
		if path, err := Find(root); err != nil || path != want {
			t.Errorf("got %q, %v; want %q", path, err, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quadlet")
	if _, err := Identity(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	identity := func() string {
		id, err := Identity(path)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	writeFile(t, path, "1", 0o755)
	first := identity()
	if second := identity(); second != first {
		t.Errorf("it changed from %s to %s", first, second)
	}
	then := time.Now().Add(-time.Hour)
	writeFile(t, path+".new", "2", 0o755)
	for _, p := range []string{path, path + ".new"} {
		if err := os.Chtimes(p, then, then); err != nil {
			t.Fatal(err)
		}
	}
	first = identity()
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if second := identity(); second == first {
		t.Error("it is the same after a replacement of equal size and time")
	}
}

func TestConvert(t *testing.T) {
	path, version := hostQuadlet(t)
	if !version.AtLeast(Minimum) {
		t.Fatalf("version %v", version)
	}
	dir, out := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(dir, "good/good.container"), "[Container]\nImage=localhost/x:1\n", 0o644)
	writeFile(t, filepath.Join(dir, "bad/bad.container"), "[Container]\nImage=localhost/x:1\nNoSuchKey=1\n", 0o644)
	log, err := Convert(t.Context(), path, []string{filepath.Join(dir, "good"), filepath.Join(dir, "bad")}, out, true)
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(log, "NoSuchKey") {
		t.Errorf("a bad file: %v, log %q", err, log)
	}
	if _, err := os.Stat(filepath.Join(out, "good.service")); err != nil {
		t.Errorf("the good file was not converted: %v", err)
	}
	if log, err := Convert(t.Context(), path, []string{filepath.Join(dir, "good")}, out, false); err != nil || log != "" {
		t.Errorf("a good file: %v, log %q", err, log)
	}
}

// fakeQuadlet returns the path of a shell script.
func fakeQuadlet(t *testing.T, script string) string {
	path := filepath.Join(t.TempDir(), "quadlet")
	writeFile(t, path, "#!/bin/sh\n"+script+"\n", 0o755)
	return path
}

func TestConvertRuns(t *testing.T) {
	path := fakeQuadlet(t, `echo "$@" "$QUADLET_UNIT_DIRS" "$HOME" >&2`)
	for _, tt := range []struct {
		user bool
		want string
	}{{false, "-no-kmsg-log /out /a:/b"}, {true, "-no-kmsg-log -user /out /a:/b"}} {
		if log, err := Convert(t.Context(), path, []string{"/a", "/b"}, "/out", tt.user); err != nil || log != tt.want {
			t.Errorf("got %q, %v; want %q", log, err, tt.want)
		}
	}
}

func TestConvertEnds(t *testing.T) {
	path := fakeQuadlet(t, "exec sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Convert(ctx, path, nil, t.TempDir(), false)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

func TestRunVersion(t *testing.T) {
	if got, err := RunVersion(t.Context(), fakeQuadlet(t, "echo 5.4.2")); err != nil || got != (Version{5, 4, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, script := range []string{"echo nonsense", "echo no; exit 3"} {
		if got, err := RunVersion(t.Context(), fakeQuadlet(t, script)); err == nil {
			t.Errorf("%s: got %v", script, got)
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	path, _ := hostQuadlet(b)
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.container"), []byte("[Container]\nImage=localhost/x:1\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if log, err := Convert(b.Context(), path, []string{dir}, b.TempDir(), false); err != nil {
			b.Fatal(err, log)
		}
	}
}

func BenchmarkBytes(b *testing.B) {
	for b.Loop() {
		if _, err := example(Version{5, 4, 2}).Bytes(); err != nil {
			b.Fatal(err)
		}
	}
}
