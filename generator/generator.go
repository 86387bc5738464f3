// Package generator turns descriptors into units: it is what systemd runs at every boot and every daemon-reload
// (systemd.generator(7)). It reads, and writes below the runtime directory and into the directory that systemd names.
package generator

import (
	"errors"
	"io/fs"
	"os"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

// Run writes the units of a scope to dir. Each finding goes to log, a line each with its severity. The error is for what kept
// units from being written.
func Run(p paths.Paths, dir string, log func(diag.Severity, string)) error {
	m := ReadManifest(p)
	tool, err := findTool(p)
	c := &converter{paths: p, tool: tool}
	defer c.end()
	if m.Fingerprint == "" && err == nil {
		c.start(entriesIn(p.ContainersDir))
	}
	in := load(p, tool, err)
	fingerprint := in.Fingerprint()
	err = fs.ErrNotExist
	if m.Fingerprint == fingerprint {
		err = emit(p, m, dir)
	}
	// No manifest, another one's inputs, or a cache that somebody has emptied.
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(cacheDir(p), 0o755); err != nil {
			return err
		}
		m = choose(in, c)
		m.Fingerprint, m.Written = fingerprint, in.Written()
		err = errors.Join(emit(p, m, dir), m.write(p), sweep(p, m))
	}
	for _, line := range m.Log {
		log(line.Severity, line.Text)
	}
	return err
}

// entriesIn counts the entries of a directory; there are none where it cannot be read.
func entriesIn(path string) int {
	dir, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	return len(names)
}
