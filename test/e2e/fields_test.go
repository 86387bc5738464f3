package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// fieldsMachine is a machine with the descriptors of testdata/fields, which use every field between them.
func fieldsMachine(t *testing.T) (*machine.T, []string) {
	t.Helper()
	m := newMachine(t)
	m.Shell(`mkdir -p /srv/plain /srv/slave /srv/shared '/srv/a b:c,d="e"'
		mount --make-rshared /
		touch /srv/plain/file '/srv/a b:c,d="e"/file'
		cat >/etc/systemd/system/up0.service <<-end
			[Unit]
			DefaultDependencies=no
			Before=network.target sysinit.target
			[Service]
			Type=oneshot
			RemainAfterExit=yes
			ExecStart=sh -c 'ip link add up0 type veth peer name up1 && ip address add 198.51.100.7/24 dev up0 && ip link set up0 up; mount --make-rshared /'
			[Install]
			WantedBy=sysinit.target
		end
		systemctl enable --now up0.service`)
	files, err := filepath.Glob("testdata/fields/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m.WriteFile("/etc/sitelet/containers/"+filepath.Base(file), string(text), 0o600)
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	if len(names) < 12 {
		t.Fatalf("only %d descriptors", len(names))
	}
	return m, names
}

// Every field of every descriptor, seen from inside the container or in what Podman says of it: after a daemon-reload, and
// again after a reboot, with what was written to the containers.
func TestFields(t *testing.T) {
	m, names := fieldsMachine(t)
	m.Must("sitelet", "check")
	m.Must("systemctl", "daemon-reload")
	// What a boot does: everything that the target wants.
	m.Must("systemctl", "start", "multi-user.target")
	started := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "manual" || name == "memory" && !m.HasController("memory")
	})
	for _, name := range started {
		expectActive(t, m, name, "active")
	}
	expectActive(t, m, "manual", "inactive")
	verifyFields(t, m)
	for _, name := range started {
		m.Must("podman", "exec", name, "/bin/sh", "-c", "echo written >/layer")
	}
	ids := containerIDs(m)
	m.Reboot()
	for _, name := range started {
		expectActive(t, m, name, "active")
		if got := m.Must("podman", "exec", name, "/bin/cat", "/layer"); got != "written\n" {
			t.Errorf("%s lost its writable layer: %q", name, got)
		}
	}
	verifyFields(t, m)
	if got := containerIDs(m); got != ids {
		t.Errorf("the reboot changed containers:\n%s\nbefore:\n%s", got, ids)
	}
	for _, name := range names {
		if got := m.Must("systemctl", "show", "--property=NeedDaemonReload", "--value", name+".service"); got != "no\n" {
			t.Errorf("%s needs a daemon-reload: %q", name, got)
		}
	}
}

// expectActive waits for a unit's state: a boot is over before all of its containers are up.
func expectActive(t *testing.T, m *machine.T, name, want string) {
	t.Helper()
	err := machine.Eventually(30*time.Second, func() error {
		if got := strings.TrimSpace(m.Must("systemctl", "show", "--property=ActiveState", "--value", name+".service")); got != want {
			return fmt.Errorf("%s.service is %s, want %s", name, got, want)
		}
		return nil
	})
	if err != nil {
		status, _ := m.Exec("sh", "-c", "systemctl status --no-pager --lines=30 "+name+".service sitelet-create@"+name+".service; true")
		t.Fatalf("%v\n%s", err, status)
	}
}

func containerIDs(m *machine.T) string {
	return m.Shell("podman ps --all --no-trunc --format '{{.Names}} {{.ID}}' | sort")
}

// verifyFields has a subtest a descriptor.
func verifyFields(t *testing.T, m *machine.T) {
	t.Helper()
	for _, check := range []struct {
		name string
		do   func(*testing.T, *machine.T)
	}{
		{"env", verifyEnv}, {"cmd", verifyCmd}, {"web", verifyWeb}, {"hosts", verifyHosts}, {"mounts", verifyMounts},
		{"device", verifyDevice}, {"limits", verifyLimits}, {"memory", verifyMemory}, {"privileged", verifyPrivileged}, {"hooked", verifyHooked},
		{"healthy", verifyHealthy}, {"after", verifyAfter}, {"defaults", verifyDefaults},
	} {
		t.Run(check.name, func(t *testing.T) { check.do(t, m) })
	}
}

