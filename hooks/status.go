package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

// Status is what is known of all workloads.
type Status struct {
	Workloads []WorkloadStatus // containers and then sites, by name
	Found     diag.List        // about the inputs
	Host      diag.List        // about what the host lacks
	Unread    string           // why descriptors and sites are not read; empty where they are
	Unknown   []error          // what could not be asked, and so is left out
}

// WorkloadStatus is what is known of one.
type WorkloadStatus struct {
	plan.Action
	Namespace string // of the site whose router it is; empty for a container
	Container string
	Source    string // the file that it came from
	Image     string // empty for platform linux
	Platform  string
	Known     state.Workload // by its name at least
	Created   time.Time      // of its generation; zero where that is not known
	State     string         // systemd's ActiveState; empty where systemd cannot be asked
	Health    string         // "starting", "healthy" or "unhealthy"; empty where there is no check, or nothing runs
	Router    *SiteState     // of a site; nil where the site cannot be read

	// Of these, Detail knows.
	Since   time.Time // when State came to be
	Failure string    // why the unit has failed, or is to be started again
	Output  []string  // the last lines of its container then; none where that has written nothing, or there is none
	Journal []string  // and those of its unit
}

// Kind is "container" or "site".
func (w WorkloadStatus) Kind() string {
	if w.Namespace != "" {
		return "site"
	}
	return "container"
}

// Called is the name that people know the workload by: a site's is its namespace.
func (w WorkloadStatus) Called() string { return cmp.Or(w.Namespace, w.Name) }

// Status asks what is known of workloads: of all, or of those that go by a name, as Called has it or their units. systemd and Podman
// are asked once for all of them, and running routers side by side.
func (h Hooks) Status(ctx context.Context, name string) (Status, error) {
	p, err := h.Plan(ctx)
	if err != nil {
		return Status{}, err
	}
	s := Status{Found: p.Found, Host: p.Host, Unread: p.Unread}
	for _, a := range p.Actions {
		if w := described(p, a); name == "" || name == w.Name || name == w.Name+".service" || name == w.Called() {
			s.Workloads = append(s.Workloads, w)
		}
	}
	slices.SortStableFunc(s.Workloads, func(a, b WorkloadStatus) int {
		return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(a.Called(), b.Called()))
	})
	if len(s.Workloads) > 0 {
		s.note("the state of units is not known", h.lookAtUnits(ctx, s.Workloads))
		s.note("the health of containers is not known", h.lookAtContainers(ctx, s.Workloads))
		h.lookAtRouters(ctx, p.sites, s.Workloads)
	}
	return s, nil
}

// described returns what files say of a workload.
func described(p Planned, a plan.Action) WorkloadStatus {
	w := WorkloadStatus{Action: a, Container: a.Name, Known: state.Workload{Name: a.Name}}
	if w.Namespace = namespaceOf(p, a.Name); w.Namespace != "" {
		w.Container = generator.RouterContainer(w.Namespace)
	}
	if i := slices.IndexFunc(p.known, func(k state.Workload) bool { return k.Name == a.Name }); i >= 0 {
		w.Known = p.known[i]
	}
	var inputs []workload.Input
	if v := w.Known.Runs(); v != nil {
		w.Source, inputs = v.Source, v.Inputs
	} else if i := slices.IndexFunc(p.rendered, func(r generator.Rendered) bool { return r.Name == a.Name }); i >= 0 {
		w.Source, inputs = p.rendered[i].Source, p.rendered[i].Inputs
	}
	w.Platform = "podman"
	for _, in := range inputs {
		switch in.Field {
		case "image.name", "router.image":
			w.Image = in.Value
		case "platform":
			w.Platform = in.Value
		}
	}
	return w
}

// namespaceOf returns the namespace whose router a workload is, which may be one that is yet to be made.
func namespaceOf(p Planned, name string) string {
	for _, s := range p.inputs.Sites {
		if generator.SiteWorkload(s.Namespace) == name {
			return s.Namespace
		}
	}
	return ""
}

func (s *Status) note(what string, err error) {
	if err != nil {
		s.Unknown = append(s.Unknown, fmt.Errorf("%s: %w", what, err))
	}
}

// lookAtUnits asks systemd for the states of all units.
func (h Hooks) lookAtUnits(ctx context.Context, all []WorkloadStatus) error {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	units := make([]string, len(all))
	for i, w := range all {
		units[i] = w.Name + ".service"
	}
	states, err := manager.States(ctx, units)
	for i, unit := range units {
		all[i].State = states[unit]
	}
	return err
}

