package generator

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/workload"
)

// Manifest is what a run came to: enough to repeat it without looking at a descriptor.
type Manifest struct {
	Fingerprint string // of the inputs
	Written     string // digest of those that people and tools have written
	Units       []Entry
	Dirs        []string // that hold descriptors
	SiteDirs    []SiteDirs
	Log         []LogLine
}

// LogLine is one finding as text.
type LogLine struct {
	Severity diag.Severity
	Text     string
}

// Entry is one unit of a manifest.
type Entry struct {
	Name   string
	Render workload.Digest
	Wanted bool
}

// ReadManifest returns the manifest of the last run in this boot; the zero value if there was none.
func ReadManifest(p paths.Paths) Manifest {
	var m Manifest
	data, err := os.ReadFile(manifestPath(p))
	if err != nil || json.Unmarshal(data, &m) != nil {
		return Manifest{}
	}
	return m
}

func (m Manifest) write(p paths.Paths) error {
	return writeFile(manifestPath(p), []byte(toJSON(m)), 0o600)
}

// sweep removes from the cache what the manifest does not use.
func sweep(p paths.Paths, m Manifest) error {
	used := make(map[string]bool, len(m.Units))
	for _, u := range m.Units {
		used[string(u.Render)] = true
	}
	entries, err := os.ReadDir(cacheDir(p))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if render, _, _ := strings.Cut(entry.Name(), "."); !used[render] {
			if err := os.Remove(filepath.Join(cacheDir(p), entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
