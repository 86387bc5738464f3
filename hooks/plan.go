package hooks

import (
	"context"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
)

// Planned is a plan with what it was made from.
type Planned struct {
	Actions []plan.Action
	Found   diag.List // about the inputs
	Host    diag.List // about what the host lacks to carry it out
	Unread  string    // why descriptors and sites are not read; empty where they are
	Config  config.Config

	inputs   generator.Inputs
	known    []state.Workload
	sites    []Site // none where they are not read
	rendered []generator.Rendered
	unmade   []unmade
	stale    bool // systemd has units of what was written before
}

// Pending tells whether anything is to be done.
func (p Planned) Pending() bool {
	return p.stale || slices.ContainsFunc(p.Actions, func(a plan.Action) bool {
		return a.Pending() || a.Verb == plan.Orphaned && p.Config.Prune
	})
}

// Findings are all of them, those about the host first.
func (p Planned) Findings() diag.List { return slices.Concat(p.Host, p.Found) }

// Stale tells whether systemd has units of files that have changed since, or the generator has not run in this boot.
func (p Planned) Stale() bool { return p.stale }

// restrict has a plan do nothing but what concerns one workload; an empty name is all of them.
func (p *Planned) restrict(only string) {
	if only != "" {
		p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool { return a.Name != only })
	}
}

// Of returns the plan for one workload, without what other files come to.
func (p Planned) Of(workload string) Planned {
	p.Actions, p.stale = slices.Clone(p.Actions), false
	p.restrict(workload)
	return p
}

// changesUnits tells whether systemd has to read its units anew: routers change without.
func (p Planned) changesUnits() bool {
	return p.stale || slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Pending() && !a.Live })
}

// Plan reads the inputs and says what an update would do about them. It asks systemd which units have not been started in this
// boot, the host's quadlet what it makes of new containers, and the engine nothing.
func (h Hooks) Plan(ctx context.Context) (Planned, error) {
	in := generator.Load(h.Paths)
	var sites []Site
	var siteFound diag.List
	if in.Unread == "" {
		sites, siteFound = h.LookAtSites()
		in.Sites = ReplaceSites(in.Sites, sites)
	}
	p := Planned{inputs: in, Config: in.Config, Unread: in.Unread}
	known, found := in.Known()
	rendered, more := in.Render(known)
	p.known, p.sites, p.rendered, p.Found = known, sites, rendered, slices.Concat(found, more, siteFound)
	p.Found.Sort()
	if in.Unread != "" {
		p.Actions = plan.Hold(known)
		return p, nil
	}
	p.stale = generator.ReadManifest(h.Paths).Written != in.Written()
	host := plan.Host{Known: known, Frozen: in.Config.Mode == config.Init, Broken: generator.Broken(in, rendered, known)}
	host.Unborn, host.Stopped = h.idle(ctx, known)
	var wanted []plan.Wanted
	for _, r := range rendered {
		wanted = append(wanted, plan.Wanted{Name: r.Name, Source: r.Source, Text: r.Text, Generation: r.Generation,
			Revision: r.Revision, Render: r.Render, AutoStart: r.Wanted, Inputs: r.Inputs})
	}
	p.Actions = plan.Make(wanted, host)
	h.addSites(ctx, &p, sites)
	h.addMarked(&p, known)
	h.refuseUnmade(ctx, &p)
	return p, nil
}

// idle asks systemd for the workloads' units that are inactive: those that have not been started since the boot, and those whose
// trial waits for a start. Without systemd there are none.
func (h Hooks) idle(ctx context.Context, known []state.Workload) (unborn, stopped func(name string) bool) {
	none := func(string) bool { return false }
	manager, err := h.Systemd(ctx)
	if err != nil {
		return none, none
	}
	inactive, err := manager.Inactive(ctx)
	if err != nil {
		return none, none
	}
	unborn = func(name string) bool {
		if !slices.Contains(inactive, name+".service") {
			return false
		}
		u, err := manager.Unit(ctx, name+".service")
		return err == nil && !u.Queued && u.InvocationID == ""
	}
	stopped = func(name string) bool {
		u, err := manager.Unit(ctx, name+".service")
		return err == nil && slices.ContainsFunc(known, func(w state.Workload) bool {
			return w.Name == name && w.Trial != nil && rests(u, w.Trial.Wanted)
		})
	}
	return unborn, stopped
}

// addMarked has a settling or a rollback that was cut off go on. The mark of a trial is the trial's, and that of a first version
// its own.
func (h Hooks) addMarked(p *Planned, known []state.Workload) {
	for i, a := range p.Actions {
		k := slices.IndexFunc(known, func(w state.Workload) bool { return w.Name == a.Name })
		if k >= 0 && known[k].Trial == nil && !known[k].Unproven && h.marked(a.Name) {
			p.Actions[i].Verb = plan.Resume
		}
	}
}
