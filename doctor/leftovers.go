package doctor

import (
	"context"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// leftovers is what an update has until it is over.
type leftovers struct {
	reloading  bool     // somebody is at it
	resumed    []string // what the next reload would go on with
	marks      []mark
	containers []container
	err        error // why containers are not known
}

// mark is one of hooks.Marks.
type mark struct {
	name, path string
	known      bool // the state has a workload of that name
}

// container is one that is of no version of its workload.
type container struct {
	name, workload string
	pending        bool // a reload does something about the workload, and needs it or removes it
}

func lookAtLeftovers(ctx context.Context, h hooks.Hooks, in inputs) leftovers {
	l := leftovers{reloading: h.Reloading()}
	for _, a := range in.plan.Actions {
		if a.Verb == plan.Resume {
			l.resumed = append(l.resumed, a.Name)
		}
	}
	for _, name := range h.Marks() {
		l.marks = append(l.marks, mark{name, h.MarkPath(name), versions(in.known, name) != nil})
	}
	all, err := h.Engine.Containers(ctx, "label="+generator.LabelWorkload)
	l.err = err
	for _, c := range all {
		name := c.Labels[generator.LabelWorkload]
		if !slices.Contains(versions(in.known, name), workload.Digest(c.Labels[generator.LabelGeneration])) {
			l.containers = append(l.containers, container{nameOf(c), name, in.pending(name)})
		}
	}
	return l
}

func nameOf(c engine.Container) string {
	if len(c.Names) > 0 {
		return c.Names[0]
	}
	return c.ID
}

// versions lists the generations of a workload that may have a container.
func versions(known []state.Workload, name string) []workload.Digest {
	i := slices.IndexFunc(known, func(w state.Workload) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	var all []workload.Digest
	for _, v := range []*state.Version{known[i].Runs(), known[i].Current} {
		if v != nil {
			all = append(all, v.Generation)
		}
	}
	return all
}

// checkLeftovers is about what an update that was cut off has left: what is under way is none.
func checkLeftovers(l leftovers, u units, speak speech) []Finding {
	const check = "leftovers"
	if l.reloading || u.busy("sitelet-reload.service") {
		return one(check, Note, "a reload is under way, and what it has now is no leftover", "")
	}
	underWay := func(name string) bool {
		return u.busy("sitelet-trial@"+name+".service") || u.busy("sitelet-rollback@"+name+".service") || u.busy("sitelet-create@"+name+".service")
	}
	var found []Finding
	add := func(level Level, message, hint string) { found = append(found, Finding{check, level, message, hint}) }
	for _, name := range l.resumed {
		switch {
		case u.err != nil:
			add(Note, "an update of "+name+" is under way or was cut off, and systemd would know which", "")
		case underWay(name):
			add(Note, "an update of "+name+" is under way", "")
		default:
			add(Error, "an update of "+name+" was cut off", "Run "+speak.sitelet("reload")+", which goes on with it.")
		}
	}
	for _, m := range l.marks {
		switch {
		case slices.Contains(l.resumed, m.name) || underWay(m.name):
		case m.known && u.err != nil:
			add(Note, m.path+" marks an update of "+m.name+", which systemd would know more of", "")
		case m.known:
			add(Warning, m.path+" marks a first start of "+m.name+" that nobody watches", "Run "+speak.systemctl("start sitelet-trial@"+m.name+".service")+", which does.")
		default:
			add(Warning, m.path+" marks an update of what is not known", "Run `rm "+m.path+"`.")
		}
	}
	for _, c := range l.containers {
		switch {
		case underWay(c.workload):
		case c.pending:
			add(Warning, "the container "+c.name+" is of no version of "+c.workload, "Run "+speak.sitelet("reload")+", which takes it up or removes it.")
		default:
			add(Warning, "the container "+c.name+" is of no version of "+c.workload+" that is kept", "Run `podman rm --force "+c.name+"`.")
		}
	}
	if l.err != nil {
		found = append(found, unknown(check, errNoPodman)...)
	}
	if found == nil {
		return one(check, OK, "none", "")
	}
	return found
}
