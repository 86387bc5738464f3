package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A run is this process's own directory in the cache, for machines' disks.
type run struct {
	dir  string
	lock *os.File // held as long as the process lives; it tells others that it does
}

// thisRun returns the run. It first removes what processes left behind that were killed.
var thisRun = sync.OnceValues(func() (run, error) {
	cache, err := CacheDir()
	if err != nil {
		return run{}, err
	}
	runs := filepath.Join(cache, "runs")
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return run{}, err
	}
	all, err := lock(filepath.Join(runs, "lock"), syscall.LOCK_EX)
	if err != nil {
		return run{}, err
	}
	defer all.Close()
	if err := removeStale(runs); err != nil {
		return run{}, err
	}
	dir, err := os.MkdirTemp(runs, fmt.Sprintf("%d-", os.Getpid()))
	if err != nil {
		return run{}, err
	}
	own, err := lock(filepath.Join(dir, "lock"), syscall.LOCK_EX)
	return run{dir, own}, err
})

// removeStale removes the disks and cgroups below runs whose process is gone.
func removeStale(runs string) error {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(runs, entry.Name())
		if !entry.IsDir() {
			continue
		}
		owner, err := lock(filepath.Join(dir, "lock"), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			return err
		}
		owner.Close()
		if err := removeRun(dir); err != nil {
			return err
		}
	}
	return nil
}

// removeRun removes a run directory and the cgroups of its machines.
func removeRun(dir string) error {
	root, err := cgroupRoot()
	if err != nil {
		return err
	}
	cgroups, _ := filepath.Glob(filepath.Join(root, cgroupName(dir, "*")))
	for _, cgroup := range cgroups {
		if err := removeCgroup(cgroup); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
