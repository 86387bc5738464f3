package paths

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestSystemNeedsNoEnvironment(t *testing.T) {
	p, err := New(System, "", func(name string) string {
		t.Errorf("read the environment variable %s", name)
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ got, want string }{
		{p.Root, "/"},
		{p.ConfigFile, "/etc/sitelet/sitelet.toml"},
		{p.ConfigDropIns, "/etc/sitelet/sitelet.toml.d"},
		{p.ContainersDir, "/etc/sitelet/containers"},
		{p.NamespacesDir, "/var/lib/skupper/namespaces"},
		{p.StateDir, "/var/lib/sitelet"},
		{p.RuntimeDir, "/run/sitelet"},
		{p.GeneratorDir, "/run/systemd/generator"},
		{p.UnitDirs[0], "/etc/systemd/system"},
		{p.QuadletDirs[0], "/run/containers/systemd"},
		{p.Below("/usr/bin/podman"), "/usr/bin/podman"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestUser(t *testing.T) {
	uid := strconv.Itoa(os.Getuid())
	for _, c := range []struct {
		name    string
		environ []string
		want    Paths
	}{
		{
			name:    "defaults",
			environ: []string{"HOME=/home/ann"},
			want: Paths{
				Scope: User, Root: "/",
				ConfigFile:    "/home/ann/.config/sitelet/sitelet.toml",
				ConfigDropIns: "/home/ann/.config/sitelet/sitelet.toml.d",
				ContainersDir: "/home/ann/.config/sitelet/containers",
				NamespacesDir: "/home/ann/.local/share/skupper/namespaces",
				StateDir:      "/home/ann/.local/state/sitelet",
				RuntimeDir:    "/run/user/" + uid + "/sitelet",
				GeneratorDir:  "/run/user/" + uid + "/systemd/generator",
				UnitDirs: []string{
					"/home/ann/.config/systemd/user",
					"/etc/xdg/systemd/user",
					"/etc/systemd/user",
					"/run/user/" + uid + "/systemd/user",
					"/run/systemd/user",
					"/home/ann/.local/share/systemd/user",
					"/usr/local/share/systemd/user",
					"/usr/share/systemd/user",
					"/usr/local/lib/systemd/user",
					"/usr/lib/systemd/user",
				},
				QuadletDirs: []string{
					"/run/user/" + uid + "/containers/systemd",
					"/home/ann/.config/containers/systemd",
					"/etc/containers/systemd/users",
					"/etc/containers/systemd/users/" + uid,
					"/usr/share/containers/systemd/users",
					"/usr/share/containers/systemd/users/" + uid,
				},
			},
		},
		{
			name: "all variables, no home",
			environ: []string{"XDG_CONFIG_HOME=/c/", "XDG_DATA_HOME=/d", "XDG_STATE_HOME=/s", "XDG_RUNTIME_DIR=/r",
				"XDG_CONFIG_DIRS=/c1:relative:/c2", "XDG_DATA_DIRS=/d1/:"},
			want: Paths{
				Scope: User, Root: "/",
				ConfigFile:    "/c/sitelet/sitelet.toml",
				ConfigDropIns: "/c/sitelet/sitelet.toml.d",
				ContainersDir: "/c/sitelet/containers",
				NamespacesDir: "/d/skupper/namespaces",
				StateDir:      "/s/sitelet",
				RuntimeDir:    "/r/sitelet",
				GeneratorDir:  "/r/systemd/generator",
				UnitDirs: []string{
					"/c/systemd/user", "/c1/systemd/user", "/c2/systemd/user", "/etc/systemd/user", "/r/systemd/user",
					"/run/systemd/user", "/d/systemd/user", "/d1/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
				},
				QuadletDirs: []string{
					"/r/containers/systemd", "/c/containers/systemd",
					"/etc/containers/systemd/users", "/etc/containers/systemd/users/" + uid,
					"/usr/share/containers/systemd/users", "/usr/share/containers/systemd/users/" + uid,
				},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := New(User, "/", env(c.environ...))
			if err != nil {
				t.Fatal(err)
			}
			for i, pair := range [][2][]string{{all(got), all(c.want)}, {got.UnitDirs, c.want.UnitDirs}, {got.QuadletDirs, c.want.QuadletDirs}} {
				if !slices.Equal(pair[0], pair[1]) {
					t.Errorf("%d: got  %v\nwant %v", i, pair[0], pair[1])
				}
			}
		})
	}
}

// all lists the paths of p.
func all(p Paths) []string {
	return slices.Concat([]string{p.ConfigFile, p.ConfigDropIns, p.ContainersDir, p.NamespacesDir, p.StateDir, p.RuntimeDir, p.GeneratorDir},
		p.UnitDirs, p.QuadletDirs)
}

func TestRelativeVariablesCountAsUnset(t *testing.T) {
	p, err := New(User, "", env("HOME=/home/ann", "XDG_CONFIG_HOME=conf", "XDG_RUNTIME_DIR=run", "XDG_DATA_DIRS=here"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "/home/ann/.config/sitelet/containers"; p.ContainersDir != want {
		t.Errorf("got %s, want %s", p.ContainersDir, want)
	}
	if want := "/run/user/" + strconv.Itoa(os.Getuid()) + "/sitelet"; p.RuntimeDir != want {
		t.Errorf("got %s, want %s", p.RuntimeDir, want)
	}
	if want := "/usr/share/systemd/user"; !slices.Contains(p.UnitDirs, want) {
		t.Errorf("%v lacks %s", p.UnitDirs, want)
	}
}

func TestNoHome(t *testing.T) {
	for _, environ := range [][]string{{}, {"HOME="}, {"HOME=ann", "XDG_DATA_HOME=/d"}} {
		_, err := New(User, "", env(environ...))
		if err == nil {
			t.Fatalf("%v: no error", environ)
		}
		if !strings.Contains(err.Error(), "XDG_CONFIG_HOME") || strings.Contains(err.Error(), "XDG_DATA_HOME") == (len(environ) == 2) {
			t.Errorf("%v: %v does not name the missing variables", environ, err)
		}
	}
}

func TestRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"tree", wd + "/tree/"} {
		for _, scope := range []Scope{System, User} {
			p, err := New(scope, root, env("HOME=/home/ann"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range all(p) {
				if !strings.HasPrefix(path, filepath.Join(wd, "tree")+"/") {
					t.Errorf("%s scope, root %s: %s is outside", scope, root, path)
				}
			}
			if got, want := p.Below("/../etc/x"), wd+"/tree/etc/x"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

func TestScopeString(t *testing.T) {
	if System.String() != "system" || User.String() != "user" {
		t.Errorf("got %q and %q", System, User)
	}
}