// lookAtContainers asks Podman for all containers: how they are, and how old. Where a container is none of Podman's, or gone, the
// history has its age.
func (h Hooks) lookAtContainers(ctx context.Context, all []WorkloadStatus) error {
	var err error
	named := map[string]engine.Container{}
	if slices.ContainsFunc(all, func(w WorkloadStatus) bool { return w.Platform == "podman" }) {
		var containers []engine.Container
		containers, err = h.Engine.Containers(ctx, "label="+generator.LabelWorkload)
		for _, c := range containers {
			if len(c.Names) > 0 {
				named[c.Names[0]] = c
			}
		}
	}
	for i := range all {
		w := &all[i]
		w.Created = takenUp(w.Known)
		c, ok := named[w.Container]
		if !ok || c.Labels[generator.LabelWorkload] != w.Name {
			continue
		}
		w.Health = c.Health()
		if v := w.Known.Runs(); v != nil && generationOf(c) == v.Generation && c.Created > 0 {
			w.Created = time.Unix(c.Created, 0).UTC()
		}
	}
	return err
}

// takenUp is when the generation that runs became the current one, as far as the history goes back.
func takenUp(w state.Workload) time.Time {
	for _, e := range slices.Backward(w.History) {
		if v := w.Runs(); v != nil && e.Generation == v.Generation && (e.Result == "created" || e.Result == "updated") {
			return e.At
		}
	}
	return time.Time{}
}

// lookAtRouters asks the routers that run how they are, all at once: one that does not answer takes its time.
func (h Hooks) lookAtRouters(ctx context.Context, sites []Site, all []WorkloadStatus) {
	var wait sync.WaitGroup
	for i := range all {
		w := &all[i]
		if w.Namespace == "" {
			continue
		}
		var s Site
		if j := slices.IndexFunc(sites, func(s Site) bool { return s.Namespace == w.Namespace }); j >= 0 {
			s = sites[j]
		} else {
			var err error
			if s, err = h.lookAtSite(w.Namespace); err != nil {
				continue
			}
			reportTokens(&s)
		}
		wait.Go(func() { h.lookAtRouter(ctx, s, w) })
	}
	wait.Wait()
}

// lookAtRouter says how a router is by whether it answers: its container has no health check.
func (h Hooks) lookAtRouter(ctx context.Context, s Site, w *WorkloadStatus) {
	var router SiteState
	w.Health = ""
	switch w.State {
	case "active", "reloading":
		router = h.askRouter(ctx, s)
		w.Health = "unhealthy"
		if router.Answers {
			w.Health = "healthy"
		}
	case "activating":
		router = unasked(s, "it is starting")
		w.Health = "starting"
	case "":
		router = unasked(s, "it is not known whether it runs")
	default:
		router = unasked(s, "it does not run")
	}
	w.Router = &router
}

// Detail finds out what costs a question for each workload: since when it is in its state, and if its unit has failed, or is to be
// started again after it has, why, with the last lines of both logs.
func (h Hooks) Detail(ctx context.Context, w *WorkloadStatus) error {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return nil // Status has said so
	}
	unit := w.Name + ".service"
	u, err := manager.Unit(ctx, unit)
	if err != nil {
		return err
	}
	w.State, w.Since = u.ActiveState, u.Since
	if u.ActiveState == "failed" && !h.wasStopped(w.Name, u) || u.ActiveState == "activating" && u.Result != "success" && u.Result != "" {
		w.Failure = why(u)
		w.Output, w.Journal = h.engineOf(w.Name).Logs(ctx, w.Container, logLines), manager.LastLines(ctx, unit, logLines)
	}
	return nil
}

// CertificateEnd is when a certificate of a namespace ends.
type CertificateEnd struct {
	Namespace string
	pki.End
}

// CertificateEnds lists when the certificates of all sites end. The error is about those that cannot be read; the others are listed
// all the same.
func (h Hooks) CertificateEnds() ([]CertificateEnd, error) {
	names, _ := h.Namespaces()
	var all []CertificateEnd
	var errs []error
	for _, namespace := range names {
		ends, err := pki.Ends(filepath.Join(h.home(namespace), "runtime"))
		for _, end := range ends {
			all = append(all, CertificateEnd{namespace, end})
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}
