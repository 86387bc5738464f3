package main

import (
	"path/filepath"
	"time"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// checkedSites is what a check has to say about resources of sites.
type checkedSites struct {
	resources int
	found     diag.List
}

// checkSites checks all sites, or the YAML files among those named as resources of one site.
func (c *cli) checkSites(p paths.Paths, named []string) checkedSites {
	var checked checkedSites
	if len(named) == 0 {
		h := hooks.Hooks{Paths: p, Now: time.Now}
		var all []hooks.Site
		all, checked.found = h.LookAtSites()
		for _, s := range all {
			checked.resources += len(s.Resources.All)
		}
		return checked
	}
	var files []source.File
	reader := source.Reader{Root: p.Root}
	for _, path := range named {
		if !isYAML(path) {
			continue
		}
		file, bad := reader.File(path)
		if bad != nil {
			checked.found = append(checked.found, *bad)
			continue
		}
		files = append(files, file)
	}
	if len(files) > 0 {
		r := site.Parse("", files, site.Env{})
		r.CheckPorts(nil)
		checked.resources, checked.found = len(r.All), append(checked.found, r.Findings()...)
	}
	return checked
}

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}
