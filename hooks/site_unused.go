package hooks

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/source"
)

// Unused warns of what lies in namespaces and comes to nothing: resources without a Site, and files that are not read.
func (h Hooks) Unused(sites []Site) diag.List {
	var found diag.List
	for _, s := range sites {
		home := h.home(s.Namespace)
		resources := filepath.Join(home, "input/resources")
		if s.Resources.Site == nil && !s.impossible() && len(s.Resources.All) > 0 {
			found = append(found, diag.Diagnostic{File: resources, Severity: diag.Warning,
				Message: fmt.Sprintf("namespace %s has resources and no Site, so nothing runs", s.Namespace), Hint: "Add a document of kind Site."})
		}
		for _, dir := range []string{home, filepath.Join(home, "input")} {
			found = append(found, source.Unread(dir, isResource, "resources are read from input/resources only", "Move it to "+resources+".")...)
		}
		found = append(found, source.Unread(resources, func(name string) bool { return !isResource(name) },
			"is not read: names of resources end in .yaml, .yml or .json", "Rename it, or move it elsewhere.")...)
	}
	return found
}

// isResource tells whether a name is one of a file with resources.
func isResource(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}
