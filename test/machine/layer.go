package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A layer is a part of a machine's file system that many machines share: a finished disk, below theirs.
type layer struct {
	dir  string
	lock *os.File // shared; keeps others from removing the layer
}

// layersUnusedFor is the time after which a layer that no process has used makes room for new ones.
const layersUnusedFor = 24 * time.Hour

// isCached tells whether the layer of that name has been built.
func isCached(name string) bool {
	cache, err := CacheDir()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(cache, "layers", name))
	return err == nil
}

// cached returns the layer of that name, which build makes in the directory it is given if it is not there yet.
// A name says all that the layer depends on, so that it never has to change. Processes that want the same one
// wait for the one that builds it, and one that is killed leaves nothing that looks finished.
func cached(name string, build func(dir string) error) (layer, error) {
	cache, err := CacheDir()
	if err != nil {
		return layer{}, err
	}
	dir := filepath.Join(cache, "layers", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return layer{}, err
	}
	use, err := lock(dir+".lock", syscall.LOCK_SH)
	if err != nil {
		return layer{}, err
	}
	made := layer{dir, use}
	if _, err := os.Stat(dir); err == nil {
		return made, os.Chtimes(dir+".lock", time.Time{}, time.Now())
	}
	if err := buildLayer(made, build); err != nil {
		use.Close()
		return layer{}, fmt.Errorf("building layer %s: %w", name, err)
	}
	removeOldLayers(filepath.Dir(dir))
	return made, nil
}

// buildLayer builds under the exclusive lock and ends with the shared one.
func buildLayer(l layer, build func(dir string) error) error {
	if err := flock(l.lock, syscall.LOCK_EX); err != nil {
		return err
	}
	defer flock(l.lock, syscall.LOCK_SH)
	if _, err := os.Stat(l.dir); err == nil {
		return nil
	}
	unfinished := l.dir + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	if err := build(unfinished); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	return os.Rename(unfinished, l.dir)
}

// removeOldLayers removes what nobody has used for long. What it cannot remove it leaves to the next build.
func removeOldLayers(layers string) {
	locks, _ := filepath.Glob(filepath.Join(layers, "*.lock"))
	for _, path := range locks {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < layersUnusedFor {
			continue
		}
		use, err := lock(path, syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			continue
		}
		dir := strings.TrimSuffix(path, ".lock")
		os.RemoveAll(dir)
		os.RemoveAll(dir + ".unfinished")
		os.Remove(path)
		use.Close()
	}
}
