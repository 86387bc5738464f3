package pki

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/sitelet/sitelet/internal/site"
)

// request is what one resource asks of one certificate. Requests of one name share one certificate.
type request struct {
	by       *site.Resource // nil: the site's own endpoint
	name     string
	source   string // the name of the user's certificate that may stand in
	need     Need
	subject  string
	hosts    []string
	issuer   string // may be overruled by another request unless stated
	stated   bool
	client   bool   // gets a connect.json
	server   string // of a RouterAccess's client certificate: the certificate it goes with
	given    bool   // none is made: it must be the user's
	trust    bool   // only the ca.crt is used
	optional bool   // the resource works without it
	chain    bool   // of the user's, tls.crt is likely to be meant to come from ca.crt
}

// requests lists what the resources ask for, the most binding first.
func (w *wanting) requests() []request {
	r := w.resources
	all := Need{CA: true, Cert: true}
	own := Need{CA: true, Cert: true, Chain: true}
	local := []string{"127.0.0.1", "localhost"}
	requests := []request{
		{name: LocalServer, need: own, subject: local[0], hosts: local, issuer: LocalCA},
		{name: LocalClient, need: own, subject: local[0], hosts: local, issuer: LocalCA, client: true},
	}
	add := func(q request) {
		if q.source == "" {
			q.source = q.name
		}
		requests = append(requests, q)
	}
	for i := range requests {
		requests[i].source = requests[i].name
	}
	for _, c := range r.Certificates {
		if c.Server || c.Client {
			add(request{by: c.Resource, name: c.Name, need: all, subject: c.Subject, hosts: c.Hosts, issuer: c.CA, stated: true, client: c.Client, chain: true})
		}
	}
	for _, a := range r.RouterAccesses {
		ca, stated := SiteCA, a.Issuer != ""
		if stated {
			ca = a.Issuer
		}
		add(request{by: a.Resource, name: a.TLSCredentials, need: all, subject: a.Name, hosts: accessHosts(a), issuer: ca, stated: stated, given: a.Given, chain: true})
		client := ClientOf(a.TLSCredentials)
		add(request{by: a.Resource, name: client, need: all, subject: client, issuer: ca, stated: stated, client: true, server: a.TLSCredentials, optional: true, chain: true})
	}
	bridge := func(by *site.Resource, credentials, host string, need Need) {
		if credentials != "" {
			add(request{by: by, name: credentials, need: need, subject: host, hosts: []string{host}, issuer: ServiceCA})
		}
	}
	for _, l := range r.Listeners {
		bridge(l.Resource, l.TLSCredentials, l.Host, Need{Cert: true})
	}
	for _, c := range r.Connectors {
		bridge(c.Resource, c.TLSCredentials, c.Host, Need{CA: true, Cert: c.UseClientCert})
	}
	for _, m := range r.MultiKeyListeners {
		bridge(m.Resource, m.TLSCredentials, m.Host, Need{Cert: true, CA: m.RequireClientCert})
	}
	for _, l := range r.Links {
		if l.TLSCredentials != "" {
			add(request{by: l.Resource, name: profileOf(l.TLSCredentials), source: l.TLSCredentials, need: Need{CA: true}, given: true, chain: true})
		}
	}
	for _, c := range r.Connectors {
		if c.TLSCredentials != "" && !c.UseClientCert {
			add(request{by: c.Resource, name: profileOf(c.TLSCredentials), source: c.TLSCredentials, trust: true})
		}
	}
	return requests
}

// accessHosts lists what a RouterAccess may be called. One that takes links on all addresses is reached at the loopback address
// too, and a static link says so.
func accessHosts(a site.RouterAccess) []string {
	bind := a.BindHost
	if Wildcard(bind) {
		bind = "127.0.0.1"
	}
	return union(a.Names, []string{bind})
}

// Wildcard tells whether a host stands for all addresses, which nobody can connect to.
func Wildcard(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// groups puts requests of one name together, in the order of the first of each.
func groups(requests []request) [][]request {
	var all [][]request
	for _, q := range requests {
		i := slices.IndexFunc(all, func(group []request) bool { return group[0].name == q.name })
		if i < 0 {
			all = append(all, nil)
			i = len(all) - 1
		}
		all[i] = append(all[i], q)
	}
	return all
}

func (q request) who() string {
	if q.by == nil {
		return "the site"
	}
	return fmt.Sprintf("the %s %q", q.by.Kind, q.by.Name)
}
