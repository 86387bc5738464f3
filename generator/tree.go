package generator

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
)

// newest is the Podman that a tree is rendered for where there is none to ask.
var newest = Facts{Podman: quadlet.Version{Major: 5, Minor: 8}, Systemd: 257}

// WriteTree writes what a run of the generator would write, below dir at the same paths: Quadlet's input always, and the units
// where there is a Quadlet to make them. Without one the life cycle of each unit stands beside its Quadlet file, as
// NAME.settings.
func WriteTree(p paths.Paths, dir string) (diag.List, error) {
	in := Load(p)
	// The state is another host's business, and nothing but dir may be written to.
	in.Names = nil
	at := p
	at.RuntimeDir = below(dir, p, p.RuntimeDir)
	in.paths.RuntimeDir = at.RuntimeDir
	if err := os.MkdirAll(cacheDir(at), 0o755); err != nil {
		return nil, err
	}
	set, found := in.Check()
	c := converter{paths: at, tool: in.Tool}
	facts, err := in.facts(c.podman)
	if err != nil {
		facts = newest
		facts.Scope = p.Scope
		found = append(found, diag.Diagnostic{File: dir, Severity: diag.Warning, Message: "no units are written: " + err.Error()})
	}
	rendered, refused := Render(set, nil, facts)
	found = append(found, refused...)
	if err != nil {
		return found, writeQuadlets(inputDir(at), rendered, true)
	}
	return found, in.writeUnits(at, below(dir, p, p.GeneratorDir), rendered, &found)
}

// below returns where a path of p's lies when dir stands in for /.
func below(dir string, p paths.Paths, path string) string {
	return filepath.Join(dir, strings.TrimPrefix(path, p.Root))
}

func (in Inputs) writeUnits(at paths.Paths, dir string, rendered []Rendered, found *diag.List) error {
	c := converter{paths: at, tool: in.Tool}
	units, refused := c.convert(rendered)
	*found = append(*found, refused...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := emit(at, Manifest{Units: units}, dir); err != nil {
		return err
	}
	return writeQuadlets(inputDir(at), rendered, false)
}

func writeQuadlets(dir string, rendered []Rendered, settings bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range rendered {
		if err := os.WriteFile(filepath.Join(dir, r.Name+".container"), r.Quadlet, 0o600); err != nil {
			return err
		}
		if !settings {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, r.Name+".settings"), r.Settings, 0o644); err != nil {
			return err
		}
	}
	return nil
}
