package hooks

import (
	"bytes"
	"context"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/state"
)

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
