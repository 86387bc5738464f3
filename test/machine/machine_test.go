package machine

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process that is killed takes its machine with it, and the next one removes what it had on the disk.
func TestKilledProcessLeavesNothing(t *testing.T) {
	Require(t)
	if os.Getenv("MACHINE_TEST_CHILD") != "" {
		m := New(t, Options{})
		fmt.Printf("machine %d %s %s\n", m.running.process.Pid, m.dir, m.cgroup)
		time.Sleep(time.Minute)
		return
	}
	if err := Prepare(""); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestKilledProcessLeavesNothing$", "-test.v")
	child.Env = append(os.Environ(), "MACHINE_TEST_CHILD=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var words []string
	for lines := bufio.NewScanner(out); len(words) != 4 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "machine ") {
			words = strings.Fields(lines.Text())
		}
	}
	child.Process.Kill()
	child.Wait()
	if len(words) != 4 {
		t.Fatal("the other process started no machine")
	}

	pid, err := strconv.Atoi(words[1])
	if err != nil {
		t.Fatal(err)
	}
	err = Eventually(10*time.Second, func() error {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			return fmt.Errorf("the machine is still there (%v)", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	dir, cgroup := words[2], words[3]
	if err := removeStale(filepath.Dir(filepath.Dir(dir))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, cgroup} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

func TestQuadlet(t *testing.T) {
	Require(t)
	command, err := Quadlet()
	if err != nil {
		t.Fatal(err)
	}
	in, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(in, "web.container"), []byte("[Container]\nImage=localhost/busybox:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], append(command[1:], "-no-kmsg-log", out)...)
	cmd.Env = []string{"QUADLET_UNIT_DIRS=" + in}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	unit, err := os.ReadFile(filepath.Join(out, "web.service"))
	if err != nil || !strings.Contains(string(unit), "localhost/busybox:1") {
		t.Errorf("web.service is %q (%v)", unit, err)
	}
}

// BenchmarkBoot is a fresh machine from nothing to all that starts at boot, and its end.
func BenchmarkBoot(b *testing.B) {
	Require(b)
	for b.Loop() {
		m, err := Start(Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExec(b *testing.B) {
	m := New(b, Options{})
	for b.Loop() {
		if _, err := m.Exec("true"); err != nil {
			b.Fatal(err)
		}
	}
}

// A package is there when the machine boots, and what it enables runs.
func TestDebIsInstalled(t *testing.T) {
	Require(t)
	tree := t.TempDir()
	for path, content := range map[string]string{
		"DEBIAN/control":                       "Package: probe\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.com>\nDescription: probe\n",
		"DEBIAN/postinst":                      "#!/bin/sh\nsystemctl enable probe.service\n",
		"usr/lib/systemd/system/probe.service": "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\n[Install]\nWantedBy=multi-user.target\n",
	} {
		file := filepath.Join(tree, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	deb := filepath.Join(t.TempDir(), "probe.deb")
	if out, err := exec.Command("dpkg-deb", "--root-owner-group", "--build", tree, deb).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m := New(t, Options{Deb: deb})
	if got := m.Must("dpkg-query", "--show", "--showformat=${Status}", "probe"); got != "install ok installed" {
		t.Errorf("the package is %q", got)
	}
	if got := m.Must("systemctl", "is-active", "probe.service"); got != "active\n" {
		t.Errorf("its service is %q", got)
	}
	if _, err := Start(Options{Deb: filepath.Join(tree, "none.deb")}); err == nil {
		t.Error("a package that is not there made no error")
	}
}
