package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/spf13/cobra"
)

// workloadOf finds the workload that a user means by a name, and its namespace if it is a site's router. Names are those of
// containers, of namespaces, and of services, with .service or without.
func workloadOf(p paths.Paths, name string) (workload, namespace string, err error) {
	in := generator.Load(p)
	containers := append(known(in), described(in)...)
	namespaces, _ := hooks.Hooks{Paths: p}.Namespaces()
	isContainer, isNamespace := slices.Contains(containers, name), slices.Contains(namespaces, name)
	switch {
	case isContainer && isNamespace:
		return "", "", fmt.Errorf("%s is a container and a namespace; write %[1]s.service for the container, or %[2]s.service for the site's router",
			name, generator.SiteWorkload(name))
	case isContainer:
		return name, "", nil
	case isNamespace:
		return generator.SiteWorkload(name), name, nil
	}
	service := strings.TrimSuffix(name, ".service")
	for _, namespace := range namespaces {
		if generator.SiteWorkload(namespace) == service {
			return service, namespace, nil
		}
	}
	if slices.Contains(containers, service) {
		return service, "", nil
	}
	return "", "", noWorkload(name)
}

func noWorkload(name string) error {
	return fmt.Errorf("there is no workload %s; `sitelet status` lists them", name)
}

// notDeployed is about a workload that there is to be.
func notDeployed(name string) error {
	return fmt.Errorf("%s has not been deployed yet; run `sitelet reload %[1]s`", name)
}

// stateOf reads the state of a workload that a user has named, or whose namespace.
func (c *cli) stateOf(cmd *cobra.Command, name string) (state.Workload, error) {
	p, err := c.paths(cmd)
	if err != nil {
		return state.Workload{}, err
	}
	workload, _, err := workloadOf(p, name)
	if err != nil {
		return state.Workload{}, err
	}
	w, err := state.Store{Dir: p.StateDir}.Read(workload)
	if errors.Is(err, fs.ErrNotExist) {
		return w, notDeployed(name)
	}
	if err != nil {
		return w, fmt.Errorf("%w; `sitelet reload` makes it again from the container and its unit", err)
	}
	return w, nil
}
