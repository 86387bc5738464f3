package hooks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sitelet/sitelet/internal/state"
)

// change has change work on the state of a workload while nobody makes, renames or removes its containers.
func (h Hooks) change(name string, change func(*state.Workload) error) error {
	return h.holding("create-"+name, func() error { return h.store().Change(name, change) })
}

// holding does something while other processes are kept from what the lock of that name is for.
func (h Hooks) holding(lock string, do func() error) error {
	unlock, err := h.lock(lock, nil)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// lock keeps other processes of the host out until unlock is called or the process ends. waiting, which may be nil, is called
// when another one has the lock.
//
// The locks, each taken only by who holds none after it, are: "reload", one reload at a time; "rollback-NAME", as a reload and a
// failed unit may both ask for it; "create-NAME", for what makes, renames and removes the containers of NAME; "ports", for between
// the choice of a port and the container that has it nothing else shows that it is taken; "quadlet", for its directory;
// "site-NAMESPACE", for the state and the runtime directory of a site; "registry", for this user's file in the registry of ports, whose
// own lock everyone can keep.
func (h Hooks) lock(name string, waiting func()) (unlock func(), err error) {
	f, err := h.lockFile(name)
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

// tryLock is lock for what can be left undone: nobody is waited for.
func (h Hooks) tryLock(name string) (unlock func(), ok bool) {
	f, err := h.lockFile(name)
	if err != nil {
		return nil, false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}

func (h Hooks) lockFile(name string) (*os.File, error) {
	dir := filepath.Join(h.Paths.RuntimeDir, "locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
}

// Reloading tells whether a reload is under way.
func (h Hooks) Reloading() bool {
	f, err := os.Open(filepath.Join(h.Paths.RuntimeDir, "locks", "reload"))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
