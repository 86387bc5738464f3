package packaging

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What `make install` puts below DESTDIR is what the packages hold, byte by byte.
func TestMakeInstall(t *testing.T) {
	p := packages(t)
	packed, root := unpack(t, p), t.TempDir()
	version := strings.TrimSpace(run(t, "dpkg-deb", "-f", p.deb, "Version"))
	run(t, "make", "--silent", "-C", "..", "install", "DESTDIR="+root, "VERSION="+version)
	for _, path := range debOnly {
		if err := os.Remove(filepath.Join(packed, path)); err != nil {
			t.Error(err)
		}
	}
	sums := func(dir string) string {
		const script = `cd "$1"; find . ! -type d -printf '%M %p %l\n'; find . -type f -exec sha256sum {} +`
		lines := strings.Split(run(t, "bash", "-euo", "pipefail", "-c", script, "bash", dir), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	if got, want := sums(root), sums(packed); got != want {
		t.Errorf("make install makes\n%s\nand the package has\n%s", got, want)
	}
	for _, dir := range []string{"etc/sitelet/containers", "etc/sitelet/sitelet.toml.d"} {
		if !exists(filepath.Join(root, dir)) {
			t.Errorf("make install makes no /%s", dir)
		}
	}

	// A second installation, as an upgrade from source, keeps the configuration.
	appendTo(t, filepath.Join(root, "etc/sitelet/sitelet.toml"), "# mine\n")
	run(t, "make", "--silent", "-C", "..", "install", "DESTDIR="+root, "VERSION="+version)
	text, err := os.ReadFile(filepath.Join(root, "etc/sitelet/sitelet.toml"))
	if err != nil || !strings.HasSuffix(string(text), "# mine\n") {
		t.Errorf("after the second one the configuration is %q, %v", text, err)
	}
}
