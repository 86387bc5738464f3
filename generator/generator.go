// Package generator turns descriptors, and what sites are to run, into units: it is what systemd runs at every boot and every daemon-reload
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
	in := Load(p)
	fingerprint := in.Fingerprint()
	m := ReadManifest(p)
	err := fs.ErrNotExist
	if m.Fingerprint == fingerprint {
		err = emit(p, m, dir)
	}
	// No manifest, another one's inputs, or a cache that somebody has emptied.
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(cacheDir(p), 0o755); err != nil {
			return err
		}
		m = choose(in)
		m.Fingerprint, m.Written = fingerprint, in.Written()
		err = errors.Join(emit(p, m, dir), m.write(p), sweep(p, m))
	}
	for _, line := range m.Log {
		log(line.Severity, line.Text)
	}
	return err
}