// nulSeparated reads a file of /proc/1 in a container.
func nulSeparated(m *machine.T, container, file string) []string {
	text := m.Must("podman", "exec", container, "/bin/cat", "/proc/1/"+file)
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// inspect returns what a Go template makes of podman inspect.
func inspect(m *machine.T, container, template string) string {
	return strings.TrimSpace(m.Must("podman", "container", "inspect", "--format", template, container))
}

func verifyEnv(t *testing.T, m *machine.T) {
	got := map[string]string{}
	for _, entry := range nulSeparated(m, "env", "environ") {
		name, value, _ := strings.Cut(entry, "=")
		got[name] = value
	}
	for name, want := range map[string]string{
		"PLAIN": "1", "SPACES": "  a b  c ", "QUOTES": "\"it's\" `x`", "PERCENT": "100%20%n%%", "DOLLAR": "$HOME ${X} $$",
		"LINES": "one\ntwo\n", "UTF8": "Zürich 日本 🚀", "EMPTY": "", "BACK": `C:\dir\`, "SECTION": "[Service]", "SEMI": ";",
		"HASH": "# no comment", "DB_PASSWORD": `pa ss'w"ord`, "TAB": "a\tb", "HOSTNAME": "env-host",
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %q (set: %v), want %q", name, value, ok, want)
		}
	}
	if value, ok := got["PATH"]; ok {
		t.Errorf("PATH is %q, want it unset", value)
	}
	// The secret is where Podman keeps it, and in nothing that others may read.
	for _, command := range []string{"systemctl cat env.service", "systemctl show env.service", "systemctl show sitelet-create@env.service"} {
		if out := m.As("alice").Shell(command + " || true"); strings.Contains(out, "ss'w") {
			t.Errorf("%s shows the password:\n%s", command, out)
		}
	}
	if out, err := m.As("alice").Exec("sh", "-c", "cat /run/sitelet/cache/*.create"); err == nil {
		t.Errorf("a user may read Quadlet's text: %s", out)
	}
	if strings.Contains(m.Journal(""), "ss'w") {
		t.Error("the password is in the journal")
	}
}

func verifyCmd(t *testing.T, m *machine.T) {
	var want struct{ Config struct{ Cmd []string } }
	text, err := os.ReadFile("testdata/fields/cmd.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal([]byte(inspect(m, "cmd", "{{json .Config.Cmd}}")), &got); err != nil {
		t.Fatal(err)
	}
	expect(t, "the command", got, want.Config.Cmd)
	expect(t, "the process", nulSeparated(m, "cmd", "cmdline"), want.Config.Cmd)
}

func verifyWeb(t *testing.T, m *machine.T) {
	// 8090 belongs to another descriptor, so the range begins after it.
	for _, port := range []string{"8080", "8081", "8091"} {
		expect(t, "port "+port, m.Shell("curl --silent --fail --retry 5 --retry-connrefused http://127.0.0.1:"+port+"/"), "web\n")
	}
	// Podman keeps no order among the ports of one container port.
	expect(t, "bindings", strings.TrimSpace(m.Shell("podman container inspect --format '{{json .HostConfig.PortBindings}}' web | jq -c 'map_values(sort_by(.HostPort))'")),
		`{"53/udp":[{"HostIp":"127.0.0.1","HostPort":"5353"}],"80/tcp":[{"HostIp":"0.0.0.0","HostPort":"8080"},`+
			`{"HostIp":"127.0.0.1","HostPort":"8081"},{"HostIp":"127.0.0.1","HostPort":"8091"}]}`)
	// By name, from another container.
	expect(t, "DNS", m.Must("podman", "exec", "env", "/bin/wget", "-qO-", "http://web/"), "web\n")
	expect(t, "DNS of the host name", m.Must("podman", "exec", "env", "/bin/wget", "-qO-", "http://web-host/"), "web\n")
}

