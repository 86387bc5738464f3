package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// readyPath is where a reload notes that it has seen to the container: the create unit of the restart that follows is skipped then
// (ConditionPathExists= of sitelet-create@.service), as nothing serves in the meantime. The trial, which the restart pulls in
// after it, takes the note away.
func (h Hooks) readyPath(name string) string { return filepath.Join(h.dir(name), "ready") }

func (h Hooks) setReady(name string) error {
	if err := os.MkdirAll(h.dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(h.readyPath(name), nil, 0o600)
}

func (h Hooks) clearReady(name string) error {
	if err := os.Remove(h.readyPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
