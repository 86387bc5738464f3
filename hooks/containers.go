package hooks

import (
	"context"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/workload"
)

// containers lists all of a workload that its engine has, running or not. They are found by label: a rename moves names.
func (h Hooks) containers(ctx context.Context, name string) ([]engine.Container, error) {
	return h.Engine.Containers(ctx, "label="+generator.LabelWorkload+"="+name)
}

// named returns the one of them that goes by the workload's own name; nil if none does.
func (h Hooks) named(name string, all []engine.Container) *engine.Container {
	return find(all, func(c engine.Container) bool { return c.Named(h.containerOf(name)) })
}

// generationOf is what a container was made for; empty where it does not say.
func generationOf(c engine.Container) workload.Digest {
	return workload.Digest(c.Labels[generator.LabelGeneration])
}

func find(all []engine.Container, is func(engine.Container) bool) *engine.Container {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// candidateName is the container's name until it takes over the workload's.
func candidateName(name string, generation workload.Digest) string {
	return name + "." + string(generation[:shortLength])
}

// shortLength is how much of a generation is in the name of a container.
const shortLength = 12
