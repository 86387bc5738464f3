package generator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelet/sitelet/internal/paths"
)

func TestTakenBy(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"usr/lib/systemd/system/sshd.service":             "[Service]\n",
		"etc/systemd/system/emptied.service":              "",
		"etc/containers/systemd/app.container":            "[Container]\n",
		"etc/containers/systemd/deep/er/app2.kube":        "",
		"etc/containers/systemd/net.network":              "",
		"etc/containers/systemd/other.container":          "[Container]\nServiceName = named \n",
		"etc/containers/systemd/more.container":           "[Container]\n",
		"etc/containers/systemd/more.container.d/10.conf": "[Container]\nServiceName=dropped\n",
		"etc/containers/systemd/broken.container":         "[Container\n",
		"etc/containers/systemd/note.txt":                 "ServiceName=note\n",
		"etc/containers/systemd/users/hers.container":     "",
		"srv/quadlets/linked.container":                   "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"etc/systemd/system/masked.service": "/dev/null",
		"etc/containers/systemd/elsewhere":  "../../../srv/quadlets",
		"srv/quadlets/circle":               "../quadlets",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := paths.New(paths.System, root, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	taken := Inputs{paths: p, quadlets: quadletUnits(p)}.takenBy()
	for name, want := range map[string]string{
		"sshd":    "usr/lib/systemd/system/sshd.service",
		"emptied": "", "masked": "", "note": "", "hers": "", "net": "", "other": "", "er": "",
		"app":         "etc/containers/systemd/app.container",
		"app2":        "etc/containers/systemd/deep/er/app2.kube",
		"net-network": "etc/containers/systemd/net.network",
		"named":       "etc/containers/systemd/other.container",
		"more":        "etc/containers/systemd/more.container",
		"dropped":     "etc/containers/systemd/more.container.d/10.conf",
		"broken":      "etc/containers/systemd/broken.container",
		"linked":      "etc/containers/systemd/elsewhere/linked.container",
	} {
		if want != "" {
			want = filepath.Join(root, want)
		}
		if where, _ := taken(name); where != want {
			t.Errorf("%s is taken by %q, want %q", name, where, want)
		}
	}
}

func TestUsersOwnQuadlets(t *testing.T) {
	home := t.TempDir()
	p := paths.Paths{Scope: paths.User, Root: "/", QuadletDirs: []string{filepath.Join(home, "users"), filepath.Join(home, "users/1000")}}
	for _, file := range []string{"users/all.container", "users/1000/mine.container", "users/1001/hers.container"} {
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	taken := Inputs{paths: p, quadlets: quadletUnits(p)}.takenBy()
	for name, want := range map[string]bool{"all": true, "mine": true, "hers": false} {
		if _, ok := taken(name); ok != want {
			t.Errorf("%s is taken: %v, want %v", name, ok, want)
		}
	}
}
