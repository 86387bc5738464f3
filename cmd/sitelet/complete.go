package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/paths"
)

// complete has a shell complete the names that a command takes, at most so many, with what there is of them at that moment. A
// failure is no names: there is nobody to tell.
func (c *cli) complete(most int, names func(paths.Paths) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		p, err := c.paths(cmd)
		if err != nil || len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := slices.DeleteFunc(names(p), func(name string) bool { return slices.Contains(args, name) })
		slices.Sort(found)
		return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag has a shell complete the value of an option of cmd's.
func completeFlag(cmd *cobra.Command, name string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such option
	}
}

// manyNames is how many names a command takes that takes any number.
const manyNames = 1 << 20

// workloads are those that the state knows, by the names of their services.
func workloads(p paths.Paths) []string { return generator.Load(p).Names }

func namespaces(p paths.Paths) []string {
	names, _ := hooks.Hooks{Paths: p}.Namespaces()
	return names
}

// containersAndNamespaces are those of the state and of the input.
func containersAndNamespaces(p paths.Paths) []string {
	in := generator.Load(p)
	return slices.Concat(known(in), described(in), namespaces(p))
}

// orphans are containers of the state that no descriptor is about.
func orphans(p paths.Paths) []string {
	in := generator.Load(p)
	described := described(in)
	return slices.DeleteFunc(known(in), func(name string) bool { return slices.Contains(described, name) })
}

// known lists the containers of the state, without the routers of sites.
func known(in generator.Inputs) []string {
	names := slices.Clone(in.Names)
	for _, s := range in.Sites {
		names = slices.DeleteFunc(names, func(name string) bool { return name == generator.SiteWorkload(s.Namespace) })
	}
	return names
}

// described lists the containers that have a good descriptor.
func described(in generator.Inputs) []string {
	set, _ := in.Check()
	names := make([]string, len(set))
	for i, container := range set {
		names[i] = container.Name
	}
	return names
}