func verifyHosts(t *testing.T, m *machine.T) {
	hosts := m.Must("podman", "exec", "hosts", "cat", "/etc/hosts")
	web := inspect(m, "web", "{{.NetworkSettings.Networks.sitelet.IPAddress}}")
	gateway := inspect(m, "web", "{{.NetworkSettings.Networks.sitelet.Gateway}}")
	for _, line := range []string{"192.0.2.7\tfour", "fd00::1\tsix", gateway + "\thost", "198.51.100.7\tup", web + "\tstore"} {
		if !strings.Contains("\n"+hosts, "\n"+line+"\n") {
			t.Errorf("/etc/hosts has no line %q:\n%s", line, hosts)
		}
	}
	expect(t, "the host name", m.Must("podman", "exec", "hosts", "hostname"), "hosts-1\n")
	expect(t, "a page from the container looked up", m.Must("podman", "exec", "hosts", "wget", "-qO-", "http://store/"), "web\n")
	m.Must("podman", "exec", "env", "/bin/nslookup", "hosts-1.edge.example")
	if conf := m.Must("podman", "exec", "hosts", "cat", "/etc/resolv.conf"); !strings.Contains(conf, "search edge.example") {
		t.Errorf("resolv.conf: %s", conf)
	}
	// The other one gets a new address: its users see it without a restart.
	m.Shell("systemctl stop web && podman run --detach --name squatter --network sitelet --ip " + web + " localhost/busybox:1 sleep infinity && systemctl start web")
	defer m.Must("podman", "rm", "--force", "--time=0", "squatter")
	moved := inspect(m, "web", "{{.NetworkSettings.Networks.sitelet.IPAddress}}")
	if moved == web {
		t.Fatalf("the address %s has not moved", web)
	}
	if hosts := m.Must("podman", "exec", "hosts", "cat", "/etc/hosts"); !strings.Contains(hosts, moved+"\tstore\n") || strings.Contains(hosts, web+"\tstore") {
		t.Errorf("%s has moved to %s, and /etc/hosts is\n%s", web, moved, hosts)
	}
}

func verifyMounts(t *testing.T, m *machine.T) {
	expect(t, "the plain mount", m.Must("podman", "exec", "mounts", "ls", "/plain"), "file\n")
	expect(t, "the odd mount", m.Must("podman", "exec", "mounts", "ls", "/odd dir:1,2"), "file\n")
	modes := strings.Split(inspect(m, "mounts", `{{range .Mounts}}{{.Destination}} {{.Propagation}} {{.RW}};{{end}}`), ";")
	slices.Sort(modes)
	expect(t, "modes", modes, []string{"", "/odd dir:1,2 rprivate true", "/plain rprivate true", "/shared rshared true", "/slave rslave true"})
	// A mount that the host makes later is seen through a slave, and not through a private one.
	m.Shell("for d in plain slave; do mkdir -p /srv/$d/later && mount -t tmpfs tmpfs /srv/$d/later && touch /srv/$d/later/seen; done")
	defer m.Shell("umount /srv/plain/later /srv/slave/later && rmdir /srv/plain/later /srv/slave/later")
	expect(t, "a later mount below the slave", m.Must("podman", "exec", "mounts", "ls", "/slave/later"), "seen\n")
	expect(t, "a later mount below the private one", m.Must("podman", "exec", "mounts", "ls", "/plain/later"), "")
}

func verifyDevice(t *testing.T, m *machine.T) {
	m.Must("podman", "exec", "device", "sh", "-c", "test -c /dev/modem && test -c /dev/fuse && echo >/dev/modem")
	caps := status(m, "device", "CapBnd")
	for _, bit := range []uint{12 /* NET_ADMIN */, 25 /* SYS_TIME */} {
		if caps&(1<<bit) == 0 {
			t.Errorf("CapBnd is %x, without bit %d", caps, bit)
		}
	}
}

// status returns a hexadecimal line of /proc/1/status.
func status(m *machine.T, container, key string) (value uint64) {
	for line := range strings.Lines(m.Must("podman", "exec", container, "/bin/cat", "/proc/1/status")) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			fmt.Sscanf(strings.TrimSpace(rest), "%x", &value)
		}
	}
	return value
}

// verifyDefaults checks what Kanto gives to every container.
func verifyDefaults(t *testing.T, m *machine.T) {
	// CHOWN, DAC_OVERRIDE, FSETID, FOWNER, MKNOD, NET_RAW, SETGID, SETUID, SETFCAP, SETPCAP, NET_BIND_SERVICE, SYS_CHROOT, KILL
	// and AUDIT_WRITE, as containerd's oci/spec.go has them.
	const kanto = 1<<0 | 1<<1 | 1<<4 | 1<<3 | 1<<27 | 1<<13 | 1<<6 | 1<<7 | 1<<31 | 1<<8 | 1<<10 | 1<<18 | 1<<5 | 1<<29
	expect(t, "CapBnd", status(m, "env", "CapBnd"), uint64(kanto))
	expect(t, "NoNewPrivs", status(m, "env", "NoNewPrivs"), uint64(1))
	expect(t, "open files", m.Must("podman", "exec", "cmd", "sh", "-c", "ulimit -n; ulimit -Hn"), "1024\n1024\n")
	expect(t, "the stop time-out", inspect(m, "env", "{{.Config.StopTimeout}}"), "30")
	expect(t, "the log", inspect(m, "env", "{{.HostConfig.LogConfig.Type}} {{.HostConfig.LogConfig.Size}}"), "k8s-file 209.7MB")
	expect(t, "the restart policy", show(m, "env", "Restart,RestartUSec,RestartSteps,RestartMaxDelayUSec,StartLimitIntervalUSec"),
		"Restart=always RestartMaxDelayUSec=1min RestartSteps=10 RestartUSec=100ms StartLimitIntervalUSec=0")
}

