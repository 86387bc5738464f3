package doctor

import (
	"context"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
)

// inputs is what the files of a scope come to.
type inputs struct {
	plan         hooks.Planned
	containers   []*descriptor.Container
	sites        []hooks.Site
	records      []state.Site // of the sites that have started once
	certificates []siteCertificates
	known        []state.Workload
	mounts       []string // host directories of descriptors
	hasRun       bool     // the generator, in this boot
	err          error
}

// siteCertificates are those of one namespace.
type siteCertificates struct {
	namespace string
	ages      []pki.Age
}

func lookAtInputs(ctx context.Context, h hooks.Hooks) inputs {
	var in inputs
	if in.plan, in.err = h.Plan(ctx); in.err != nil {
		return in
	}
	loaded := generator.Load(h.Paths)
	in.known, _ = loaded.Known()
	in.containers, _ = loaded.Check()
	in.records = loaded.Sites
	in.hasRun = generator.ReadManifest(h.Paths).Written != ""
	if in.plan.Unread == "" {
		in.sites, _ = h.LookAtSites()
	}
	for _, s := range in.sites {
		if s.Resources.Site != nil {
			in.certificates = append(in.certificates, siteCertificates{s.Namespace, s.Certificates()})
		}
	}
	for _, c := range in.containers {
		for _, m := range c.Mounts {
			in.mounts = append(in.mounts, m.Source)
		}
	}
	slices.Sort(in.mounts)
	in.mounts = slices.Compact(in.mounts)
	return in
}

// namespaces lists those whose site has started once.
func (in inputs) namespaces() []string {
	var names []string
	for _, r := range in.records {
		if r.Router != nil {
			names = append(names, r.Namespace)
		}
	}
	return names
}

// needsPodman tells whether something of what is wanted runs with Podman, or the next thing would.
func (in inputs) needsPodman() bool {
	return len(in.containers) > 0 || in.plan.Config.Platform == "" || in.plan.Config.Platform == "podman" ||
		slices.ContainsFunc(in.records, func(r state.Site) bool { return r.Router != nil && r.Platform == "podman" })
}

// pending tells whether a reload would do something about a workload.
func (in inputs) pending(name string) bool {
	return slices.ContainsFunc(in.plan.Actions, func(a plan.Action) bool { return a.Name == name && a.Pending() })
}
