package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/ports"
	"github.com/sitelet/sitelet/internal/site"
)

// haveNamespace refuses a namespace that there is not.
func (h Hooks) haveNamespace(namespace string) error {
	if names, _ := h.Namespaces(); !slices.Contains(names, namespace) {
		return fmt.Errorf("there is no namespace %s; `sitelet status` lists those that there are", namespace)
	}
	return nil
}

// RemoveSite stops a namespace's router and removes what was made for it; with purge, its input too.
func (h Hooks) RemoveSite(ctx context.Context, namespace string, purge bool) error {
	if err := checkNamespace(namespace); err != nil {
		return err
	}
	if err := h.haveNamespace(namespace); err != nil {
		return err
	}
	unlock, err := h.lock("reload", func() { h.Log("a reload is running; waiting for it") })
	if err != nil {
		return err
	}
	defer unlock()
	name := generator.SiteWorkload(namespace)
	manager, err := h.Systemd(ctx)
	if err != nil {
		return err
	}
	if _, err := h.store().Read(name); !errors.Is(err, fs.ErrNotExist) {
		if err := h.remove(ctx, manager, name); err != nil {
			return err
		}
	}
	if err := h.holding("site-"+namespace, func() error { return h.forgetSite(ctx, namespace, purge) }); err != nil {
		return err
	}
	return manager.Reload(ctx)
}

// forgetSite removes the files of a site, its state last: until then the next call goes on.
func (h Hooks) forgetSite(ctx context.Context, namespace string, purge bool) error {
	made := []string{"runtime", "internal"}
	if purge {
		made = []string{""}
	}
	for _, dir := range made {
		if err := os.RemoveAll(filepath.Join(h.home(namespace), dir)); err != nil {
			return fmt.Errorf("removing the site %s: %w", namespace, err)
		}
	}
	if err := os.RemoveAll(h.appliedPath(namespace)); err != nil {
		return fmt.Errorf("removing the site %s: %w", namespace, err)
	}
	return errors.Join(
		h.registry().Update(ctx, namespace, func(ports.Table) ([]site.Socket, error) { return nil, nil }),
		h.store().RemoveSite(namespace),
	)
}
