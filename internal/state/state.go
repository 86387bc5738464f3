// Package state keeps what outlives a boot: for each workload the unit that its container was made from.
// Generators read it and hooks write it.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/sitelet/sitelet/internal/workload"
)

// version is that of the files' form; one with another version is not used.
const version = 1

// Workload is what runs under a name: the texts it was made from, so that it can be started, stopped and made again when its
// descriptor is gone or has become unreadable.
type Workload struct {
	Version    int
	Name       string
	Source     string // the descriptor's path
	Generation workload.Digest
	Render     workload.Digest // of the texts, as the generator names them
	Wanted     bool            // started at boot
	Unit       string          // NAME.service
	Create     string          // Quadlet's own text of the unit, with the command that makes the container; holds secrets
}

// Store is a directory of one file a workload. Its zero value has nothing in it.
type Store struct{ Dir string }

const suffix = ".json"

func (s Store) path(name string) string { return filepath.Join(s.Dir, "workloads", name+suffix) }

// Names lists the workloads in lexical order. A store that does not exist is empty.
func (s Store) Names() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, "workloads"))
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

// Read returns the state of a workload; the error wraps fs.ErrNotExist when there is none.
func (s Store) Read(name string) (Workload, error) {
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		return Workload{}, fmt.Errorf("reading the state of %s: %w", name, err)
	}
	var w Workload
	if err := json.Unmarshal(data, &w); err != nil {
		return Workload{}, fmt.Errorf("the state file %s is damaged: %w", s.path(name), err)
	}
	if w.Version != version || w.Name != name || w.Render == "" || w.Unit == "" || w.Create == "" {
		return Workload{}, fmt.Errorf("the state file %s is not of version %d", s.path(name), version)
	}
	return w, nil
}

// Write replaces the state of w.Name, for its owner's eyes only: whole or not at all, also after a power cut.
func (s Store) Write(w Workload) error {
	w.Version = version
	data, err := json.MarshalIndent(w, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path(w.Name)), 0o700); err != nil {
		return fmt.Errorf("writing the state of %s: %w", w.Name, err)
	}
	if err := renameio.WriteFile(s.path(w.Name), append(data, '\n'), 0o600, renameio.WithTempDir(s.Dir)); err != nil {
		return fmt.Errorf("writing the state of %s: %w", w.Name, err)
	}
	return nil
}
