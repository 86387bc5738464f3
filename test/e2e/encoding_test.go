package e2e

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/test/machine"
)

// painful are strings that others have lost to a reader between a file and Podman: to JSON, Quadlet, systemd or Podman itself.
var painful = []string{
	"", " ", ";", " ; ", `\;`, `";"`, "; /bin/true", "-", "--", "--privileged", "x --privileged -v /:/h", "-v /:/host", "a b",
	"https://x/a%20b", "%", "%%", "%s", "%n", "100%", "%t/x", "$", "$$", "$HOME", "${X}", "a$HOME${X}%n", "${SITELET_EMPTY}", "$SITELET_EMPTY",
	`C:\dir\`, `\`, `\\`, `a\ `, `\q`, `\n`, `\x41`, `\101`, `\u00e9`, `"`, "'", `"'`, `'a b'`, `"a b"`, `a"b'c\d`, `"a" "b"`, `""`, "''",
	"--a=false --b=true", "note =3;\\", "# no comment", "; no comment", "a # b", "[Service]", "a\n[Service]\nExecStartPre=/bin/false",
	"a\r[Service]\rExecStartPre=/bin/false", "mkdir -p /x\necho ok", "\n", "\na", "a\n", "\r", "a\rb", "\t", "\tt\t", " leading", "trailing ",
	"Zürich 日本 🚀", "é", "\u0080", "\u0085", "x\u0085y", "\u00a0", "\u2028", "\u3000x\u3000", "\u200b", "\ufeff", "\x01\x7f\x1b[0m", "\a\b\f\v",
	"=", "A=B", "=x", "a,b", `a,"b`, `"a,b"`, "/data dir:1", "/a:/b:ro", "source=/etc", "type=tmpfs", "a,readonly=true", "x.container", "x.volume",
	"foo.network", "foo.image", "@/bin/sh", "+x", "!x", ":x", "|x", "-/dev/x", "~/x", ".", "./x", "true", "0", "null", `["CMD","a b"]`, "CMD x",
	`/bin/sh -c 'exit 1' || "x"`, "{{.Image}}", "$(touch /injected)", "`touch /injected`", "&& touch /injected", strings.Repeat("a b\\\"%$", 200),
}

// mixed returns strings of the characters that matter to some reader.
func mixed(random *rand.Rand, count int) []string {
	tokens := []string{`"`, "'", `\`, "%", "$", "{", "}", "(", ")", ";", " ", "\t", "\n", "\r", "#", "=", "[", "]", ",", ":", "-", "*", "?", "~", "!", "&", "|",
		"a", "n", "x41", "N", "0", "ü", "🚀", "\x01", "\x7f", "\u0080", "\u0085", "\u00a0", "\u2028", "\ufeff"}
	var all []string
	for range count {
		s := ""
		for range 1 + random.IntN(8) {
			s += tokens[random.IntN(len(tokens))]
		}
		all = append(all, s)
	}
	return all
}

// document is a descriptor as a tool would write it.
type document map[string]any

// withStrings is a descriptor with strings in every field that takes any; those that can be in paths are also there.
func withStrings(name string, all []string) document {
	var env, hookEnv []string
	for i, s := range all {
		env = append(env, fmt.Sprintf("E%d=%s", i, s), fmt.Sprintf("TOKEN_%d=%s", i, s))
		hookEnv = append(hookEnv, fmt.Sprintf("H%d=%s", i, s))
	}
	var mounts, devices []document
	for i, s := range all {
		if fitsPath(s) {
			mounts = append(mounts, document{"source": fmt.Sprintf("/src/%d/%s", i, s), "destination": fmt.Sprintf("/dst/%d/%s", i, s)})
		}
		if fitsPath(s) && !strings.Contains(s, ":") {
			devices = append(devices, document{"path_on_host": fmt.Sprintf("/dev/%d/%s", i, s)})
		}
	}
	return document{
		"container_name": name,
		"image":          document{"name": "localhost/busybox:1", "decrypt_config": document{"keys": []string{"/key:" + all[1], "/key:" + all[2]}}},
		"config":         document{"env": env, "cmd": append([]string{"program"}, all...)},
		"mount_points":   mounts,
		"hooks":          []document{{"path": "/bin/true", "args": append([]string{"true"}, all...), "env": hookEnv}},
		"host_config":    document{"devices": devices},
		"sitelet":        document{"health": document{"command": append([]string{"check"}, all...)}},
	}
}

// fitsPath tells whether a string can be the end of a path, and is the same after a cleaning of it.
func fitsPath(s string) bool {
	return s != "" && path.Clean("/x/"+s) == "/x/"+s && !strings.Contains(s, "\r\n")
}

// fakePodman writes down what it is run with where DUMP says.
const fakePodman = `#!/bin/sh
case $1 in
ps) echo '[]' ;;
container) exit 1 ;;
create)
	printf '%s\0' "$@" >"$DUMP.args"
	cat /proc/$$/environ >"$DUMP.env"
	for arg; do
		case $arg in --decryption-key=*) cat "${arg##*:file=}"; printf '\0' ;; esac
	done >"$DUMP.keys"
