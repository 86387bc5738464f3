package hooks

import (
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/ports"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/state"
)

// resolve gives a site what its resources leave to the host: identity, ports, certificates. Then it knows the router's entities.
// What is allocated goes into the record.
func (h Hooks) resolve(s *Site, table ports.Table) error {
	if s.impossible() {
		s.Resources.CheckPorts(table.Taken) // for the findings
		return nil
	}
	if s.Resources.Site == nil {
		s.record.Router = nil
		return nil
	}
	if err := h.identify(s); err != nil {
		return err
	}
	run := h.running(*s)
	for again := true; again; {
		before := s.Resources.Fallbacks()
		if err := h.allocate(s, table); err != nil {
			return err
		}
		h.check(s, table)
		if s.impossible() {
			return nil
		}
		s.Entities = s.entities(run)
		// What has come to stand in for a resource has ports and certificates of its own.
		again = s.Resources.Fallbacks() != before
	}
	return nil
}

// check leaves out what cannot have its ports or its certificates, and says which certificates and proxies the rest is to have.
func (h Hooks) check(s *Site, table ports.Table) {
	local := site.SocketAt("127.0.0.1", s.record.Port(localPort))
	local.Owner = "the router's own endpoint"
	s.Resources.CheckPorts(append(slices.Clone(table.Taken), local))
	s.given.LocalPort = s.record.Port(localPort)
	s.wants = pki.Wanted(s.Resources, s.given, h.Now())
	s.proxies = h.usedProxies(*s)
	for _, p := range s.proxies {
		if p.Password {
			s.wants = pki.WithPassword(s.wants, p.Name, p.password)
		}
	}
}

// entities are those for one version of the router.
func (s Site) entities(run state.Router) []router.Entity {
	record := s.record
	record.Router = &run
	id := router.Identity{RouterID: record.RouterID(), SiteID: record.ID, Namespace: s.Namespace, Platform: record.Platform,
		Version: run.Release, Base: router.BaseVariable, LocalPort: record.Port(localPort)}
	if record.Platform == "linux" {
		id.Base = run.Home
	}
	var profiles []router.Profile
	for _, p := range pki.Profiles(s.wants) {
		profiles = append(profiles, router.Profile(p))
	}
	var proxies []router.Proxy
	for _, p := range s.proxies {
		proxies = append(proxies, p.Proxy)
	}
	// A version that was gone back to may have had another mode than the Site asks for now.
	now, then := s.Resources.Site, *s.Resources.Site
	then.Edge = run.Edge
	s.Resources.Site = &then
	defer func() { s.Resources.Site = now }()
	router.CheckNames(s.Resources, id, profiles, proxies)
	return router.Config(s.Resources, id, profiles, proxies)
}

// running returns the version of the router that the service has now, which may be one that was gone back to, or else the one
// that is wanted.
func (h Hooks) running(s Site) state.Router {
	if m, err := h.read(generator.SiteWorkload(s.Namespace)); err == nil && m.data.Site != nil {
		return m.data.Site.Router
	}
	return *s.record.Router
}
