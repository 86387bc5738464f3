// Package state keeps what outlives a boot: for each workload the versions of it that have run, are on trial or have failed, and for
// each site what must never move. Generators read it and hooks write it. A file each, replaced whole: a power cut leaves the old or
// the new one.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
)

// version is that of the files' form; one with another version is not used.
const version = 1

// Store is a directory with a file for each workload and for each site. Its zero value has nothing in it.
type Store struct{ Dir string }

const suffix = ".json"

func (s Store) dir() string { return filepath.Join(s.Dir, "workloads") }

func (s Store) path(name string) string { return filepath.Join(s.dir(), name+suffix) }

// Names lists the workloads in lexical order. A store that does not exist is empty.
func (s Store) Names() ([]string, error) {
	return namesIn(s.dir())
}

// namesIn lists what the files of a directory are about; one that does not exist has none.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the state: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), suffix); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// Stamp returns a text that changes whenever the workload's state does: each write makes another file of it.
func (s Store) Stamp(name string) string {
	info, err := os.Lstat(s.path(name))
	if err != nil {
		return ""
	}
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d %d %d", stat.Ino, info.ModTime().UnixNano(), info.Size())
}

// Read returns the state of a workload; the error wraps fs.ErrNotExist when there is none.
func (s Store) Read(name string) (Workload, error) {
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		return Workload{Name: name}, fmt.Errorf("reading the state of %s: %w", name, err)
	}
	var w Workload
	if err := json.Unmarshal(data, &w); err != nil {
		return Workload{Name: name}, fmt.Errorf("the state file %s is damaged: %w", s.path(name), err)
	}
	if w.Version != version || w.Name != name || !w.Current.complete() || w.Trial != nil && !w.Trial.complete() {
		return Workload{Name: name}, fmt.Errorf("the state file %s is not of version %d", s.path(name), version)
	}
	return w, nil
}

// complete tells whether a version can be run; none at all can be left alone.
func (v *Version) complete() bool {
	return v == nil || v.Generation != "" && v.Render != "" && v.Unit != "" && v.Create != ""
}

// Write replaces the state of w.Name, for its owner's eyes only.
func (s Store) Write(w Workload) error {
	w.Version = version
	data, err := json.MarshalIndent(w, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir(), 0o700); err != nil {
		return fmt.Errorf("writing the state of %s: %w", w.Name, err)
	}
	if err := renameio.WriteFile(s.path(w.Name), append(data, '\n'), 0o600, renameio.WithTempDir(s.Dir)); err != nil {
		return fmt.Errorf("writing the state of %s: %w", w.Name, err)
	}
	return nil
}

// Change reads a workload's state, has change work on it, and writes it if it is another one then. No other Change of the
// workload comes between. What cannot be read counts as nothing known.
func (s Store) Change(name string, change func(*Workload) error) error {
	if err := os.MkdirAll(s.dir(), 0o700); err != nil {
		return fmt.Errorf("writing the state of %s: %w", name, err)
	}
	lock, err := os.OpenFile(filepath.Join(s.Dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("locking the state of %s: %w", name, err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking the state of %s: %w", name, err)
	}
	removeLeft(s.Dir, name)
	w, _ := s.Read(name)
	before, _ := json.Marshal(w)
	if err := change(&w); err != nil {
		return err
	}
	if after, err := json.Marshal(w); err == nil && string(after) == string(before) {
		return nil
	}
	return s.Write(w)
}

// Remove forgets a workload.
func (s Store) Remove(name string) error {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the state of %s: %w", name, err)
	}
	return nil
}

// TextDigest digests a descriptor's text: a file that has been written anew, if only with another blank, may be tried again.
func TextDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}
