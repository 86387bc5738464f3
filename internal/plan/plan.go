// Package plan decides what an update has to do: a function of what is wanted and what is known, of nothing else.
package plan

import (
	"cmp"
	"slices"

	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// Verb is what is done about a workload.
type Verb string

const (
	None     Verb = "none"     // it is as it should be
	Create   Verb = "create"   // it is new
	Recreate Verb = "recreate" // only a new container takes up what has changed: on trial, with rollback
	Reload   Verb = "reload"   // what has changed can change while it runs
	Start    Verb = "start"    // it ought to run, and has not been started in this boot
	Stop     Verb = "stop"     // it is a router whose Site is gone
	Refresh  Verb = "refresh"  // what a router reads is written
	Resume   Verb = "resume"   // an update was cut off: its trial goes on
	Orphaned Verb = "orphaned" // its descriptor is gone; it runs on
	Refused  Verb = "refused"  // this version has failed, and the descriptor has not changed since; or no container can be made of it
	Held     Verb = "held"     // a change that the mode does not allow
)

// Wanted is a workload as its descriptor would have it.
type Wanted struct {
	Name       string
	Source     string // path of the descriptor
	Text       []byte // of the descriptor
	Generation workload.Digest
	Revision   workload.Digest
	Render     workload.Digest // of the unit's text
	AutoStart  bool
	Inputs     []workload.Input
}

// Action is what a plan has for one workload.
type Action struct {
	Name       string
	Verb       Verb
	Generation workload.Digest // that is wanted
	Live       bool            // systemd's units stay as they are
	Restart    bool            // the workload is out of service for a moment
	Changes    []Change        // what decided, in the order of the inputs
	Note       string          // a sentence, or empty
}

// Change is one input that differs. Values of secrets are not in it.
type Change struct {
	Field    string
	Old, New string // empty for none
	Secret   bool
}

// Pending tells whether anything is to be done.
func (a Action) Pending() bool {
	switch a.Verb {
	case None, Orphaned, Refused, Held:
		return false
	}
	return true
}

// Host is what a plan knows of the present.
type Host struct {
	Known   []state.Workload
	Frozen  bool                   // mode init: what has been deployed stays as it is
	Broken  []string               // names whose descriptors are there, but bad
	Unborn  func(name string) bool // whether a unit has not been started since the boot
	Stopped func(name string) bool // whether a trial of it waits for a start, as somebody has stopped it or has yet to start it
}

// Make plans for every workload that is wanted or known, by name.
func Make(wanted []Wanted, host Host) []Action {
	known := map[string]*state.Workload{}
	for i := range host.Known {
		known[host.Known[i].Name] = &host.Known[i]
	}
	var actions []Action
	for _, w := range wanted {
		actions = append(actions, decide(w, known[w.Name], host))
		delete(known, w.Name)
	}
	for i := range host.Known {
		k := &host.Known[i]
		if known[k.Name] != nil && k.Runs() != nil {
			actions = append(actions, abandoned(k, wanted, host))
		}
	}
	slices.SortFunc(actions, func(a, b Action) int { return cmp.Compare(a.Name, b.Name) })
	return actions
}

// Hold plans for a mode in which descriptors are not read: all that is known stays as it is.
func Hold(known []state.Workload) []Action {
	var actions []Action
	for _, k := range known {
		actions = append(actions, Action{Name: k.Name, Verb: Held, Note: `descriptors are not read (mode = "off", or an error in sitelet.toml)`})
	}
	return actions
}

func decide(w Wanted, k *state.Workload, host Host) Action {
	a := Action{Name: w.Name, Verb: None, Generation: w.Generation}
	switch {
	case k == nil || k.Runs() == nil:
		a.Verb = Create
		if k != nil && k.Refuses(w.Generation, w.Text) && !k.Refused.Retry {
			a.Verb, a.Note = Refused, k.Refused.Reason
		} else if !w.AutoStart {
			a.Verb, a.Note = None, "it waits for its first start, which makes its container"
		}
		return a
	case k.Trial != nil && (host.Stopped == nil || !host.Stopped(w.Name)):
		a.Verb = Resume
		return a
	case k.Trial != nil && (k.Trial.Generation == w.Generation || host.Frozen || k.Refuses(w.Generation, w.Text) && !k.Refused.Retry):
		a.Note = "its trial goes on when it is started"
		return a
	case k.Trial != nil:
		// Nobody has seen enough of that version, and nobody wants it any more.
		a.Verb, a.Changes = Recreate, differences(k.Trial.Inputs, w.Inputs)
		return a
	}
	a.Changes = differences(k.Current.Inputs, w.Inputs)
	switch {
	case host.Frozen && !k.Unproven && (k.Current.Generation != w.Generation || k.Current.Revision != w.Revision):
		a.Verb, a.Note = Held, `mode = "init" deploys a descriptor once; set mode = "update" to follow its changes`
	case k.Current.Generation != w.Generation && k.Refuses(w.Generation, w.Text) && !k.Refused.Retry:
		a.Verb, a.Note = Refused, k.Refused.Reason
	case k.Current.Generation != w.Generation:
		a.Verb, a.Restart = Recreate, true
	case k.Current.Revision != w.Revision || k.Current.Render != w.Render:
		a.Verb = Reload
	case w.AutoStart && host.Unborn != nil && host.Unborn(w.Name):
		a.Verb = Start
	}
	return a
}

// abandoned is for what runs and is not wanted, for one of three reasons.
func abandoned(k *state.Workload, wanted []Wanted, host Host) Action {
	a := Action{Name: k.Name, Verb: None}
	if slices.Contains(host.Broken, k.Name) {
		a.Note = "its descriptor has errors; it runs on as it was"
		return a
	}
	a.Verb = Orphaned
	a.Note = "its descriptor is gone; `sitelet prune` removes it"
	for _, w := range wanted {
		if w.Source == k.Runs().Source {
			a.Note = w.Source + " has another container_name now, " + w.Name + "; `sitelet prune` removes the old one"
		}
	}
	return a
}

// differences lists the inputs that differ, in the order of the new ones and then of those that are gone.
func differences(old, now []workload.Input) []Change {
	var out []Change
	for _, in := range now {
		before := find(old, in.Field)
		if before == nil || before.Value != in.Value {
			out = append(out, change(in.Field, before, &in))
		}
	}
	for _, in := range old {
		if find(now, in.Field) == nil {
			out = append(out, change(in.Field, &in, nil))
		}
	}
	return out
}

func change(field string, old, now *workload.Input) Change {
	c := Change{Field: field}
	for _, side := range []struct {
		in  *workload.Input
		out *string
	}{{old, &c.Old}, {now, &c.New}} {
		if side.in == nil {
			continue
		}
		if side.in.Secret {
			c.Secret = true
		}
		*side.out = side.in.Value
	}
	if c.Secret {
		c.Old, c.New = hide(old), hide(now)
	}
	return c
}

func hide(in *workload.Input) string {
	if in == nil {
		return ""
	}
	return "(secret)"
}

func find(inputs []workload.Input, field string) *workload.Input {
	for i := range inputs {
		if inputs[i].Field == field {
			return &inputs[i]
		}
	}
	return nil
}
