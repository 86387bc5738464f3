package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  Config
	}{
		{"nothing", nil, Config{Mode: Update}},
		{"empty file", []string{""}, Config{}},
		{"all keys", []string{"mode = 'off'\n[containers]\ndirectories = ['/a', '/b/../c/', '/a']\n"},
			Config{Mode: Off, Containers: Containers{[]string{"/a", "/c"}}}},
		{"inline and dotted", []string{"containers.directories = ['/a']\n", "containers = {directories = []}\n"}, Config{}},
		{"byte order mark", []string{"\ufeffmode = 'init'\r\n"}, Config{Mode: Init}},
		{"later replaces earlier", []string{"mode = 'off'\n[containers]\ndirectories = ['/a']\n", "[containers]\ndirectories = ['/b']\n"},
			Config{Mode: Off, Containers: Containers{[]string{"/b"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, found := Read(files(c.files...))
			if len(found) > 0 {
				t.Fatal(found)
			}
			if got.Mode != c.want.Mode || strings.Join(got.Containers.Directories, " ") != strings.Join(c.want.Containers.Directories, " ") {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"unknown mode", "\n  mode = \"of\"", `1.toml:2:3: mode: "of" is no mode. Write "update", "init" or "off".`},
		{"mode of another type", `mode = true`, `1.toml:1:1: mode: true is no mode. Write "update", "init" or "off".`},
		{"misspelt key", "\n# mde\nmde = 'off'", `1.toml:3:1: mde: is no key of this file. Did you mean mode?`},
		{"other case", "MODE = 'off'", `1.toml:1:1: MODE: is no key of this file. Did you mean mode?`},
		{"misspelt table", "[container]\ndirectories = ['/a']", `1.toml:1:1: container: is no key of this file. Did you mean containers?`},
		{"misspelt inner key", "[containers]\n\tdirectory = ['/a']", `1.toml:2:2: containers.directory: is no key of this file. Did you mean containers.directories?`},
		{"key outside its table", "directories = ['/a']", `1.toml:1:1: directories: is no key of this file. Did you mean containers.directories?`},
		{"far key", `a."b c" = 1`, `1.toml:1:4: a."b c": is no key of this file. See sitelet.toml(5) for the keys that there are.`},
		{"table with a key's name", "[mode]\nx = 1", "1.toml:1:1: mode: a table is no mode. Write \"update\", \"init\" or \"off\"."},
		{"list of tables", "[[containers]]\ndirectories = ['/a']\n[[containers]]\n",
			"1.toml:3:1: containers: is no table. Write [containers] on a line of its own, and its keys below."},
		{"no list", "[containers]\ndirectories = '/a'", `1.toml:2:1: containers.directories: "/a" is no list. Write directories in square brackets, such as ["/srv/containers"].`},
		{"relative directories", "containers.directories = [\n'/a', 'b',\n3]",
			"1.toml:1:12: containers.directories[1]: \"b\" is no absolute path. Write the path from the root on, such as \"/srv/containers\".\n" +
				"1.toml:1:12: containers.directories[2]: 3 is no absolute path. Write the path from the root on, such as \"/srv/containers\"."},
		{"no TOML", "mode = 'off'\nmode: off", "1.toml:2:5: expected '.' or '=', but got ':' instead. The file is left out until it is valid TOML (https://toml.io)."},
		{"error at the start of a line", "mode = 'off'\n=1", "1.toml:2:1: unexpected '=': key name appears blank. The file is left out until it is valid TOML (https://toml.io)."},
		{"key twice", "mode = 'off'\nmode = 'off'", "1.toml:2:1: Key 'mode' has already been defined. The file is left out until it is valid TOML (https://toml.io)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, found := Read(files("mode = 'init'", c.data))
			if lines(found) != c.want {
				t.Errorf("got\n%s\nwant\n%s", lines(found), c.want)
			}
			if !reflect.DeepEqual(got, Config{Mode: Init, ModeFrom: "0.toml"}) {
				t.Errorf("got %+v: a refused file or value has changed something", got)
			}
		})
	}
}

func TestReadTellsAllErrors(t *testing.T) {
	_, found := Read(files("mode = 1\nx = 2\n[containers]\ny = 3", "=", "mode = 'up'"))
	var places []string
	for _, d := range found {
		places = append(places, d.File+" "+d.Field)
	}
	if got, want := strings.Join(places, ", "), "0.toml mode, 0.toml x, 0.toml containers.y, 1.toml , 2.toml mode"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLoad(t *testing.T) {
	p, err := paths.New(paths.System, t.TempDir(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if got, found := Load(p); len(found) > 0 || !reflect.DeepEqual(got, Config{}) {
		t.Fatalf("no files: got %+v and %v", got, found)
	}
	write(t, filepath.Join(p.ConfigDropIns, "20-b.toml"), "mode = 'init'")
	write(t, filepath.Join(p.ConfigDropIns, "10-a.toml"), "mode = 'off'\n[containers]\ndirectories = ['/a']")
	write(t, filepath.Join(p.ConfigDropIns, ".30-hidden.toml"), "mode = 'off'")
	write(t, filepath.Join(p.ConfigDropIns, "40-other.conf"), "mode = 'off'")
	write(t, p.ConfigFile, "mode = 'update'\n[containers]\ndirectories = ['/main']")
	got, found := Load(p)
	if want := (Config{Mode: Init, ModeFrom: filepath.Join(p.ConfigDropIns, "20-b.toml"), Containers: Containers{[]string{"/a"}}}); len(found) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v and %v, want %+v", got, found, want)
	}

	unreadable := filepath.Join(p.ConfigDropIns, "15.toml")
	if err := os.Mkdir(unreadable, 0o755); err != nil {
		t.Fatal(err)
	}
	got, found = Load(p)
	if got.Mode != Init || lines(found) != unreadable+": is not a regular file. Mend its type, size or permissions, or move it away." {
		t.Errorf("got %+v and %v", got, found)
	}
}

// TestLoadTrust wants nothing to be read that keeps a boot waiting, or that others may change.
func TestLoadTrust(t *testing.T) {
	p, err := paths.New(paths.System, t.TempDir(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(p.ConfigDropIns, "10.toml")
	write(t, p.ConfigFile, "mode = 'init'")
	if err := errors.Join(os.MkdirAll(p.ConfigDropIns, 0o755), syscall.Mkfifo(fifo, 0o644), os.Chmod(p.ConfigFile, 0o666)); err != nil {
		t.Fatal(err)
	}
	got, found := Load(p)
	if got.Mode != Update || len(found) != 2 || !strings.Contains(found[0].Message, "has mode 0666") || found[1].File != fifo {
		t.Errorf("got %+v and %v", got, found)
	}
	if err := errors.Join(os.Remove(fifo), os.Chmod(p.ConfigFile, 0o644), os.Chmod(filepath.Dir(p.ConfigFile), 0o777)); err != nil {
		t.Fatal(err)
	}
	if got, found := Load(p); got.Mode != Update || len(found) != 1 || !strings.Contains(found[0].Hint, "chmod go-w "+filepath.Dir(p.ConfigFile)) {
		t.Errorf("got %+v and %v", got, found)
	}
	p.Scope = paths.User
	if got, found := Load(p); got.Mode != Init || len(found) != 0 {
		t.Errorf("a user's: got %+v and %v", got, found)
	}
}

func TestExampleFile(t *testing.T) {
	data, err := os.ReadFile("../../packaging/sitelet.toml")
	if err != nil {
		t.Fatal(err)
	}
	if got, found := Read(files(string(data))); len(found) > 0 || !reflect.DeepEqual(got, Config{}) {
		t.Errorf("as shipped: got %+v and %v, want the defaults", got, found)
	}
	// A key is commented out by a # alone, prose by a # and a space.
	var all []string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "# ") {
			line = strings.TrimPrefix(line, "#")
		}
		all = append(all, line)
	}
	example := strings.Join(all, "")
	if _, found := Read(files(example)); len(found) > 0 {
		t.Errorf("uncommented: %v", found)
	}
	var tree map[string]any
	meta, err := toml.Decode(example, &tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		if !meta.IsDefined(strings.Split(s.key, ".")...) {
			t.Errorf("the key %s is not in the example", s.key)
		}
	}
}

func TestManualNamesEveryKey(t *testing.T) {
	manual, err := os.ReadFile("../../man/sitelet.toml.5")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		if !strings.Contains(string(manual), "Ic "+last(s.key)+"\n") && !strings.Contains(string(manual), "Ic "+last(s.key)+" ") {
			t.Errorf("sitelet.toml.5 has no entry for the key %s", s.key)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"mode = 'off'", "[containers]\ndirectories = ['/a', 1]", "a.b.c = {d = [{}]}", "[[mode]]", "\x7f", "\xff", "x = \"\"\"\n\n\"\"\"",
		"\"\" = 1", "[a]\n[a.b]\n[[a.c]]", "\ufeff=", "containers.\"\".x = 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		c, found := Read(files(data))
		if c.Mode < Update || c.Mode > Off {
			t.Errorf("mode %d", c.Mode)
		}
		for _, dir := range c.Containers.Directories {
			if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
				t.Errorf("directory %q", dir)
			}
		}
		text := strings.Split(data, "\n")
		for _, d := range found {
			if d.Line < 1 || d.Line > len(text) || d.Column < 1 || d.Column > len(text[d.Line-1])+1 {
				t.Errorf("position out of the file: %v", d)
			}
			if strings.Contains(d.String(), "\n") {
				t.Errorf("not one line: %q", d)
			}
		}
	})
}

// files makes files named 0.toml, 1.toml, ...
func files(data ...string) []File {
	out := make([]File, len(data))
	for i, d := range data {
		out[i] = File{Path: string(rune('0'+i)) + ".toml", Data: []byte(d)}
	}
	return out
}

func lines(found diag.List) string {
	out := make([]string, len(found))
	for i, d := range found {
		out[i] = d.String()
	}
	return strings.Join(out, "\n")
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWithEnvironment(t *testing.T) {
	for _, c := range []struct {
		platform, image string
		want            Config
		err             string
	}{
		{"", "", Config{}, ""},
		{"docker", "example.com/router:2", Config{Platform: "docker", Router: Router{Image: "example.com/router:2"}}, ""},
		{"kubernetes", "", Config{}, "SKUPPER_PLATFORM"},
		{"", "--privileged", Config{}, "SKUPPER_ROUTER_IMAGE"},
		{"", "router --privileged", Config{}, "SKUPPER_ROUTER_IMAGE"},
		{"", "router\n", Config{}, "SKUPPER_ROUTER_IMAGE"},
	} {
		env := map[string]string{"SKUPPER_PLATFORM": c.platform, "SKUPPER_ROUTER_IMAGE": c.image}
		got, err := Config{}.WithEnvironment(func(name string) string { return env[name] })
		if c.err == "" && (err != nil || !reflect.DeepEqual(got, c.want)) || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%q: %+v, %v", env, got, err)
		}
	}
}
