package machine

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestLayerIsBuiltOnce(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("SITELET_TEST_CACHE", cache)
	leftover := filepath.Join(cache, "layers", "a.unfinished")
	if err := os.MkdirAll(filepath.Join(leftover, "of a killed build"), 0o755); err != nil {
		t.Fatal(err)
	}

	var builds atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := cached("a", func(dir string) error {
				builds.Add(1)
				if _, err := os.Stat(dir); err == nil {
					return errors.New("the directory has something in it")
				}
				time.Sleep(20 * time.Millisecond)
				return os.MkdirAll(filepath.Join(dir, "content"), 0o755)
			})
			if err != nil {
				t.Error(err)
				return
			}
			defer l.lock.Close()
			if _, err := os.Stat(filepath.Join(l.dir, "content")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if builds.Load() != 1 {
		t.Errorf("built %d times, want once", builds.Load())
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("SITELET_TEST_CACHE", cache)
	broken := errors.New("broken")
	_, err := cached("a", func(dir string) error {
		return errors.Join(os.MkdirAll(dir, 0o755), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("err = %v, want %v", err, broken)
	}
	for _, name := range []string{"a", "a.unfinished"} {
		if _, err := os.Stat(filepath.Join(cache, "layers", name)); err == nil {
			t.Errorf("a failed build left %s", name)
		}
	}
	if _, err := cached("a", func(dir string) error { return os.MkdirAll(dir, 0o755) }); err != nil {
		t.Errorf("the next build: %v", err)
	}
}

func TestOldLayersMakeRoom(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("SITELET_TEST_CACHE", cache)
	build := func(dir string) error { return os.MkdirAll(dir, 0o755) }
	for _, name := range []string{"old", "old-in-use", "recent"} {
		l, err := cached(name, build)
		if err != nil {
			t.Fatal(err)
		}
		if name == "old-in-use" {
			defer l.lock.Close()
		} else {
			l.lock.Close()
		}
		if name != "recent" {
			long := time.Now().Add(-2 * layersUnusedFor)
			if err := os.Chtimes(l.dir+".lock", long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	l, err := cached("new", build)
	if err != nil {
		t.Fatal(err)
	}
	defer l.lock.Close()
	for name, want := range map[string]bool{"old": false, "old.lock": false, "old-in-use": true, "recent": true, "new": true} {
		_, err := os.Stat(filepath.Join(cache, "layers", name))
		if got := err == nil; got != want {
			t.Errorf("%s exists: %v, want %v", name, got, want)
		}
	}
}

func TestStaleRunsAreRemoved(t *testing.T) {
	if _, err := cgroupRoot(); err != nil {
		t.Skip(err)
	}
	runs := t.TempDir()
	for _, name := range []string{"1-dead", "2-alive"} {
		if err := os.MkdirAll(filepath.Join(runs, name, "1", "upper"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	alive, err := lock(filepath.Join(runs, "2-alive", "lock"), syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if err := removeStale(runs); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(runs, "1-dead")); err == nil {
		t.Error("what a process left behind is still there")
	}
	if _, err := os.Stat(filepath.Join(runs, "2-alive", "1", "upper")); err != nil {
		t.Errorf("the disk of a living process: %v", err)
	}
}
