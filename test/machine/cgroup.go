package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// cgroupName returns the name of the cgroup of machine n of a run directory.
func cgroupName(runDir, n string) string {
	return "sitelet-test-" + filepath.Base(runDir) + "-" + n
}

// newCgroup makes the machine's top cgroup, with those of the usual controllers that the host has there.
func newCgroup(dir string) error {
	for _, controller := range []string{"cpu", "io", "memory", "pids"} {
		// A host that has it in version 1, or processes of its own at the top, refuses; HasController tells.
		os.WriteFile(filepath.Join(filepath.Dir(dir), "cgroup.subtree_control"), []byte("+"+controller), 0)
	}
	return os.Mkdir(dir, 0o755)
}

// controllers returns the cgroup controllers that a machine with that top cgroup has.
func controllers(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	return strings.Fields(string(text)), err
}

// removeCgroup kills what runs in a cgroup and below it and removes them. One that does not exist is fine.
func removeCgroup(dir string) error {
	err := os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// What was killed takes a moment to leave.
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := removeTree(dir)
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
	}
}

// removeTree removes the directories of a cgroup, the deepest first; the files in them cannot and need not be.
func removeTree(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}
