package hooks

import (
	"context"
	"errors"

	"github.com/sitelet/sitelet/generator"
)

// Boot takes up inputs that the generator could not see: at its time only the root file system need be there. It has the units
// made again if the inputs differ from those that it saw, and has the wanted ones that are new started; the others that the
// boot wants are waiting for this hook already.
func (h Hooks) Boot(ctx context.Context) error {
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
