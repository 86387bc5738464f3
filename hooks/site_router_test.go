package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestRouterTurnsBad has a router put what a reader would wait for, or follow, into the directories that its container has mounted: a
// refresh makes its files anew.
func TestRouterTurnsBad(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string]func(path string) error{
		"fifo": func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"link": func(path string) error { return os.Symlink(elsewhere, path) },
	} {
		for _, file := range []string{"router/skrouterd.json", "certs/skupper-local-server/ca.crt", "certs/skupper-local-server"} {
			t.Run(name+" "+filepath.Base(file), func(t *testing.T) {
				h := siteHooks(t)
				begin(t, h, "ns1")
				put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
				refresh(t, h)
				before := string(configText(t, h))
				path := filepath.Join(h.home("ns1"), "runtime", file)
				if err := errors.Join(os.RemoveAll(path), replace(path)); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() {
					_, err := h.refreshSite(context.Background(), "ns1")
					done <- err
				}()
				select {
				case err := <-done:
					if err != nil || string(configText(t, h)) != before {
						t.Errorf("%v", err)
					}
				case <-time.After(time.Minute):
					t.Fatal("it waits")
				}
				if info, err := os.Lstat(path); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
					t.Errorf("%v, %v", info.Mode(), err)
				}
				if info, err := os.Stat(elsewhere); err != nil || info.Mode() != 0o600 || info.Size() != 4 {
					t.Errorf("%v, %v", info, err)
				}
			})
		}
	}
}
