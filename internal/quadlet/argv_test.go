package quadlet

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/unit"
)

// hostQuadlet returns a quadlet to run.
func hostQuadlet(t testing.TB) Tool {
	t.Helper()
	root := "/"
	if command := os.Getenv("SITELET_TEST_QUADLET"); command != "" {
		root = t.TempDir()
		script := filepath.Join(root, helperDirs[0], "quadlet")
		if err := errors.Join(os.MkdirAll(filepath.Dir(script), 0o755), os.WriteFile(script, []byte("#!/bin/sh\nexec "+command+" \"$@\"\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	} else if _, err := find(root); err != nil {
		t.Skipf("%v, or set SITELET_TEST_QUADLET to the command that runs one", err)
	}
	tool, err := Host(t.Context(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// A container is a file under test with what Podman must get from it.
type container struct {
	File
	podman Version // that it is written for
	image  string
	global []string
	flags  []string // NAME VALUE
	exec   []string
}

func (c *container) flag(name, value string) { c.flags = append(c.flags, name+" "+value) }

func (c *container) add(key, flag, value string) {
	c.Add(key, value)
	c.flag(flag, value)
}

func (c *container) bind(source, destination string, options ...string) {
	c.Bind(source, destination, options...)
	c.flag("--mount", fmt.Sprintf("%q", append([]string{"type=bind", "source=" + source, "destination=" + destination}, options...)))
}

// accepts tells whether key can be value.
func accepts(key, value string) bool {
	_, err := File{{key, value}}.Text(Minimum)
	return err == nil
}

// newContainer uses a, b and c in every field that takes a string.
func newContainer(podman Version, a, b, c string) *container {
	f := &container{podman: podman}
	f.image = "docker.io/library/i:1"
	if accepts("Image", a) {
		f.image = a
	}
	f.Add("Image", f.image)
	name := "c"
	if accepts("ContainerName", a) {
		name = a
	}
	f.add("ContainerName", "--name", name)

	f.Add("Environment", "A", a)
	f.flag("--env", "A="+a)
	f.Add("Environment", "B", b)
	f.flag("--env", "B="+b)
	f.Add("Label", "l", c)
	f.flag("--label", "l="+c)
	if a != "" && a != "l" && !strings.Contains(a, "=") {
		f.Add("Label", a, b)
		f.flag("--label", a+"="+b)
	}
	f.add("HostName", "--hostname", a)
	f.add("HealthCmd", "--health-cmd", a)
	f.add("HealthInterval", "--health-interval", b)
	f.add("HealthRetries", "--health-retries", b)
	f.add("HealthStartPeriod", "--health-start-period", c)
	f.add("HealthTimeout", "--health-timeout", c)
	f.add("StopTimeout", "--stop-timeout", a)
	f.add("LogDriver", "--log-driver", b)
	f.add("Pull", "--pull", c)
	f.add("Notify", "--sdnotify", "healthy")
	f.Add("NoNewPrivileges", "true")
	f.flag("--security-opt", "no-new-privileges")
	for _, s := range []string{a, b} {
		f.add("AddCapability", "--cap-add", s)
		f.add("AddDevice", "--device", s)
		f.add("AddHost", "--add-host", s)
		f.add("LogOpt", "--log-opt", s)
		f.add("Network", "--network", s)
		f.add("NetworkAlias", "--network-alias", s)
		f.add("PublishPort", "--publish", s)
		f.add("Ulimit", "--ulimit", s)
	}
	f.Add("PodmanArgs", "--first="+a, "--second", b)
	f.flag("--first", a)
	f.flag("--second", b)
	f.Add("GlobalArgs", "--global="+a, "--other", b)
	f.global = []string{"--global=" + a, "--other", b}
	f.bind("/"+a, "/"+b, "bind-propagation=rslave")
	f.bind(a, b)
	f.bind("/plain", "/"+a, "ro")
	f.exec = []string{a, b, "", ";", c, a + b}
	f.Add("Exec", f.exec...)
	return f
}

// commaLists are the flags that Podman splits at commas, as encoding/csv does.
func commaLists(podman Version) []string {
	flags := []string{"--cap-add", "--add-host", "--network-alias", "--publish", "--ulimit"}
	if podman.Major < 5 {
		flags = append(flags, "--device", "--log-opt")
	}
	return flags
}

// readFlags reads the arguments of podman run as Podman does, up to the image.
func readFlags(t *testing.T, podman Version, args []string) (flags, rest []string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, found := strings.Cut(args[0], "=")
		args = args[1:]
		if !found && name != "--replace" && name != "--rm" && name != "-d" {
			if len(args) == 0 {
				t.Fatalf("no value after %s", name)
			}
			value, args = args[0], args[1:]
		}
		fields := []string{value}
		switch {
		case name == "--mount":
			fields = []string{fmt.Sprintf("%q", readFields(t, value))}
		case slices.Contains(commaLists(podman), name):
			fields = readFields(t, value)
		}
		for _, field := range fields {
			flags = append(flags, name+" "+field)
		}
	}
	return flags, args
}

func readFields(t *testing.T, value string) []string {
	records, err := csv.NewReader(strings.NewReader(value)).ReadAll()
	if err != nil || len(records) != 1 {
		t.Fatalf("%q is no single comma-separated list: %v", value, err)
	}
	return records[0]
}

func specifier(letter byte) (string, bool) {
	switch letter {
	case 'n':
		return "x.service", true
	case 'N':
		return "x", true
	case 't':
		return "/run", true
	}
	return "", false
}

// verify compares the unit that quadlet made of a container with what was meant.
func (c *container) verify(t *testing.T, podman Version, text []byte) {
	t.Helper()
	file, err := unit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	env := unit.Environment(file.All("Service", "Environment"), specifier)
	commands := func(key string) []unit.Command {
		lines := file.All("Service", key)
		if len(lines) != 1 {
			t.Fatalf("%d times %s=", len(lines), key)
		}
		commands, err := unit.Commands(lines[0], env.Lookup, specifier)
		if err != nil || len(commands) != 1 {
			t.Fatalf("%s=%s: %d commands, error %v", key, lines[0], len(commands), err)
		}
		return commands
	}

	argv := commands("ExecStart")[0].Argv
	if head := append([]string{"/usr/bin/podman"}, append(c.global, "run")...); len(argv) < len(head) || !slices.Equal(argv[:len(head)], head) {
		t.Fatalf("got  %q\nwant %q first", argv, head)
	} else {
		argv = argv[len(head):]
	}
	flags, rest := readFlags(t, c.podman, argv)
	want := append([]string{"--replace ", "--rm ", "-d ", "--cgroups split"}, c.flags...)
	if !podman.AtLeast(Version{5, 6, 0}) {
		want = append(want, "--cidfile /run/x.cid")
	}
	if !c.podman.AtLeast(Version{5, 0, 0}) {
		want = append(want, "--sdnotify conmon") // PodmanArgs= follows it and wins
	}
	compare(t, "flags", lowerCapabilities(flags), lowerCapabilities(want))
	if wantRest := append([]string{c.image}, c.exec...); !slices.Equal(rest, wantRest) {
		t.Errorf("got image and command %q\nwant %q", rest, wantRest)
	}
	for _, key := range []string{"ExecStop", "ExecStopPost"} {
		if argv := commands(key)[0].Argv; !slices.Contains(argv, "rm") {
			t.Errorf("%s runs %q", key, argv)
		}
	}

	var keys []string
	for _, a := range file {
		if a.Section == "Service" && a.Key != "Environment" {
			keys = append(keys, a.Key)
		}
	}
	compare(t, "keys", keys, strings.Split("KillMode,ExecStop,ExecStopPost,Delegate,Type,NotifyAccess,SyslogIdentifier,ExecStart", ","))
	for _, variable := range env {
		if !strings.HasPrefix(variable, "SITELET_") && variable != "PODMAN_SYSTEMD_UNIT=x.service" {
			t.Errorf("variable %q", variable)
		}
	}
}

// lowerCapabilities does to capabilities what Quadlet does and Podman ignores.
func lowerCapabilities(flags []string) []string {
	lowered := slices.Clone(flags)
	for i, flag := range lowered {
		if strings.HasPrefix(flag, "--cap-add ") {
			lowered[i] = strings.ToLower(flag)
		}
	}
	return lowered
}

// compare reports what is in only one of two lists, whose order does not matter.
func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// seeds are values that broke one of the readers between a file and Podman, here or in the issues of Podman and its users.
var seeds = []string{
	"https://x/a%20b", "%s", "%", "%%", "100%", "$HOME", "${X}", "$", "$$", "a$HOME${X}%n", "$SITELET_EMPTY", "${SITELET_EMPTY}",
	"--a=false --b=true", "C:\\dir\\", "\\", "\\\\", "a\\ ", "mkdir -p /x\necho ok", "", ";", " ; ", "; /bin/true", "\\;", "\";\"",
	"x --privileged -v /:/h", "--privileged", "-v /:/host", "-", "--", "\"a\" \"b\"", "\"", "'", "\"'", "'a b'", "\"a b\"", "a\"b'c\\d",
	"note =3;\\", "# no comment", "Zürich 日本 🚀", "\u00e9", "\xc3\xa9", "/data dir:1", "/a:/b:ro", "a,b", "a,\"b", "=", "A=B", "=x",
	" leading", "trailing ", "\tt\t", "a\tb", "a\rb", "\r", "\n", "a\n[Service]\nExecStartPre=/bin/false", "a\r[Service]\rExecStartPre=/bin/false",
	"[Service]", "\\x41", "\\q", "\\n", "\\101", "\\u00e9", "\u00a0", "\u3000x\u3000", "\u0085", "x\u0085y", "\u0080", "\u200b", "\ufeff",
	"\x01\x7f\x1b[0m", "\a\b\f\v", "foo.network", "foo.container:x", "foo.image", "docker.io/x/foo.build", "foo.volume", "x.container",
	"~/x", ".", "./x", "../x", "/", "//", "/a/../b", "%t/x", "/x%y", "/a$b", "/a\\b", "-/dev/x:/dev/y", "İ", "K",
	"type=tmpfs", "source=/etc", "\n", "a\n", "\na", "\"\n\"", ";\n;", "true", "0", "@/bin/sh", "+x", "!x", ":x", "|x",
	"/bin/sh -c 'exit 1' || \"x\"", `["CMD","a b"]`, strings.Repeat("a b\\\"%$", 100),
}

func FuzzArgv(f *testing.F) {
	tool := hostQuadlet(f)
	for i, seed := range seeds {
		f.Add(seed, seeds[(i+1)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			if check(s) != nil || strings.Contains(s, "\r\n") {
				if _, err := newContainer(tool.Version, s, "", "").Text(tool.Version); err == nil {
					t.Errorf("%q was written", s)
				}
				return
			}
		}
		if check(a+b) != nil || strings.Contains(a+b, "\r\n") {
			return
		}
		for _, podman := range []Version{tool.Version, Minimum} {
			checkContainers(t, tool, podman, newContainer(podman, a, b, a+b), newContainer(podman, b, a, "x"))
		}
	})
}

func TestLongValue(t *testing.T) {
	tool := hostQuadlet(t)
	long := strings.Repeat("a b\\\"%$\n🚀", 9000)
	c := newContainer(tool.Version, "a", "b", "c")
	c.Add("Environment", "LONG", long)
	c.flag("--env", "LONG="+long)
	checkContainers(t, tool, tool.Version, c)
}

// checkContainers has the tool convert all containers as if its Podman were another one, after the state has kept them as JSON, and
// verifies each.
func checkContainers(t *testing.T, tool Tool, podman Version, containers ...*container) {
	version := tool.Version
	tool.Version = podman
	var jobs []*Job
	for i, c := range containers {
		j := &Job{Name: fmt.Sprint(i)}
		kept, err := json.Marshal(c.File)
		if err == nil {
			err = json.Unmarshal(kept, &j.File)
		}
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	tool.Convert(t.Context(), t.TempDir(), false, jobs)
	for i, c := range containers {
		if jobs[i].Err != nil {
			t.Fatal(jobs[i].Err)
		}
		c.verify(t, version, jobs[i].Unit)
		if t.Failed() {
			source, _ := c.Text(podman)
			t.Fatalf("container file:\n%s\nunit:\n%s", source, jobs[i].Unit)
		}
	}
}
