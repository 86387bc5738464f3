package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// CacheDir returns the directory that keeps what is expensive to make and the disks of running machines:
// $SITELET_TEST_CACHE, else sitelet in the user's cache directory. Removing it is safe while no machine runs.
func CacheDir() (string, error) {
	if dir := os.Getenv("SITELET_TEST_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "sitelet"), nil
}

// lock opens the file, made where it does not exist, and locks it as flock(2) does with that operation.
// Closing it, or the end of the process, unlocks it. Whoever holds it exclusively may remove the file.
func lock(path string, operation int) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(file, operation); err != nil {
			file.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if isAt(file, path) {
			return file, nil
		}
		file.Close()
	}
}

func flock(file *os.File, operation int) error {
	for {
		err := syscall.Flock(int(file.Fd()), operation)
		if err != syscall.EINTR {
			return err
		}
	}
}

// isAt tells whether the file has not been removed, or replaced, since it was opened.
func isAt(file *os.File, path string) bool {
	locked, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(locked, there)
}
