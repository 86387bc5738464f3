package pki

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestModeThroughLink has a link come into a file's place after that was looked at, as a router can do: what it leads to is not touched.
func TestModeThroughLink(t *testing.T) {
	for _, name := range []string{"ca.crt", ""} {
		dir, wants := t.TempDir(), []Want{{Kind: Authority, Name: "ca", Subject: "ca"}, {Name: "x", Subject: "x", Issuer: "ca"}}
		ensureAt(t, dir, wants, now)
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		path := filepath.Join(dir, "certs/x", name)
		if err := errors.Join(os.Mkdir(elsewhere, 0o700), os.Chmod(path, 0o711)); err != nil {
			t.Fatal(err)
		}
		step := func() {
			if err := errors.Join(os.RemoveAll(path), os.Symlink(elsewhere, path)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := (ensuring{store: store{dir: dir, step: step}, maker: makerAt(now)}).run(wants); err == nil {
			t.Errorf("%q: no error", name)
		}
		if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}
