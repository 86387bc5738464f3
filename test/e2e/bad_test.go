package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// badFiles has one file of each kind that must not become a container, with what is said about it after its name.
var badFiles = []struct{ file, content, want string }{
	// No descriptor at all.
	{"null.json", "null\n", ":1:1: holds null instead of an object"},
	{"array.json", "[]\n", ":1:1: holds a list instead of an object"},
	{"empty.json", "", ":1:1: is empty"},
	{"brace.json", "{", ":1:2: "},
	{"truncated.json", "{\"container_name\": \"truncated\",\n \"host_config\": {\n  \"devices\": [", ":3:15: "},
	{"rest.json", sleeper("rest") + "}}}}garbage\n", ":6:1: "},
	{"two.json", sleeper("two") + sleeper("three"), ":6:1: "},
	{"bom.json", "\ufeff" + sleeper("bom"), ":1:1: begins with a byte order mark"},
	{"nul.json", sleeper("nul", `"host_name": "a\u0000b"`), ":5:"},
	{"latin1.json", sleeper("latin1", "\"domain_name\": \"Z\xfcrich\""), ":5:"},
	{"binary.json", "\x7fELF\x02\x01\x01\x00\x00", ":1:1: "},
	{"yaml.json", "container_name: yaml\n", ":1:1: "},

	// Keys and types.
	{"duplicate.json", sleeper("duplicate", `"host_name": "a"`, `"host_name": "b"`), ":6:3: host_name: "},
	{"misspelt.json", sleeper("misspelt", `"host_config": {"restart_polcy": {"type": "no"}}`), `:5:19: host_config.restart_polcy: unknown key. Did you mean "restart_policy"?`},
	{"case.json", strings.Replace(sleeper("case"), "container_name", "Container_Name", 1), ":2:3: Container_Name: "},
	{"type.json", sleeper("type", `"io_config": {"tty": "true"}`), ":5:24: io_config.tty: must be true or false"},
	{"nameless.json", `{"image": {"name": "localhost/busybox:1"}}`, ":1:1: container_name: is missing"},
	{"imageless.json", `{"container_name": "imageless"}`, ":1:1: image: is missing"},
	{"grpc.json", `{"id": "x", "name": "grpc", "image": {"name": "localhost/busybox:1"}, "mounts": []}`, ":1:2: id: this is the gRPC form"},
	{"things.json", `{"containerName": "things", "imageRef": "localhost/busybox:1"}`, ":1:2: containerName: this is the "},

	// Values.
	{"short-image.json", `{"container_name": "short-image", "image": {"name": "busybox"}}`, ":1:53: image.name: "},
	{"port.json", sleeper("port", ports(`"container_port": 70000, "host_port": 80`)), ":5:56: host_config.port_mappings[0].container_port: must be at most 65535, not 70000"},
	{"portless.json", sleeper("portless", ports(`"host_port": 80`)), ":5:37: host_config.port_mappings[0].container_port: is missing"},
	{"inverted.json", sleeper("inverted", ports(`"container_port": 80, "host_port": 90, "host_port_end": 80`)), ": 80 is less than host_port"},
	{"proto.json", sleeper("proto", ports(`"container_port": 80, "host_port": 80, "proto": "foo"`)), `"foo" is not supported`},
	{"host-ip.json", sleeper("host-ip", ports(`"container_port": 80, "host_port": 80, "host_ip": "example.com"`)), `"example.com" is not an IP address`},
	{"relative.json", sleeper("relative", mounts("data", "/data")), `:5:31: mount_points[0].source: "data" is not an absolute path`},
	{"propagation.json", sleeper("propagation", `"mount_points": [{"source": "/srv", "destination": "/srv", "propagation_mode": "rw"}]`), `"rw" is not supported`},
	{"env.json", `{"container_name": "env", "image": {"name": "localhost/busybox:1"}, "config": {"env": ["1VAR=1"]}}`, ":1:88: config.env[0]: "},
	{"privileged.json", sleeper("privileged", `"host_config": {"privileged": true, "extra_capabilities": ["CAP_NET_ADMIN"]}`), "privileged"},
	{"network.json", sleeper("network", `"host_config": {"network_mode": "custom"}`), `:5:35: host_config.network_mode: "custom" is not supported`},
	{"host-ports.json", sleeper("host-ports", `"host_config": {"network_mode": "host", "port_mappings": [{"container_port": 80, "host_port": 80}]}`), "port_mappings"},
	{"cgroup.json", sleeper("cgroup", `"host_config": {"devices": [{"path_on_host": "/dev/null", "cgroup_permissions": "xyz"}]}`), `"xyz" is not a set of permissions`},
	{"hosts.json", sleeper("hosts", `"host_config": {"extra_hosts": ["a"]}`), ":5:35: host_config.extra_hosts[0]: "},
	{"policy.json", sleeper("policy", `"host_config": {"restart_policy": {"type": "sometimes"}}`), `"sometimes" is not supported`},
	{"retries.json", sleeper("retries", `"host_config": {"restart_policy": {"type": "always", "maximum_retry_count": 3}}`), "maximum_retry_count"},
	{"memory.json", sleeper("memory", `"host_config": {"resources": {"memory": "2.8M"}}`), "memory"},
	{"swap.json", sleeper("swap", `"host_config": {"resources": {"memory": "200M", "memory_swap": "199M"}}`), "memory_swap"},
	{"log.json", sleeper("log", `"host_config": {"log_config": {"driver_config": {"type": "json-file", "max_size": "asdf"}}}`), "asdf"},
	{"non-blocking.json", sleeper("non-blocking", `"host_config": {"log_config": {"mode_config": {"mode": "non-blocking"}}}`), "mode_config.mode: "},
	{"recipients.json", strings.Replace(sleeper("recipients"), `:1"`, `:1", "decrypt_config": {"recipients": ["pkcs7:/x.pem"]}`, 1), "recipients: "},
	{"after.json", sleeper("after", `"sitelet": {"after": ["nobody"]}`), `no descriptor has the name "nobody"`},
	{"circle.json", sleeper("circle", `"sitelet": {"requires": ["circle"]}`), ":5:"},

	// Text that would become another directive, flag or mount.
	{"newline-name.json", sleeper("x\n[Service]\nExecStartPre=/bin/touch /injected"), ":2:21: container_name: "},
	{"blank-image.json", `{"container_name": "blank-image", "image": {"name": "localhost/busybox:1 --privileged"}}`, ":1:53: image.name: "},
	{"flag-host.json", sleeper("flag-host", `"host_name": "x --privileged"`), ":5:16: host_name: "},
	{"flag-hosts.json", sleeper("flag-hosts", `"host_config": {"extra_hosts": ["x:192.0.2.7 --privileged"]}`), ":5:35: host_config.extra_hosts[0]: "},
	{"flag-device.json", sleeper("flag-device", `"host_config": {"devices": [{"path_on_host": "/dev/null", "cgroup_permissions": "rwm --privileged"}]}`), "is not a set of permissions"},
	{"flag-capability.json", sleeper("flag-capability", `"host_config": {"extra_capabilities": ["CAP_KILL --privileged"]}`), "extra_capabilities[0]: "},
	{"flag-runtime.json", sleeper("flag-runtime", `"host_config": {"runtime": "/bin/sh --privileged"}`), "runtime: "},
	{"newline-domain.json", sleeper("newline-domain", `"domain_name": "x\nExecStartPre=/bin/touch /injected"`), ":5:18: domain_name: "},

	// Names and ports that somebody else has.
	{"same-a.json", sleeper("same"), `:2:21: container_name: "same" is also the name in /etc/sitelet/containers/same-b.json:2:21`},
	{"same-b.json", sleeper("same"), `:2:21: container_name: "same" is also the name in /etc/sitelet/containers/same-a.json:2:21`},
	{"dbus.json", sleeper("dbus"), ":2:21: container_name: a unit of this name is there already: /usr/lib/systemd/system/dbus.service"},
	{"podman.json", sleeper("podman"), ":2:21: container_name: a unit of this name is there already: /usr/lib/systemd/system/podman.service"},
	{"boot.json", sleeper("sitelet-boot"), ":2:21: container_name: a unit of this name is there already: "},
	{"unit.json", sleeper("own-unit"), ":2:21: container_name: a unit of this name is there already: /etc/systemd/system/own-unit.service"},
	{"quadlet.json", sleeper("own-quadlet"), ":2:21: container_name: a unit of this name is there already: /etc/containers/systemd/own-quadlet.container"},
	{"quadlet-named.json", sleeper("own-name"), ":2:21: container_name: a unit of this name is there already: /etc/containers/systemd/other.container"},
	{"quadlet-network.json", sleeper("own-network"), ":2:21: container_name: a unit of this name is there already: /etc/containers/systemd/own.network"},
	{"wildcard-a.json", sleeper("wildcard-a", ports(`"container_port": 80, "host_port": 8080`)), `:5:37: host_config.port_mappings[0]: host port 8080/tcp is also taken by "wildcard-b" (/etc/sitelet/containers/wildcard-b.json:5:37)`},
	{"wildcard-b.json", sleeper("wildcard-b", ports(`"container_port": 80, "host_port": 8080, "host_ip": "127.0.0.1"`)), `host port 8080/tcp is also taken by "wildcard-a"`},
	{"range-a.json", sleeper("range-a", ports(`"container_port": 80, "host_port": 7000, "host_port_end": 7001`)), "3 mappings want one each of the 2 host ports 7000-7001/tcp"},
	{"range-b.json", sleeper("range-b", ports(`"container_port": 80, "host_port": 7000`)), "3 mappings want one each of the 2 host ports 7000-7001/tcp"},
	{"range-c.json", sleeper("range-c", ports(`"container_port": 80, "host_port": 7001`)), "3 mappings want one each of the 2 host ports 7000-7001/tcp"},
}

