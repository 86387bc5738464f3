package machine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// boot is the time a machine runs, from when it is switched on until it is off.
type boot struct {
	process *os.Process   // the machine's PID 1
	ended   chan struct{} // closed when that and with it all others have ended
	notify  *net.UnixConn // what PID 1 says of itself, see sd_notify(3)
	kmsg    *os.File      // what is written to /dev/kmsg
	cgroup  *os.File      // where commands from outside run: alone, since the top cgroup has to have none
}

// start switches the machine on.
func start(h *hardware) (*boot, error) {
	b := &boot{ended: make(chan struct{})}
	if err := b.start(h); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *boot) start(h *hardware) (err error) {
	// A disk that was not unmounted leaves a mark here, against using it again.
	work := filepath.Join(h.dir, "work")
	if err := errors.Join(os.RemoveAll(work), os.Mkdir(work, 0o755)); err != nil {
		return err
	}
	if b.notify, err = listen(h.dir, "notify"); err != nil {
		return err
	}
	if b.kmsg, err = newPipe(filepath.Join(h.dir, "kmsg")); err != nil {
		return err
	}
	top, err := os.Open(h.cgroup)
	if err != nil {
		return err
	}
	defer top.Close()
	console, err := os.Create(filepath.Join(h.dir, "console"))
	if err != nil {
		return err
	}
	defer console.Close()

	cmd := stage(h.dir, h.below, "/lib/systemd/systemd", "--show-status=no")
	cmd.SysProcAttr.UseCgroupFD = true
	cmd.SysProcAttr.CgroupFD = int(top.Fd())
	cmd.Stdout, cmd.Stderr = console, console
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig is about this thread
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(b.ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	b.process = cmd.Process
	go forwardKernelLog(b.kmsg, fmt.Sprintf("/proc/%d/root/run/systemd/journal/dev-log", cmd.Process.Pid))

	commands := filepath.Join(h.cgroup, "commands")
	if err := os.Mkdir(commands, 0o755); err != nil {
		return err
	}
	b.cgroup, err = os.Open(commands)
	return err
}

// awaitReady returns when systemd has said that it is up. What it says later finds no listener: with one that
// does not listen it would wait for ever.
func (b *boot) awaitReady(timeout time.Duration) error {
	defer b.notify.Close()
	b.notify.SetReadDeadline(time.Now().Add(timeout))
	go func() {
		<-b.ended
		b.notify.SetReadDeadline(time.Now())
	}()
	message := make([]byte, 8192)
	for {
		n, err := b.notify.Read(message)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			select {
			case <-b.ended:
				return errors.New("the machine's first process ended")
			default:
				return fmt.Errorf("not done after %s", timeout)
			}
		}
		if err != nil {
			return err
		}
		if slices.Contains(strings.Split(string(message[:n]), "\n"), "READY=1") {
			return nil
		}
	}
}

// kill ends every process of the machine.
func (b *boot) kill() {
	b.process.Kill()
	<-b.ended
	b.close()
}

// close lets go of what the boot holds on this side.
func (b *boot) close() {
	if b.process != nil {
		b.process.Kill()
	}
	if b.notify != nil {
		b.notify.Close()
	}
	b.kmsg.Close()
	b.cgroup.Close()
}

// listen makes a datagram socket at dir/name. The way through /proc keeps the address below the 108 bytes it may have.
func listen(dir, name string) (*net.UnixConn, error) {
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		return nil, err
	}
	at, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: fmt.Sprintf("/proc/self/fd/%d/%s", at.Fd(), name)})
	if err == nil {
		err = os.Chmod(filepath.Join(dir, name), 0o600)
	}
	return conn, err
}

// newPipe makes a named pipe and opens it for reading; writers never find it without a reader.
func newPipe(path string) (*os.File, error) {
	if err := os.RemoveAll(path); err != nil {
		return nil, err
	}
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
}
