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
	var outcomes []Outcome
	for _, a := range p.Actions {
		if a.Verb != plan.Orphaned || len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		outcomes = append(outcomes, Outcome{a, h.remove(ctx, manager, a.Name)})
	}
	if len(outcomes) == 0 {
		return nil, nil
	}
	return outcomes, manager.Reload(ctx)
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