// badPlaces are files that are wrong without regard to their text; a script makes them.
const badPlaces = `
cd /etc/sitelet/containers
chmod o+w writable.json
chown alice foreign.json
mkfifo fifo.json
mknod zero-device.json c 1 5
ln -s /dev/zero zero-link.json
ln -s self-link.json self-link.json
ln -s nowhere dangling.json
ln -s . loop
chmod o+w open
{ cat large.json; head --bytes=1M /dev/zero | tr '\0' ' '; } >large && mv large large.json
ln -s /home/alice/hers.json hers.json`

// saidOfPlaces is what is said about the files of badPlaces.
var saidOfPlaces = []string{
	"writable.json: is not used: /etc/sitelet/containers/writable.json has mode 0646",
	"foreign.json: is not used: /etc/sitelet/containers/foreign.json belongs to user 1000",
	"fifo.json: is not a regular file",
	"zero-device.json: is not a regular file",
	"zero-link.json: is not a regular file",
	"self-link.json: cannot be read: too many levels of symbolic links",
	"dangling.json: cannot be read: no such file or directory",
	"loop: warning: a symbolic link to a directory is not followed",
	"open: is not used: /etc/sitelet/containers/open has mode 0757",
	"large.json: is larger than 1048576 bytes",
	"hers.json: is not used: /home/alice belongs to user 1000",
	"upper.JSON: warning: is not read: only names that end in .json in lower case are",
}

