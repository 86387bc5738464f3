package hooks

import (
	"os"
	"path/filepath"
	"testing"
)

// A boot removes what a power cut has left of writes, and nothing else.
func TestBootSweepsState(t *testing.T) {
	h := newHooks(t, &memory{})
	keep := []string{"workloads/web.json", "sites/east.json", "web.lock", ".hidden"}
	left := []string{".web.json12", ".a.json.json3", "sites/.east.json45"}
	for _, name := range append(keep, left...) {
		path := filepath.Join(h.Paths.StateDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.sweepState(); err != nil {
		t.Fatal(err)
	}
	for _, name := range keep {
		if _, err := os.Stat(filepath.Join(h.Paths.StateDir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(h.Paths.StateDir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
