package links

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
)

// Write makes a directory, runtime/links of a namespace, hold these files and nothing else. A file that is right is not touched.
func Write(dir string, files []File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("storing static links: %w", err)
	}
	for _, file := range files {
		if err := file.write(filepath.Join(dir, file.Name)); err != nil {
			return fmt.Errorf("storing a static link: %w", err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("removing static links: %w", err)
	}
	for _, entry := range entries {
		if slices.ContainsFunc(files, func(f File) bool { return f.Name == entry.Name() }) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("removing a static link: %w", err)
		}
	}
	return nil
}

func (f File) write(path string) error {
	const mode = 0o600
	info, err := os.Lstat(path)
	switch {
	case err != nil:
	case info.IsDir():
		err = os.RemoveAll(path)
	case info.Mode().IsRegular():
		if info.Mode() != mode { // renameio would keep it
			err = os.Chmod(path, mode)
		}
		if data, readErr := os.ReadFile(path); err == nil && readErr == nil && bytes.Equal(data, f.Data) {
			return nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return renameio.WriteFile(path, f.Data, mode, renameio.WithTempDir(filepath.Dir(path)))
}