func ports(mapping string) string {
	return `"host_config": {"port_mappings": [{` + mapping + `}]}`
}

func mounts(source, destination string) string {
	return fmt.Sprintf(`"mount_points": [{"source": %q, "destination": %q}]`, source, destination)
}

// badMachine is a machine with all the bad files, and good ones among them and in odd places.
func badMachine(t *testing.T) (m *machine.T, good []string) {
	m = newMachine(t)
	files := map[string]string{
		"/etc/systemd/system/own-unit.service":           "[Service]\nExecStart=/bin/true\n",
		"/etc/containers/systemd/own-quadlet.container":  "[Container]\nImage=localhost/busybox:1\nExec=sleep infinity\nStopTimeout=0\n",
		"/etc/containers/systemd/other.container":        "[Container]\nImage=localhost/busybox:1\nExec=sleep infinity\nServiceName=own-name\n",
		"/etc/containers/systemd/own.network":            "[Network]\n",
		descriptors + "writable.json":                    sleeper("writable"),
		descriptors + "foreign.json":                     sleeper("foreign"),
		descriptors + "large.json":                       sleeper("large"),
		descriptors + "upper.JSON":                       sleeper("upper"),
		descriptors + "notes.txt":                        "no descriptor",
		descriptors + "backup.json~":                     "{",
		descriptors + "off.json.disabled":                sleeper("off"),
		descriptors + "open/hidden.json":                 sleeper("hidden"),
		"/home/alice/hers.json":                          sleeper("hers"),
		"/srv/linked.json":                               sleeper("linked"),
		descriptors + "aaa.json":                         sleeper("aaa", ports(`"container_port": 80, "host_port": 8000, "host_ip": "localhost"`)),
		descriptors + "zzz.json":                         sleeper("zzz", ports(`"container_port": 80, "host_port": 8000, "host_ip": "192.0.2.2"`)),
		descriptors + "directory.json/inner/inside.json": sleeper("inside"),
		descriptors + ".dotted.json":                     sleeper("dotted"),
	}
	for _, bad := range badFiles {
		files[descriptors+bad.file] = bad.content
	}
	writeFiles(m, files)
	m.Shell(badPlaces + "; ln -s /srv/linked.json linked.json")
	return m, []string{"aaa", "dotted", "inside", "linked", "zzz"}
}

