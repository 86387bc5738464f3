package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock keeps other processes of the host out until unlock is called or the process ends. waiting, which may be nil, is called
// when another one has the lock.
//
// The locks are: "reload", one reload at a time; "ports", for between the choice of a port and the container that has it nothing
// else shows that it is taken; "create-NAME", as a restart by systemd may come while a reload makes the same container.
func (h Hooks) lock(name string, waiting func()) (unlock func(), err error) {
	dir := filepath.Join(h.Paths.RuntimeDir, "locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return func() { f.Close() }, nil
	}
	if waiting != nil {
		waiting()
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("waiting for the lock %s: %w", name, err)
	}
	return func() { f.Close() }, nil
}
