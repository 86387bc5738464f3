package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// mark has the starts of a workload's unit pull in its trial (ConditionPathExists= of sitelet-trial@.service), and tells the next
// reload that something is under way.
func (h Hooks) mark(name string) error {
	if err := os.MkdirAll(filepath.Dir(h.MarkPath(name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(h.MarkPath(name), nil, 0o644)
}

// MarkPath is the file that marks the update of a workload.
func (h Hooks) MarkPath(name string) string { return filepath.Join(h.Paths.RuntimeDir, "trials", name) }

// Marks lists the workloads that an update is under way of, or was when it was cut off.
func (h Hooks) Marks() []string {
	entries, _ := os.ReadDir(h.MarkPath(""))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (h Hooks) unmark(name string) error {
	if err := os.Remove(h.MarkPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (h Hooks) marked(name string) bool {
	_, err := os.Lstat(h.MarkPath(name))
	return err == nil
}
