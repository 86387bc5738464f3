package hooks

import (
	"bytes"
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
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/links"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/ports"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/internal/state"
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

// ReplaceSites replaces the sites of the state by what they are to become: a plan is made before anything is written.
func ReplaceSites(known []state.Site, sites []Site) []state.Site {
	for _, s := range sites {
		if s.impossible() || !s.begun() {
			continue
		}
		i := slices.IndexFunc(known, func(k state.Site) bool { return k.Namespace == s.Namespace })
		if i >= 0 {
			known[i] = s.record
		} else {
			known = append(known, s.record)
		}
	}
	return known
}

// addSites has a plan do for routers what it does not for containers: change them while they run, stop those whose Site is gone, and
// start them again when it comes back.
func (h Hooks) addSites(ctx context.Context, p *Planned, sites []Site) {
	for i := range p.Actions {
		a := &p.Actions[i]
		j := slices.IndexFunc(sites, func(s Site) bool { return generator.SiteWorkload(s.Namespace) == a.Name })
		if j < 0 {
			continue
		}
		s := sites[j]
		switch {
		case a.Verb == plan.Orphaned:
			a.Verb, a.Note = plan.None, "its Site is gone; `sitelet site remove "+s.Namespace+"` removes what is left"
			if !s.impossible() && h.isActive(ctx, a.Name) {
				a.Verb, a.Note, a.Restart, a.Live = plan.Stop, "its Site is gone", true, true
			}
			if s.impossible() {
				a.Note = "its site has an error; it runs on as it was"
			}
		case a.Verb == plan.None && s.record.Stopped && s.record.Router != nil:
			a.Verb, a.Note = plan.Start, "its Site is back"
		// A version that was refused is no reason for the one that runs not to change.
		case (a.Verb == plan.None || a.Verb == plan.Refused) && s.Entities != nil && h.isActive(ctx, a.Name):
			if changes := h.liveChanges(s); len(changes) > 0 {
				a.Verb, a.Live, a.Changes = plan.Reload, true, changes
			}
			if a.Live && p.Config.Mode == config.Init {
				a.Verb, a.Note = plan.Held, `mode = "init" deploys a site once; set mode = "update" to follow its changes`
			}
		}
	}
}

func (h Hooks) isActive(ctx context.Context, name string) bool {
	manager, err := h.Systemd(ctx)
	return err == nil && manager.Active(ctx, name+".service")
}

// liveChanges lists the entities that the running router has yet to take up.
func (h Hooks) liveChanges(s Site) []plan.Change {
	a := h.applied(s.Namespace)
	var changes []plan.Change
	if a.Config != string(router.Marshal(s.Entities)) {
		old, _ := router.Parse([]byte(a.Config))
		changes = entityChanges(old, s.Entities)
	}
	for _, name := range a.rotated(h.profileDigests(s.Namespace, s.Entities)) {
		i := slices.IndexFunc(s.Entities, func(e router.Entity) bool { return e.Name == name })
		changes = append(changes, plan.Change{Field: s.Entities[i].Type + " " + name, Old: "files from before", New: "new files"})
	}
	return changes
}

func entityChanges(old, now []router.Entity) []plan.Change {
	var changes []plan.Change
	text := func(all []router.Entity, like router.Entity) string {
		i := slices.IndexFunc(all, func(e router.Entity) bool { return e.Type == like.Type && e.Name == like.Name })
		if i < 0 {
			return ""
		}
		return string(bytes.Join(bytes.Fields(router.Marshal(all[i:i+1])), []byte(" ")))
	}
	add := func(e router.Entity) {
		if before, after := text(old, e), text(now, e); before != after {
			changes = append(changes, plan.Change{Field: e.Type + " " + e.Name, Old: before, New: after})
		}
	}
	for _, e := range now {
		add(e)
	}
	for _, e := range old {
		if text(now, e) == "" {
			add(e)
		}
	}
	return changes
}

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

// haveNamespace refuses a namespace that there is not.
func (h Hooks) haveNamespace(namespace string) error {
	if names, _ := h.Namespaces(); !slices.Contains(names, namespace) {
		return fmt.Errorf("there is no namespace %s; `sitelet status` lists those that there are", namespace)
	}
	return nil
}

// RemoveSite stops a namespace's router and removes what was made for it; with purge, its input too.
func (h Hooks) RemoveSite(ctx context.Context, namespace string, purge bool) error {
	if err := checkNamespace(namespace); err != nil {
		return err
	}
	if err := h.haveNamespace(namespace); err != nil {
		return err
	}
	unlock, err := h.lock("reload", func() { h.Log("a reload is running; waiting for it") })
	if err != nil {
		return err
	}
	defer unlock()
	name := generator.SiteWorkload(namespace)
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	if _, err := h.store().Read(name); !errors.Is(err, fs.ErrNotExist) {
		if err := h.remove(ctx, manager, name); err != nil {
			return err
		}
	}
	if err := h.holding("site-"+namespace, func() error { return h.forgetSite(ctx, namespace, purge) }); err != nil {
		return err
	}
	return manager.Reload(ctx)
}

// forgetSite removes the files of a site, its state last: until then the next call goes on.
func (h Hooks) forgetSite(ctx context.Context, namespace string, purge bool) error {
	made := []string{"runtime", "internal"}
	if purge {
		made = []string{""}
	}
	for _, dir := range made {
		if err := os.RemoveAll(filepath.Join(h.home(namespace), dir)); err != nil {
			return fmt.Errorf("removing the site %s: %w", namespace, err)
		}
	}
	if err := os.RemoveAll(h.appliedPath(namespace)); err != nil {
		return fmt.Errorf("removing the site %s: %w", namespace, err)
	}
	return errors.Join(
		h.registry().Update(ctx, namespace, func(ports.Table) ([]site.Socket, error) { return nil, nil }),
		h.store().RemoveSite(namespace),
	)
}

// GenerateLink returns a link to a namespace's site for a host, the first where none is given, and under another name if one is
// given. Where there is none for that host, hosts lists those that there are.
func (h Hooks) GenerateLink(namespace, host, name string) (text []byte, hosts []string, err error) {
	if name != "" && site.CheckName(name) != nil {
		return nil, nil, fmt.Errorf("%q is no name for a Link; write lower-case letters, digits and hyphens", name)
	}
	if err := checkNamespace(namespace); err != nil {
		return nil, nil, err
	}
	if err := h.haveNamespace(namespace); err != nil {
		return nil, nil, err
	}
	s, err := h.lookAtSite(namespace)
	if err != nil {
		return nil, nil, err
	}
	if s.impossible() {
		return nil, nil, fmt.Errorf("the site of namespace %s has an error; `sitelet check` says which", namespace)
	}
	files, err := staticLinks(s, filepath.Join(h.home(namespace), "runtime"))
	if err != nil {
		return nil, nil, err
	}
	if len(files) == 0 && len(s.Resources.RouterAccesses) > 0 {
		return nil, nil, fmt.Errorf("what takes links in namespace %s has not been deployed yet; run `sitelet reload %[1]s`", namespace)
	}
	for _, f := range files {
		switch {
		case host != "" && f.Host != host:
			hosts = append(hosts, f.Host)
		case name == "":
			return f.Data, nil, nil
		default:
			return renamed(f, name), nil, nil
		}
	}
	return nil, hosts, nil
}

// renamed returns a link and its Secret under another name.
func renamed(f links.File, name string) []byte {
	r := site.Parse("", []source.File{{Path: f.Name, Data: f.Data}}, site.Env{})
	var text []byte
	for _, s := range r.Secrets {
		text = append(text, links.Secret(name, s.Data)...)
	}
	for _, l := range r.Links {
		l.TLSCredentials = name
		text = append(text, links.Link(name, l)...)
	}
	return text
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
