package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// commandTimeout is long enough for everything but a command that hangs.
const commandTimeout = 2 * time.Minute

// As returns the same machine with another user whose commands it runs, as in a login session:
// `systemctl --user` works, once the user is logged in or lingers (see Linger).
func (m *Machine) As(user string) *Machine {
	return &Machine{m.hardware, user}
}

// Command returns a command that runs on the machine, with nothing of this process's environment.
// What it started lives on when ctx ends it, for as long as the machine runs.
func (m *Machine) Command(ctx context.Context, args ...string) *exec.Cmd {
	if !m.isOn() {
		return &exec.Cmd{Args: args, Err: errors.New("the machine is off; boot it")}
	}
	enter := []string{"--target", strconv.Itoa(m.running.process.Pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"}
	if m.user != "" {
		const session = `export XDG_RUNTIME_DIR=/run/user/$(id -u)
export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
cd
exec "$@"`
		enter = append(enter, "setpriv", "--reuid="+m.user, "--regid="+m.user, "--init-groups", "--reset-env", "sh", "-c", session, "sh")
	}
	cmd := exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb"}
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(m.running.cgroup.Fd())}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Exec runs a command on the machine and returns what it writes to standard output. The error of a command that
// fails holds its standard error and wraps an [exec.ExitError]. After two minutes the command counts as hanging.
func (m *Machine) Exec(args ...string) (string, error) {
	return m.exec(nil, args...)
}

func (m *Machine) exec(input io.Reader, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	cmd := m.Command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done after %s", commandTimeout)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), err
}

// Shell runs a Bash script that ends at the first command that fails, and returns what it writes to standard output.
func (m *Machine) Shell(script string) (string, error) {
	return m.Exec("bash", "-euo", "pipefail", "-c", script)
}

// WriteFile puts a new file in the place of one that may exist, and makes the directories above it.
func (m *Machine) WriteFile(path, content string, mode os.FileMode) error {
	return m.write(path, strings.NewReader(content), mode)
}

// CopyFile copies a file of the host to path on the machine, like WriteFile, with the same permissions.
func (m *Machine) CopyFile(host, path string) error {
	file, err := os.Open(host)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return m.write(path, file, info.Mode())
}

func (m *Machine) write(path string, content io.Reader, mode os.FileMode) error {
	// This process's end of a pipe is root's; another user may only open one of its own.
	const script = `cat | install -D -m "$1" /dev/stdin "$2"`
	_, err := m.exec(content, "sh", "-c", script, "sh", fmt.Sprintf("%#o", mode.Perm()), path)
	return err
}

// ReadFile returns the content of a file on the machine.
func (m *Machine) ReadFile(path string) (string, error) {
	return m.Exec("cat", path)
}

// Journal returns what the unit wrote to the journal and systemd says of it, at all boots, the oldest first;
// without a unit, everything. For another user than root it is one of that user's units.
func (m *Machine) Journal(unit string) (string, error) {
	args := []string{"journalctl", "--no-pager", "--quiet", "--output=short-iso-precise"}
	switch {
	case unit == "":
	case m.user == "":
		args = append(args, "--unit="+unit)
	default:
		args = append(args, "--user-unit="+unit)
	}
	return m.Exec(args...)
}

// Linger starts the user manager of the user of As now and at every boot, and waits until it is up.
func (m *Machine) Linger() error {
	root := Machine{m.hardware, ""}
	_, err := root.Exec("loginctl", "enable-linger", m.user)
	if err != nil {
		return err
	}
	return Eventually(time.Minute, func() error {
		_, err := m.Exec("systemctl", "--user", "is-active", "default.target")
		return err
	})
}

// Eventually calls check until it returns nil, or returns its last error when the time is up.
func Eventually(timeout time.Duration, check func() error) error {
	for deadline := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("still after %s: %w", timeout, err)
		}
	}
}
