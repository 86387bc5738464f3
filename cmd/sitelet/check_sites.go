package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// checkAllSites checks the resources of all namespaces, and has the descriptors of in checked beside the routers that there are to be.
func checkAllSites(p paths.Paths, in *generator.Inputs) (resources int, found diag.List) {
	h := hooks.Hooks{Paths: p, Now: time.Now}
	sites, found := h.LookAtSites()
	in.Sites = hooks.ReplaceSites(in.Sites, sites)
	for _, s := range sites {
		resources += len(s.Resources.All)
	}
	return resources, append(found, h.Unused(sites)...)
}

// checkResources checks files that were named: those of one directory of resources belong to one site, and all others to another one.
func checkResources(files []source.File) (resources int, found diag.List) {
	slices.SortStableFunc(files, func(a, b source.File) int { return strings.Compare(resourceDir(a.Path), resourceDir(b.Path)) })
	for len(files) > 0 {
		n := 1
		for n < len(files) && resourceDir(files[n].Path) == resourceDir(files[0].Path) {
			n++
		}
		r := site.Parse("", files[:n], site.Env{})
		r.CheckPorts(nil)
		resources, found = resources+len(r.All), append(found, r.Findings()...)
		files = files[n:]
	}
	return resources, found
}

// apart tells descriptors from resources of sites, which are YAML, or JSON in a directory of resources.
func apart(files []source.File) (descriptors, resources []source.File) {
	for _, f := range files {
		if isYAML(f.Path) || filepath.Ext(f.Path) == ".json" && resourceDir(f.Path) != "" {
			resources = append(resources, f)
		} else {
			descriptors = append(descriptors, f)
		}
	}
	return descriptors, resources
}

// resourceDir returns the directory of a namespace's resources that a file lies below; empty for none.
func resourceDir(path string) string {
	const resources = "/input/resources/"
	path, err := filepath.Abs(path)
	if i := strings.LastIndex(path, resources); err == nil && i >= 0 {
		return path[:i+len(resources)]
	}
	return ""
}

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}
