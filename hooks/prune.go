package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sitelet/sitelet/internal/plan"
)

// Prune removes workloads without a descriptor, all or only those named: it stops them, removes their containers, forgets them,
// and then has their units go, in this order, for without its unit a container cannot be stopped properly.
func (h Hooks) Prune(ctx context.Context, p Planned, names []string) ([]Outcome, error) {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return nil, err
	}
	var orphans []plan.Action
	var units []string
	for _, a := range p.Actions {
		if a.Verb == plan.Orphaned && (len(names) == 0 || slices.Contains(names, a.Name)) {
			orphans, units = append(orphans, a), append(units, a.Name+".service")
		}
	}
	if len(orphans) == 0 {
		return nil, nil
	}
	var outcomes []Outcome
	for _, a := range orphans {
		err := notRequired(ctx, manager, a.Name+".service", units)
		if err == nil {
			err = h.remove(ctx, manager, a.Name)
		}
		outcomes = append(outcomes, Outcome{a, err})
	}
	return outcomes, manager.Reload(ctx)
}

// notRequired refuses to stop a unit with which others would stop that are not to be pruned.
func notRequired(ctx context.Context, manager Manager, unit string, pruned []string) error {
	u, err := manager.Unit(ctx, unit)
	if err != nil {
		return err
	}
	for _, other := range dependants(ctx, manager, u) {
		if !slices.Contains(pruned, other) {
			return fmt.Errorf("%s requires it and would stop, too; have it require it no more, or stop it first", other)
		}
	}
	return nil
}

func (h Hooks) remove(ctx context.Context, manager Manager, name string) error {
	h = h.at(name)
	if err := manager.Stop(ctx, name+".service"); err != nil {
		return err
	}
	all, err := h.containers(ctx, name)
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := h.Engine.Kill(ctx, c.ID); err != nil {
			return fmt.Errorf("removing the container of %s: %w", name, err)
		}
	}
	if err := os.RemoveAll(h.dir(name)); err != nil {
		return err
	}
	return errors.Join(h.store().Remove(name), h.unmark(name))
}
