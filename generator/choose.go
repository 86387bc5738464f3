package generator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/workload"
)

// choose decides which unit each workload gets, and has it in the cache when it returns: the one of its descriptor, or, where
// there is no good one or it may not be followed, the one that its container was made from.
func choose(in Inputs, a *ahead) Manifest {
	var m Manifest
	rendered, found := in.render(a)
	c := converter{in.paths, in.Tool, a}
	units, refused := c.convert(rendered)
	m.Units, found = units, append(found, refused...)
	done := map[string]bool{}
	for _, u := range units {
		done[u.Name] = true
	}
	for _, name := range in.Names {
		if done[name] {
			continue
		}
		if path, ok := in.quadletOf(name); ok {
			// Both would write one file of systemd's directory, in any order, and by a link Quadlet would write into the cache.
			found = append(found, diag.Diagnostic{File: path, Severity: diag.Warning,
				Message: fmt.Sprintf("takes the place of the unit of the container %s", name), Hint: "Rename the file, or remove that container."})
			continue
		}
		entry, err := in.recall(name)
		if err != nil {
			found = append(found, diag.Diagnostic{File: in.paths.StateDir, Message: err.Error(), Severity: diag.Warning})
			continue
		}
		m.Units = append(m.Units, entry)
	}
	found.Sort()
	// The kernel's log has room for few of them.
	slices.SortStableFunc(found, func(a, b diag.Diagnostic) int { return cmp.Compare(a.Severity, b.Severity) })
	for _, d := range found {
		m.Log = append(m.Log, LogLine{d.Severity, d.String()})
	}
	return m
}

// render returns what is to be made of the descriptors, and all findings about the inputs.
func (in Inputs) render(a *ahead) ([]Rendered, diag.List) {
	set, found := in.Check()
	if len(set) == 0 {
		return nil, found
	}
	facts, err := in.facts(a)
	if err != nil {
		return nil, append(found, diag.Diagnostic{File: "podman", Message: err.Error()})
	}
	rendered, refused := Render(set, facts)
	found = append(found, refused...)
	if in.Config.Mode != config.Init {
		return rendered, found
	}
	known := map[string]bool{}
	for _, name := range in.Names {
		known[name] = true
	}
	kept := rendered[:0]
	for _, r := range rendered {
		if !known[r.Name] {
			kept = append(kept, r)
		}
	}
	return kept, found
}

// facts asks the host what it can do, and refuses one that can do too little.
func (in Inputs) facts(a *ahead) (Facts, error) {
	if in.ToolErr != nil {
		return Facts{}, in.ToolErr
	}
	facts, err := readFacts(in.paths, in.Tool, func() (quadlet.Version, error) { return a.askVersion(in.Tool) })
	if err != nil {
		return Facts{}, err
	}
	if !facts.Podman.AtLeast(quadlet.Minimum) {
		return Facts{}, fmt.Errorf("Podman %v is older than %v, the first that sitelet can work with; install a newer one", facts.Podman, quadlet.Minimum)
	}
	return facts, nil
}

// recall puts the unit that a workload's container was made from back into the cache.
func (in Inputs) recall(name string) (Entry, error) {
	w, err := in.store.Read(name)
	if err != nil {
		return Entry{}, err
	}
	return Entry{name, w.Render, w.Wanted}, Restore(in.paths, w.Render, []byte(w.Unit), []byte(w.Create))
}

// Restore puts the two texts of a rendering into the cache.
func Restore(p paths.Paths, render workload.Digest, unit, create []byte) error {
	if err := writeFile(UnitPath(p, render), unit, 0o644); err != nil {
		return err
	}
	return writeFile(CreatePath(p, render), create, 0o600)
}