func TestBadFilesAmongGoodOnes(t *testing.T) {
	m, good := badMachine(t)
	out, err := m.Exec("sitelet", "check")
	if err == nil {
		t.Error("sitelet check finds nothing")
	}
	for _, bad := range badFiles {
		expectFinding(t, out, bad.file, bad.want)
	}
	for _, said := range saidOfPlaces {
		if !strings.Contains(out, descriptors+said) {
			t.Errorf("sitelet check does not say: %s%s", descriptors, said)
		}
	}
	for _, name := range good {
		if strings.Contains(out, name+".json:") && !strings.Contains(out, name+".json:5:90: warning: host_config.port_mappings[0].host_ip: is taken for 127.0.0.1") {
			t.Errorf("sitelet check has something against %s", name)
		}
	}
	for _, ignored := range []string{"notes.txt", "backup.json~", "off.json.disabled"} {
		if strings.Contains(out, ignored) {
			t.Errorf("sitelet check speaks of %s", ignored)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	expectWithin(t, m, 20*time.Second, "systemctl", "daemon-reload")
	m.Must("systemctl", "start", "multi-user.target")
	expectOnly(t, m, good)
	m.Reboot()
	expectOnly(t, m, good)
}

// expectFinding looks for a line about the file that says it.
func expectFinding(t *testing.T, out, file, want string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, descriptors+file); ok && strings.Contains(rest, want) && strings.HasPrefix(rest, ":") {
			return
		}
	}
	t.Errorf("%s: no line says %q", file, want)
}

// expectOnly expects that these containers run and no others, that nothing stands in the place of other units, and that the
// journal tells where the trouble is.
func expectOnly(t *testing.T, m *machine.T, good []string) {
	t.Helper()
	for _, name := range good {
		expectActive(t, m, name, "active")
	}
	expect(t, "the containers", strings.Fields(m.Shell("podman ps --all --filter label=io.sitelet.workload --format {{.Names}} | sort")), good)
	for unit, fragment := range map[string]string{
		"dbus.service":        "/usr/lib/systemd/system/dbus.service",
		"podman.service":      "/usr/lib/systemd/system/podman.service",
		"own-unit.service":    "/etc/systemd/system/own-unit.service",
		"own-quadlet.service": "/run/systemd/generator/own-quadlet.service",
		"same.service":        "",
		"truncated.service":   "",
		"wildcard-a.service":  "",
		"writable.service":    "",
	} {
		expect(t, "the unit file of "+unit, property(m, unit, "FragmentPath"), fragment)
	}
	for _, unit := range []string{"own-quadlet", "own-name", "own-network"} {
		expect(t, "the source of "+unit, strings.HasPrefix(property(m, unit+".service", "SourcePath"), "/etc/containers/systemd/"), true)
	}
	if _, err := m.Exec("ls", "/injected"); err == nil {
		t.Error("a descriptor ran a command of its own")
	}
	// Not all fit, see generator's log.
	m.Eventually(5*time.Second, func() error {
		journal := m.Shell("journalctl --boot --no-pager --output=cat -t sitelet-generator")
		if !strings.Contains(journal, descriptors+"after.json:5:25: ") || !strings.Contains(journal, "there is more: run `sitelet check`") {
			return fmt.Errorf("the journal has of the generator:\n%s", journal)
		}
		return nil
	})
}
