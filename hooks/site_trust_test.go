package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignHome has a namespace's directory belong to somebody who has put a link where files are made and removed.
func TestForeignHome(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to give a directory away")
	}
	for _, dir := range []string{"resources", "links"} {
		t.Run(dir, func(t *testing.T) {
			h := siteHooks(t)
			begin(t, h, "ns1")
			put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
			refresh(t, h)
			elsewhere := t.TempDir()
			mine := filepath.Join(elsewhere, "mine")
			runtime := filepath.Join(h.home("ns1"), "runtime")
			if err := os.WriteFile(mine, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(runtime, dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, filepath.Join(runtime, dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(runtime, 1000, 1000); err != nil {
				t.Fatal(err)
			}
			_, refreshed := h.refreshSite(t.Context(), "ns1")
			_, looked := h.lookAtSite("ns1")
			for _, err := range []error{refreshed, looked, h.prepareSite(t.Context(), "ns1")} {
				if err == nil || !strings.Contains(err.Error(), runtime+" belongs to user 1000") || !strings.Contains(err.Error(), "Run `chown root:root ") {
					t.Errorf("%v", err)
				}
			}
			if _, err := os.Stat(mine); err != nil {
				t.Error(err)
			}
		})
	}
}
