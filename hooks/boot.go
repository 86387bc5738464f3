package hooks

import (
	"context"
	"errors"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/state"
)

// Boot takes up inputs that the generator could not see: at its time only the root file system need be there. It has the units
// made again if the inputs differ from those that it saw, and has the wanted ones that are new started; the others that the
// boot wants are waiting for this hook already.
func (h Hooks) Boot(ctx context.Context) error {
	if err := h.sweepState(); err != nil {
		return err
	}
	before := generator.ReadManifest(h.Paths)
	if generator.Load(h.Paths).Fingerprint() == before.Fingerprint {
		return nil
	}
	h.Log("descriptors or state have come with a later mount: making the units again")
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	if err := manager.Reload(ctx); err != nil {
		return err
	}
	had := map[string]bool{}
	for _, u := range before.Units {
		had[u.Name] = u.Wanted
	}
	var errs []error
	for _, u := range generator.ReadManifest(h.Paths).Units {
		if u.Wanted && !had[u.Name] {
			errs = append(errs, manager.Enqueue(ctx, u.Name+".service"))
		}
	}
	return errors.Join(errs...)
}

// sweepState removes what writes of the state have left behind that a power cut has ended.
func (h Hooks) sweepState() error {
	workloads, namespaces := h.store().Leftovers()
	var errs []error
	for _, name := range workloads {
		errs = append(errs, h.store().Change(name, func(*state.Workload) error { return nil }))
	}
	for _, namespace := range namespaces {
		errs = append(errs, h.holding("site-"+namespace, func() error { h.store().SweepSite(namespace); return nil }))
	}
	return errors.Join(errs...)
}