// show returns properties of a unit in one line, sorted.
func show(m *machine.T, name, properties string) string {
	return strings.TrimSpace(m.Shell("systemctl show --property=" + properties + " " + name + ".service | sort | tr '\\n' ' '"))
}

func verifyLimits(t *testing.T, m *machine.T) {
	expect(t, "the restart policy", show(m, "limits", "Restart,RestartMaxDelayUSec,StartLimitBurst,StartLimitIntervalUSec"),
		"Restart=on-failure RestartMaxDelayUSec=20s StartLimitBurst=4 StartLimitIntervalUSec=infinity")
	expect(t, "the log", inspect(m, "limits", "{{.HostConfig.LogConfig.Type}} {{.HostConfig.LogConfig.Path}} {{.HostConfig.LogConfig.Size}}"), "k8s-file /var/log/limits/limits.log 2.097MB")
}

// verifyMemory looks at the container that was created: where the machine has no memory controller it cannot start.
func verifyMemory(t *testing.T, m *machine.T) {
	expect(t, "memory", inspect(m, "memory", "{{.HostConfig.Memory}} {{.HostConfig.MemoryReservation}} {{.HostConfig.MemorySwap}}"), "67108864 33554432 134217728")
	if m.HasController("memory") {
		expect(t, "memory.max", m.Must("podman", "exec", "memory", "cat", "/sys/fs/cgroup/memory.max"), "67108864\n")
	}
}

func verifyPrivileged(t *testing.T, m *machine.T) {
	expect(t, "privileged, tty, stdin, network", inspect(m, "privileged", "{{.HostConfig.Privileged}} {{.Config.Tty}} {{.Config.OpenStdin}} {{.HostConfig.NetworkMode}}"), "true true true host")
	expect(t, "the host name", m.Must("podman", "exec", "privileged", "hostname"), m.Must("hostname"))
	expect(t, "the log driver", inspect(m, "privileged", "{{.HostConfig.LogConfig.Type}}"), "none")
	expect(t, "the restart policy", show(m, "privileged", "Restart"), "Restart=no")
	expect(t, "TERM", strings.Contains(strings.Join(nulSeparated(m, "privileged", "environ"), "\n"), "TERM=xterm"), true)
}

func verifyHooked(t *testing.T, m *machine.T) {
	m.Must("rm", "-f", "/run/hooked")
	m.Must("systemctl", "restart", "hooked")
	m.Eventually(10*time.Second, func() error {
		if got := m.ReadFile("/run/hooked"); got != "poststop\nprestart me\npoststart\n" && got != "prestart me\npoststart\n" {
			return fmt.Errorf("the hooks wrote %q", got)
		}
		return nil
	})
	m.Must("systemctl", "stop", "hooked")
	m.Eventually(10*time.Second, func() error {
		if got := m.ReadFile("/run/hooked"); !strings.HasSuffix(got, "prestart me\npoststart\npoststop\n") {
			return fmt.Errorf("the hooks wrote %q", got)
		}
		return nil
	})
	m.Must("systemctl", "start", "hooked")
}

func verifyHealthy(t *testing.T, m *machine.T) {
	expect(t, "health", inspect(m, "healthy", "{{.State.Health.Status}} {{json .Config.Healthcheck.Test}} {{.Config.SdNotifyMode}}"), `healthy ["CMD","test","-e","/ready"] healthy`)
	m.Shell("podman exec healthy rm -f /ready; systemctl stop healthy")
	begin := time.Now()
	m.Must("systemctl", "start", "healthy")
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("the start job ended after %v, before the container was healthy", took)
	}
	m.Must("systemctl", "start", "after")
}

func verifyAfter(t *testing.T, m *machine.T) {
	m.Must("systemctl", "stop", "healthy")
	expectActive(t, m, "after", "inactive")
	m.Must("systemctl", "start", "after")
	expectActive(t, m, "healthy", "active")
}