esac
`

// Any string in any field goes all the way from the descriptor through the installed generator, the host's Quadlet and the
// create hook, and comes out as it was meant.
func TestEncoding(t *testing.T) {
	m := newMachine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	all := slices.Concat(painful, mixed(rand.New(rand.NewPCG(seed, 0)), 200))
	batches := slices.Collect(slices.Chunk(all, 40))
	files := map[string]string{
		"/usr/local/bin/podman":    fakePodman,
		descriptors + "plain.json": jsonOf(t, withStrings("plain", []string{"a", "b", "c"})),
	}
	for i, batch := range batches {
		files[fmt.Sprintf("%s%d.json", descriptors, i)] = jsonOf(t, withStrings(fmt.Sprintf("odd-%d", i), batch))
	}
	writeFiles(m, files)
	m.Shell("chmod +x /usr/local/bin/podman; mkdir /dump")
	m.Must("sitelet", "check")
	m.Must("systemctl", "daemon-reload")
	plain := newDump(t, m, "plain")
	for i, batch := range batches {
		d := newDump(t, m, fmt.Sprintf("odd-%d", i))
		d.verify(batch)
		expect(t, d.name+": the other flags", d.flags, plain.flags)
	}
	if out, err := m.Exec("ls", "/injected"); err == nil {
		t.Errorf("a string was run: %s", out)
	}
	inspectEncoded(t, m)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// dump is what podman got to make a container.
type dump struct {
	t         *testing.T
	name      string
	flags     map[string][]string // values by flag; verify takes out what it has looked at
	command   []string            // the image and what follows
	env, keys []string
	hook      struct {
		Hook struct{ Args, Env []string }
	}
}

// newDump runs the hooks of a container's unit with the fake podman.
func newDump(t *testing.T, m *machine.T, name string) *dump {
	t.Helper()
	m.Must("env", "PATH=/usr/local/bin:/usr/bin:/bin", "DUMP=/dump/"+name, "sitelet", "hook", "create", name)
	m.Must("sitelet", "hook", "prepare", name)
	d := &dump{t: t, name: name, flags: map[string][]string{}}
	list := func(suffix string) []string {
		return strings.Split(strings.TrimSuffix(m.ReadFile("/dump/"+name+suffix), "\x00"), "\x00")
	}
	d.env, d.keys = list(".env"), list(".keys")
	if err := json.Unmarshal([]byte(m.ReadFile("/run/sitelet/workloads/"+name+"/hooks.d/000-prestart.json")), &d.hook); err != nil {
		t.Fatal(err)
	}
	args := list(".args")[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flag, value, found := strings.Cut(args[0], "=")
		args = args[1:]
		if !found && flag != "--replace" {
			value, args = args[0], args[1:]
		}
		d.flags[flag] = append(d.flags[flag], strings.ReplaceAll(value, name, "NAME"))
	}
	d.command = args
	for _, flag := range []string{"--env", "--label", "--mount", "--device", "--decryption-key", "--cap-add"} {
		slices.Sort(d.flags[flag])
	}
	// These differ, as they should.
	delete(d.flags, "--name")
	d.flags["--label"] = slices.DeleteFunc(d.flags["--label"], func(label string) bool { return strings.HasPrefix(label, "io.sitelet.generation=") })
	if name == "plain" {
		for _, flag := range []string{"--env", "--mount", "--device", "--health-cmd"} {
			delete(d.flags, flag)
		}
	}
	return d
}

// verify compares with the strings that went into the descriptor.
func (d *dump) verify(all []string) {
	d.t.Helper()
	var env, mounts, devices, hookEnv []string
	for i, s := range all {
		env = append(env, fmt.Sprintf("E%d=%s", i, s), fmt.Sprintf("TOKEN_%d", i))
		hookEnv = append(hookEnv, fmt.Sprintf("H%d=%s", i, s))
		if want := fmt.Sprintf("TOKEN_%d=%s", i, s); !slices.Contains(d.env, want) {
			d.t.Errorf("%s: podman's environment has no %q", d.name, want)
		}
		if fitsPath(s) {
			mounts = append(mounts, fmt.Sprintf("%q", []string{"type=bind", fmt.Sprintf("source=/src/%d/%s", i, s), fmt.Sprintf("destination=/dst/%d/%s", i, s), "bind-propagation=rprivate"}))
		}
		if fitsPath(s) && !strings.Contains(s, ":") {
			devices = append(devices, fmt.Sprintf("/dev/%d/%s:/dev/%d/%s:rwm", i, s, i, s))
		}
	}
	d.expectFlag("--env", env, nil)
	d.expectFlag("--device", devices, nil)
	d.expectFlag("--mount", mounts, func(value string) string {
		records, err := csv.NewReader(strings.NewReader(value)).ReadAll()
		if err != nil || len(records) != 1 {
			return value
		}
		return fmt.Sprintf("%q", records[0])
	})
	d.expectFlag("--health-cmd", []string{fmt.Sprintf("%q", append([]string{"check"}, all...))}, func(value string) string {
		var words []string
		json.Unmarshal([]byte(value), &words)
		return fmt.Sprintf("%q", words)
	})
	expect(d.t, d.name+": the command", d.command, append([]string{"localhost/busybox:1", "program"}, all...))
	expect(d.t, d.name+": the passwords", d.keys, all[1:3])
	expect(d.t, d.name+": the hook's arguments", d.hook.Hook.Args, append([]string{"true"}, all...))
	expect(d.t, d.name+": the hook's environment", d.hook.Hook.Env, hookEnv)
}

// expectFlag compares the values of a flag, as read, in any order.
func (d *dump) expectFlag(flag string, want []string, read func(string) string) {
	d.t.Helper()
	got := slices.Clone(d.flags[flag])
	for i := range got {
		if read != nil {
			got[i] = read(got[i])
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		for _, pair := range []struct {
			what       string
			some, less []string
		}{{"is there", got, want}, {"is missing", want, got}} {
			for _, value := range pair.some {
				if !slices.Contains(pair.less, value) {
					d.t.Errorf("%s: %s %q %s", d.name, flag, value, pair.what)
				}
			}
		}
	}
	delete(d.flags, flag)
}

// inspectEncoded makes one container with the real Podman and asks it what it has taken in.
func inspectEncoded(t *testing.T, m *machine.T) {
	t.Helper()
	all := []string{"", ";", "a b", "%n%%", "$HOME ${X}", `C:\dir\`, `a"b'c`, "one\ntwo\n", "Zürich 日本 🚀", "a,\"b:c=d", "--privileged", "\x01\u0085"}
	fields := withStrings("real", all)
	delete(fields, "hooks")
	fields["image"] = document{"name": "localhost/busybox:1"}
	fields["host_config"] = document{}
	var sources strings.Builder
	for i, s := range all {
		fmt.Fprintf(&sources, "/src/%d/%s\x00", i, s)
	}
	m.WriteFile("/sources", sources.String(), 0o600)
	m.Shell("rm /usr/local/bin/podman " + descriptors + "*; xargs --null mkdir --parents -- </sources")
	m.WriteFile(descriptors+"real.json", jsonOf(t, fields), 0o600)
	m.Must("systemctl", "daemon-reload")
	m.Must("sitelet", "hook", "create", "real")
	var got []struct {
		Config struct {
			Cmd, Env    []string
			Healthcheck struct{ Test []string }
		}
		Mounts     []struct{ Source, Destination, Propagation string }
		HostConfig struct{ Privileged bool }
	}
	if err := json.Unmarshal([]byte(m.Must("podman", "container", "inspect", "real")), &got); err != nil {
		t.Fatal(err)
	}
	expect(t, "the command", got[0].Config.Cmd, append([]string{"program"}, all...))
	expect(t, "the health check", got[0].Config.Healthcheck.Test, append([]string{"CMD", "check"}, all...))
	expect(t, "privileged", got[0].HostConfig.Privileged, false)
	mounts := map[string]string{}
	for _, mount := range got[0].Mounts {
		mounts[mount.Source] = mount.Destination
	}
	for i, s := range all {
		for _, want := range []string{fmt.Sprintf("E%d=%s", i, s), fmt.Sprintf("TOKEN_%d=%s", i, s)} {
			if !slices.Contains(got[0].Config.Env, want) {
				t.Errorf("%q is not in the environment %q", want, got[0].Config.Env)
			}
		}
		source := fmt.Sprintf("/src/%d/%s", i, s)
		if fitsPath(s) {
			expect(t, fmt.Sprintf("what is mounted from %q", source), mounts[source], fmt.Sprintf("/dst/%d/%s", i, s))
		}
	}
}
