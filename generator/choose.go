package generator

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// choose decides which unit each workload gets, and has it in the cache when it returns.
func choose(in Inputs) Manifest {
	known, found := in.Known()
	rendered, more := in.Render(known)
	units, failed := fill(in.paths, in.follow(rendered, known))
	found = slices.Concat(found, more, failed)
	m := Manifest{Units: units, Dirs: in.Dirs, SiteDirs: in.SiteDirs}
	done := map[string]bool{}
	for _, u := range units {
		done[u.Name] = true
	}
	for _, k := range known {
		v := k.Runs()
		if v == nil || done[k.Name] {
			continue
		}
		if path, ok := in.quadletOf(k.Name); ok {
			// Both would write one file of systemd's directory, in any order, and by a link Quadlet would write into the cache.
			found = append(found, diag.Diagnostic{File: path, Severity: diag.Warning,
				Message: fmt.Sprintf("takes the place of the unit of the container %s", k.Name), Hint: "Rename the file, or remove that container."})
			continue
		}
		if err := restore(in.paths, v.Render, []byte(v.Unit), []byte(v.Create)); err != nil {
			found = append(found, diag.Diagnostic{File: in.paths.StateDir, Message: err.Error()})
			continue
		}
		m.Units = append(m.Units, Entry{k.Name, v.Render, v.Wanted && !in.siteGone(k.Name)})
	}
	found.Sort()
	// The kernel's log has room for few of them.
	slices.SortStableFunc(found, func(a, b diag.Diagnostic) int { return cmp.Compare(a.Severity, b.Severity) })
	for _, d := range found {
		m.Log = append(m.Log, LogLine{d.Severity, d.String()})
	}
	return m
}

// siteGone tells whether a workload is the router of a site that was deleted.
func (in Inputs) siteGone(name string) bool {
	return slices.ContainsFunc(in.Sites, func(s state.Site) bool { return s.Router == nil && SiteWorkload(s.Namespace) == name })
}

// follow returns the renderings that are to have their units: all but those whose workload is to stay with what runs. That is
// the version on trial, the last good one where this one was refused, and in mode init whatever was deployed;
// what only another sitelet has worded otherwise is no other version.
func (in Inputs) follow(rendered []Rendered, known []state.Workload) []Rendered {
	by := map[string]*state.Workload{}
	for i := range known {
		by[known[i].Name] = &known[i]
	}
	var desired []Rendered
	for _, r := range rendered {
		k := by[r.Name]
		switch {
		case k == nil || k.Runs() == nil:
		case in.Config.Mode == config.Init && !k.Unproven && (r.Generation != k.Runs().Generation || r.Revision != k.Runs().Revision):
			continue
		case k.Trial != nil && k.Trial.Generation != r.Generation:
			continue
		case k.Refuses(r.Generation, r.Text):
			continue
		}
		desired = append(desired, r)
	}
	return desired
}

// Known reads the state of all workloads. A damaged file is reported, and its workload counts as unknown.
func (in Inputs) Known() ([]state.Workload, diag.List) {
	var known []state.Workload
	var found diag.List
	for _, name := range in.Names {
		w, err := in.store.Read(name)
		if err != nil {
			found = append(found, diag.Diagnostic{File: in.paths.StateDir, Message: err.Error(), Severity: diag.Warning,
				Hint: "It is made again from the container and its unit at the next reload."})
			continue
		}
		known = append(known, w)
	}
	return known, found
}

// Render returns what the descriptors come to, and all findings about the inputs.
func (in Inputs) Render(known []state.Workload) ([]Rendered, diag.List) {
	return in.render(known, hostFacts{scope: in.paths.Scope, systemd: SystemdVersion(in.paths)})
}

func (in Inputs) render(known []state.Workload, facts hostFacts) ([]Rendered, diag.List) {
	set, found := in.Check()
	pins := map[string]string{}
	for _, k := range known {
		pins[k.Name] = k.Pin
	}
	rendered, refused := renderContainers(set, pins, facts)
	for _, s := range in.Sites {
		if s.Router != nil {
			rendered = append(rendered, renderSite(s, facts))
		}
	}
	return rendered, append(found, refused...)
}

// Broken lists the names of workloads whose descriptors are there but cannot be used: they are refused, unreadable, or not to be
// trusted. One that has another name now is none of them.
func Broken(in Inputs, rendered []Rendered, known []state.Workload) []string {
	var names []string
	for _, k := range known {
		v := k.Runs()
		if v == nil || slices.ContainsFunc(rendered, func(r Rendered) bool { return r.Name == k.Name || r.Source == v.Source }) {
			continue
		}
		read := slices.ContainsFunc(in.Files, func(f source.File) bool { return f.Path == v.Source })
		refused := slices.ContainsFunc(in.Found, func(d diag.Diagnostic) bool {
			return d.File == v.Source || strings.HasPrefix(v.Source, d.File+"/")
		})
		if read || refused {
			names = append(names, k.Name)
		}
	}
	return names
}

// fill puts those renderings into the cache that are not there, and returns all that are there then.
func fill(p paths.Paths, all []Rendered) ([]Entry, diag.List) {
	cached := namesIn([]string{cacheDir(p)})
	errs := make([]error, len(all))
	inParallel(len(all), func(i int) {
		if r := all[i]; !cached[filepath.Base(CreatePath(p, r.Render))] {
			errs[i] = restore(p, r.Render, r.Unit, r.Create)
		}
	})
	var units []Entry
	var found diag.List
	for i, r := range all {
		if errs[i] != nil {
			found = append(found, diag.Diagnostic{File: r.Source, Message: "its unit cannot be written: " + errs[i].Error()})
			continue
		}
		units = append(units, Entry{r.Name, r.Render, r.Wanted})
	}
	return units, found
}

// restore puts the two texts of a rendering into the cache, in this order: where the second is, both are whole.
func restore(p paths.Paths, render workload.Digest, unit, create []byte) error {
	if err := writeFile(unitPath(p, render), unit, 0o644); err != nil {
		return err
	}
	return writeFile(CreatePath(p, render), create, 0o600)
}
