package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/site"
)

// LookAtSites reads all namespaces, and changes nothing. One that cannot be read is a finding, and keeps the router that it has.
func (h Hooks) LookAtSites() (sites []Site, found diag.List) {
	names, found := h.Namespaces()
	var wanted []site.Socket // of the namespaces before, which the registry does not have as long as they are not deployed
	for _, namespace := range names {
		s, err := h.lookAtSite(namespace, wanted...)
		if err != nil && !errors.Is(err, errBadConfig) { // which has findings of its own
			found = append(found, diag.Diagnostic{File: h.home(namespace), Message: err.Error()})
			continue
		}
		reportTokens(&s)
		found = append(found, s.Resources.Findings()...)
		sites = append(sites, s)
		if !s.impossible() {
			wanted = append(wanted, s.sockets()...)
		}
	}
	return sites, found
}

// refreshSites refreshes all namespaces side by side. The error of one is none of the others' business.
func (h Hooks) refreshSites(ctx context.Context) []Outcome {
	names, _ := h.Namespaces()
	names = slices.DeleteFunc(names, h.isFrozen)
	if _, unread, _ := generator.LoadConfig(h.Paths); unread != "" {
		return nil
	}
	failed := make([]error, len(names))
	inTurns(len(names), func(i int) { _, failed[i] = h.refreshSite(ctx, names[i]) })
	var outcomes []Outcome
	for i, err := range failed {
		if err != nil {
			outcomes = append(outcomes, Outcome{plan.Action{Name: generator.SiteWorkload(names[i]), Verb: plan.Refresh}, err})
		}
	}
	return outcomes
}

// watchSites has the path unit of each namespace started where auto-reload is on for all of them, those that have come since too.
func (h Hooks) watchSites(ctx context.Context) error {
	names, _ := h.Namespaces()
	if len(names) == 0 {
		return nil
	}
	manager, err := h.Systemd(ctx)
	if err != nil || !manager.Active(ctx, AllSitesPath) {
		return err
	}
	var errs []error
	for _, namespace := range names {
		if path := SitePath(namespace); !manager.Active(ctx, path) {
			errs = append(errs, manager.Enqueue(ctx, path))
		}
	}
	return errors.Join(errs...)
}

// Units whose being active means that changes are taken up without anybody's doing.
const (
	ContainersPath = "sitelet-containers.path"
	AllSitesPath   = "sitelet-sites.path"
)

// SitePath is that of one namespace.
func SitePath(namespace string) string { return "sitelet-site@" + namespace + ".path" }

// reloadSite has the router's unit do its live change, which is SyncSite.
func (h Hooks) reloadSite(ctx context.Context, manager Manager, namespace string) error {
	name := generator.SiteWorkload(namespace)
	if err := manager.ReloadUnit(ctx, name+".service"); err != nil {
		return fmt.Errorf("%w; see journalctl -u %s", err, name)
	}
	return nil
}

// stopSite stops the router of a namespace whose Site is gone, and remembers that it was not an operator.
func (h Hooks) stopSite(ctx context.Context, manager Manager, namespace string) error {
	if err := h.setStopped(namespace, true); err != nil {
		return err
	}
	return manager.Stop(ctx, generator.SiteWorkload(namespace)+".service")
}

// startSite starts a router that stopSite has stopped.
func (h Hooks) startSite(ctx context.Context, manager Manager, namespace string) error {
	if err := manager.Enqueue(ctx, generator.SiteWorkload(namespace)+".service"); err != nil {
		return err
	}
	return h.setStopped(namespace, false)
}

func (h Hooks) setStopped(namespace string, stopped bool) error {
	return h.holding("site-"+namespace, func() error {
		record, err := h.store().ReadSite(namespace)
		if err != nil {
			return err
		}
		record.Stopped = stopped
		return h.store().WriteSite(record)
	})
}

// siteStamp is another one when anything in the input of a namespace is.
func (h Hooks) siteStamp() string {
	sum := sha256.New()
	names, _ := h.Namespaces()
	for _, namespace := range names {
		_ = filepath.WalkDir(filepath.Join(h.home(namespace), "input"), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if info, err := os.Lstat(path); err == nil {
				fmt.Fprintf(sum, "%s %d %d %d\n", path, info.ModTime().UnixNano(), info.Size(), info.Sys().(*syscall.Stat_t).Ino)
			}
			return nil
		})
	}
	return hex.EncodeToString(sum.Sum(nil))
}
