package hooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/sitelet/sitelet/internal/links"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/ports"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// refreshSite brings a namespace's runtime directory to what its input says: tokens redeemed, ports allocated, certificates
// made, and everything written that the router, the skupper command and other sites read. What is right already is not touched.
// Killed anywhere, the next call goes on; whatever must never move is in the state before anything is written with it.
func (h Hooks) refreshSite(ctx context.Context, namespace string) (Site, error) {
	if err := checkNamespace(namespace); err != nil {
		return Site{}, err
	}
	unlock, err := h.lock("site-"+namespace, nil)
	if err != nil {
		return Site{}, err
	}
	defer unlock()
	if err := h.checkHome(namespace); err != nil {
		return Site{}, err
	}
	record, err := h.siteRecord(namespace)
	if err != nil {
		return Site{}, err
	}
	s := h.readSite(record)
	if h.redeemAll(ctx, &s) {
		s = h.readSite(s.record)
	}
	err = h.registry().Update(ctx, namespace, func(table ports.Table) ([]site.Socket, error) {
		if err := h.resolve(&s, table); err != nil {
			return nil, err
		}
		if s.impossible() {
			return nil, errLeaveAlone
		}
		return s.sockets(), nil
	})
	if err == nil && s.begun() {
		err = h.store().WriteSite(s.record)
	}
	if err != nil && !errors.Is(err, errLeaveAlone) {
		return s, err
	}
	return s, h.writeSite(&s)
}

// begun tells whether there is, or ever was, a Site.
func (s Site) begun() bool { return s.Resources.Site != nil || len(s.record.Ports) > 0 }

// errLeaveAlone keeps what the registry has of a site that has become impossible.
var errLeaveAlone = errors.New("the site has an error")

// sockets are those of the resources, and the ports that are kept for the namespace whether they are in use or not.
func (s Site) sockets() []site.Socket {
	if !s.begun() {
		return nil
	}
	all := s.Resources.Sockets()
	for _, p := range s.record.Ports {
		if !slices.ContainsFunc(all, func(socket site.Socket) bool { return socket.Port == p.Port }) {
			all = append(all, site.Socket{Port: p.Port, Owner: fmt.Sprintf("the port %s of namespace %q", p.Name, s.Namespace)})
		}
	}
	return all
}

// writeSite writes the runtime directory.
func (h Hooks) writeSite(s *Site) error {
	home := h.home(s.Namespace)
	if s.impossible() || s.Resources.Site == nil {
		return h.writeResources(*s, nil)
	}
	runtime := filepath.Join(home, "runtime")
	for _, dir := range []string{"certs", "issuers", "links", "resources", "router"} {
		if err := os.MkdirAll(filepath.Join(runtime, dir), 0o755); err != nil {
			return fmt.Errorf("making the runtime directory of the site %s: %w", s.Namespace, err)
		}
	}
	if _, err := pki.Ensure(runtime, s.wants, h.Now(), rand.Reader); err != nil {
		return fmt.Errorf("making the certificates of the site %s: %w", s.Namespace, err)
	}
	return errors.Join(
		sweep(filepath.Join(home, "internal"), "platform.yaml"),
		sweep(filepath.Join(runtime, "router"), "skrouterd.json"),
		replace(filepath.Join(home, "internal/platform.yaml"), []byte("platform: "+s.record.Platform+"\n"), 0o644),
		replace(filepath.Join(runtime, "router/skrouterd.json"), router.Marshal(s.Entities), 0o600),
		h.writeLinks(*s),
		h.writeSnapshot(*s),
		h.writeResources(*s, nil),
	)
}

func (h Hooks) writeLinks(s Site) error {
	runtime := filepath.Join(h.home(s.Namespace), "runtime")
	files, err := staticLinks(s, runtime)
	if err != nil {
		return err
	}
	return links.Write(filepath.Join(runtime, "links"), files)
}

// staticLinks are the links that others can have to a site, with the certificates that are there now.
func staticLinks(s Site, runtime string) ([]links.File, error) {
	return links.Static(s.Resources, func(name string) (pki.Bundle, []byte, error) { return pki.Load(runtime, name) })
}

// replace writes a file whole, for a reader of any moment, unless it is so already. It is made beside its place, to get the SELinux
// label that is for there. One at a time may write a file, and what one leaves behind that was killed is for sweep or removeOthers.
func replace(path string, data []byte, mode fs.FileMode) error {
	old, err := source.Made(path)
	if info, statErr := os.Lstat(path); err == nil && statErr == nil && bytes.Equal(old, data) && info.Mode() == mode {
		return nil
	}
	err = os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = write(path, data, mode)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// write is renameio.WriteFile, but for the mode of the file that is replaced: upstream lets everyone read some.
func write(path string, data []byte, mode fs.FileMode) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// sweep removes what a replace of a file has left behind that was killed: names that renameio makes of the file's.
func sweep(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+name) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// removeOthers removes what a directory has besides the files to be kept.
func removeOthers(dir string, keep []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
