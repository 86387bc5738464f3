package generator

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/state"
)

// newestPodman and newestSystemd are what a tree is rendered for where there is none to ask.
var newestPodman = quadlet.Version{Major: 5, Minor: 8}

const newestSystemd = 257

// WriteTree writes what a run of the generator would write, below dir at the same paths, and the Quadlet files that the hooks make
// for the host's Podman; for these sites, as they are to become.
func WriteTree(p paths.Paths, dir string, sites []state.Site) (diag.List, error) {
	in := Load(p)
	// The state is another host's business, and nothing but dir may be written to.
	in.Names, in.Sites = nil, sites
	at := p
	at.RuntimeDir, at.GeneratorDir = Below(dir, p, p.RuntimeDir), Below(dir, p, p.GeneratorDir)
	inputs := filepath.Join(at.RuntimeDir, "quadlet")
	for _, dir := range []string{cacheDir(at), inputs, at.GeneratorDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	facts := hostFacts{scope: p.Scope, systemd: SystemdVersion(p)}
	if facts.systemd == 0 {
		facts.systemd = newestSystemd
	}
	rendered, found := in.render(nil, facts)
	units, failed := fill(at, rendered)
	found = append(found, failed...)
	if err := emit(at, Manifest{Units: units}, at.GeneratorDir); err != nil {
		return found, err
	}
	tool, err := quadlet.Host(context.Background(), p.Root, "")
	if err != nil {
		tool.Version = newestPodman
		found = append(found, diag.Diagnostic{File: dir, Severity: diag.Warning, Message: "the Quadlet files are for the newest Podman: " + err.Error()})
	}
	return found, writeQuadlets(inputs, rendered, tool.Version)
}

// Below returns where a path of p's lies when dir stands in for /.
func Below(dir string, p paths.Paths, path string) string {
	return filepath.Join(dir, strings.TrimPrefix(path, p.Root))
}

func writeQuadlets(dir string, rendered []Rendered, podman quadlet.Version) error {
	for _, r := range rendered {
		if len(r.Quadlet) == 0 {
			continue // a router on another platform
		}
		text, err := r.Quadlet.Text(podman)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, r.Name+".container"), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
