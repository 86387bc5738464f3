package hooks

import (
	"errors"
	"path/filepath"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/state"
)

// WriteSites writes below dir what a refresh of all sites would write, but for certificates and what is made from them, and returns
// what would be kept of those that have a router. Where the mode is off there are none.
func (h Hooks) WriteSites(dir string) ([]state.Site, diag.List, error) {
	if _, unread, _ := generator.LoadConfig(h.Paths); unread != "" {
		return nil, nil, nil
	}
	sites, found := h.LookAtSites()
	at := h
	at.Paths.NamespacesDir = generator.Below(dir, h.Paths, h.Paths.NamespacesDir)
	var records []state.Site
	var errs []error
	for _, s := range sites {
		if s.Entities == nil {
			continue
		}
		records = append(records, s.record)
		home := at.home(s.Namespace)
		errs = append(errs,
			replace(filepath.Join(home, "internal/platform.yaml"), []byte("platform: "+s.record.Platform+"\n"), 0o644),
			replace(filepath.Join(home, "runtime/router/skrouterd.json"), router.Marshal(s.Entities), 0o600),
			at.writeResources(s, nil))
	}
	return records, found, errors.Join(errs...)
}
