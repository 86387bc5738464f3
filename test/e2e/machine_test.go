package e2e

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// The tests of this file are about the machine itself: that what the others stand on is the real thing.

func TestMachineIsDebian13(t *testing.T) {
	m := plainMachine(t)
	for _, test := range []struct{ script, want string }{
		{"systemctl is-system-running", "running"},
		{"systemctl --version | awk 'NR == 1 {print $2}'", "257"},
		{"podman version --format '{{.Client.Version}}' | cut -d. -f1,2", "5.4"},
		{"/usr/libexec/podman/quadlet -version | cut -d. -f1,2", "5.4"},
		{"systemd-detect-virt", "container-other"},
		{"hostname", "machine"},
		{"cat /proc/1/comm", "systemd"},
		{"systemctl list-units --failed --plain --no-legend | wc -l", "0"},
		{"ip -brief address show eth0 | awk '{print $2, $3}'", "UP 192.0.2.2/24"},
	} {
		if got := strings.TrimSpace(m.Shell(test.script)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.script, got, test.want)
		}
	}
}

func TestMachineReportsFailure(t *testing.T) {
	m := plainMachine(t)
	out, err := m.Exec("sh", "-c", "echo out; echo why >&2; exit 3")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(err.Error(), "why") || out != "out\n" {
		t.Errorf("out = %q, err = %v; want exit status 3 with the reason", out, err)
	}
	m.PowerCut()
	if _, err := m.Exec("true"); err == nil {
		t.Error("a command ran on a machine that is off")
	}
}

func TestMachineFiles(t *testing.T) {
	m := plainMachine(t)
	const content = "a 'b' \"c\" $d %e\nü\n"
	m.WriteFile("/etc/new/dir/file", content, 0o640)
	if got := m.ReadFile("/etc/new/dir/file"); got != content {
		t.Errorf("read %q, wrote %q", got, content)
	}
	if got := m.Shell("stat -c '%a %U' /etc/new/dir/file"); got != "640 root\n" {
		t.Errorf("mode and owner are %q", got)
	}
}

const webUnit = `[Container]
Image=localhost/busybox:1
ContainerName=web
PublishPort=127.0.0.1:8080:80
Exec=sh -c 'echo hello >/tmp/index.html; exec httpd -f -p 80 -h /tmp'
StopTimeout=1
[Install]
WantedBy=multi-user.target
`

// serves returns a check that the container of webUnit answers from outside.
func serves(m *machine.T) func() error {
	return func() error {
		out, err := m.Exec("curl", "--silent", "--show-error", "--max-time", "5", "http://127.0.0.1:8080/index.html")
		if err == nil && out != "hello\n" {
			err = errors.New("it serves " + out)
		}
		return err
	}
}

func TestMachineRunsQuadletAcrossBoots(t *testing.T) {
	m := plainMachine(t)
	m.WriteFile("/etc/containers/systemd/web.container", webUnit, 0o644)
	m.Must("systemctl", "daemon-reload")
	m.Must("systemctl", "start", "web")
	m.Eventually(10*time.Second, serves(m))
	m.Shell("echo kept >/var/lib/kept; echo gone >/run/gone; echo gone >/tmp/gone")

	for _, off := range []struct {
		how  string
		then func()
	}{
		{"reboot", m.Reboot},
		{"power cut", func() { m.PowerCut(); m.Boot() }},
	} {
		off.then()
		if got := m.ReadFile("/var/lib/kept"); got != "kept\n" {
			t.Errorf("after a %s the disk has %q", off.how, got)
		}
		if out, err := m.Exec("ls", "/run/gone", "/tmp/gone"); err == nil {
			t.Errorf("after a %s there are still %s", off.how, out)
		}
		m.Eventually(20*time.Second, serves(m))
	}
}

func TestMachineContainersFindEachOther(t *testing.T) {
	m := plainMachine(t)
	m.Must("podman", "network", "create", "lan")
	for _, name := range []string{"one", "two"} {
		m.Must("podman", "run", "--detach", "--name="+name, "--network=lan", "localhost/busybox:1",
			"sh", "-c", "hostname >/tmp/index.html; exec httpd -f -p 80 -h /tmp")
	}
	for from, to := range map[string]string{"one": "two", "two": "one"} {
		m.Eventually(10*time.Second, func() error {
			_, err := m.Exec("podman", "exec", from, "wget", "-T", "5", "-O", "-", "http://"+to+"/index.html")
			return err
		})
	}
}

func TestMachineRootless(t *testing.T) {
	m := plainMachine(t)
	alice := m.As("alice")
	alice.Linger()
	alice.WriteFile("/home/alice/.config/containers/systemd/web.container", webUnit, 0o644)
	alice.Must("systemctl", "--user", "daemon-reload")
	alice.Must("systemctl", "--user", "start", "web")
	alice.Eventually(10*time.Second, serves(m))
	if out := m.Must("podman", "ps", "--all", "--quiet"); out != "" {
		t.Errorf("root has a container of alice's: %s", out)
	}
}

// Generators log to /dev/kmsg; that has to reach the machine's own journal and no other's.
func TestMachinesAreApart(t *testing.T) {
	t.Parallel()
	one := machine.New(t, machine.Options{Name: "one"})
	two := machine.New(t, machine.Options{Name: "two"})
	one.WriteFile("/etc/containers/systemd/bad.container", "[Container]\nNoSuchKey=1\n", 0o644)
	one.Must("systemctl", "daemon-reload")
	one.Eventually(5*time.Second, func() error {
		if !strings.Contains(one.Must("journalctl", "--no-pager", "-t", "quadlet-generator"), "NoSuchKey") {
			return errors.New("the journal does not have Quadlet's complaint")
		}
		return nil
	})
	if strings.Contains(two.Journal(""), "NoSuchKey") {
		t.Error("the other machine's journal has it too")
	}
	if one.ReadFile("/etc/machine-id") == two.ReadFile("/etc/machine-id") {
		t.Error("two machines have one id")
	}
	one.Shell("echo x >/var/lib/x")
	if _, err := two.Exec("ls", "/var/lib/x"); err == nil {
		t.Error("two machines have one disk")
	}
}
