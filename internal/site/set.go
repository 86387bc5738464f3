package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/spelling"
)

// checkTwice refuses all resources of one kind and name.
func (rs *Resources) checkTwice() {
	for start := 0; start < len(rs.All); {
		end := start + 1
		for end < len(rs.All) && rs.All[end].Kind == rs.All[start].Kind && rs.All[end].Name == rs.All[start].Name {
			end++
		}
		for i := start; i < end && end-start > 1; i++ {
			other := start
			if i == start {
				other = start + 1
			}
			d := rs.All[i].At("metadata.name")
			d.Message = fmt.Sprintf("there is another %s %s in %s", rs.All[i].Kind, quote(rs.All[i].Name), rs.All[other].place())
			d.Hint = "Remove one of them."
			rs.All[i].Problems = append(rs.All[i].Problems, d)
		}
		start = end
	}
}

// place says where the resource is, for messages.
func (r *Resource) place() string { return fmt.Sprintf("%s:%d:%d", r.File, r.Line, r.Column) }

// checkSite finds out whether there is a Site to be used.
func (rs *Resources) checkSite() {
	var sites []*Resource
	for _, r := range rs.All {
		if r.Kind == "Site" {
			sites = append(sites, r)
		}
	}
	for i, r := range sites {
		if len(sites) == 1 || r.Name == sites[(i+1)%len(sites)].Name {
			continue
		}
		d := r.At("metadata.name")
		d.Message = fmt.Sprintf("a namespace has one Site, and %s is in %s", quote(sites[(i+1)%len(sites)].Name), sites[(i+1)%len(sites)].place())
		d.Hint = "Remove one of them."
		rs.Quarantine(r, d)
	}
	rs.SiteErr = len(sites) > 1 || len(sites) == 1 && sites[0].Quarantined() || len(sites) == 0 && rs.siteMayBeMissed()
}

// siteMayBeMissed tells whether one of the documents that could not be told may be the Site. To stop a running site for a slip in
// its file would be wrong.
func (rs *Resources) siteMayBeMissed() bool {
	return rs.Problems.HasErrors() || slices.ContainsFunc(rs.All, func(r *Resource) bool {
		if findKind(r.Kind) != nil {
			return false
		}
		meant, ok := spelling.Nearest(r.Kind, kindNames)
		return ok && meant == "Site"
	})
}

// checkLinks leaves out links that cannot be made yet or at all.
func (rs *Resources) checkLinks(env Env) {
	for _, l := range slices.Clone(rs.Links) {
		rs.checkGiven(l.Resource, l.TLSCredentials, env)
		if l.Proxy != "" {
			rs.checkProxy(l, env)
		}
		if rs.Site != nil && l.EndpointFor(rs.Site) == nil {
			rs.quarantineAt(l.Resource, "spec.endpoints", problem{"has no usable endpoint: this site's router links to one called " + rs.Site.LinkRole(),
				"Add an endpoint of that name."})
		}
	}
}

// LinkRole returns the role in which the site's router links to others, which is also the name of the endpoint it links to.
func (s *Site) LinkRole() string {
	if s.Edge {
		return "edge"
	}
	return "inter-router"
}

// EndpointFor returns the endpoint that the site links to, the first that fits its role as upstream has it; nil if there is none.
func (l *Link) EndpointFor(s *Site) *Endpoint {
	for i := range l.Endpoints {
		if l.Endpoints[i].Name == s.LinkRole() {
			return &l.Endpoints[i]
		}
	}
	return nil
}

// needs tells whether there is neither a good Secret nor a directory called name.
func (rs *Resources) needs(name string, directories []string, where string) problem {
	if rs.secret(name) != nil || slices.Contains(directories, name) {
		return problem{}
	}
	hint := fmt.Sprintf("Add the Secret, or the directory %s/%s.", where, name)
	for _, r := range rs.All {
		if r.Kind == "Secret" && r.Name == name {
			return problem{fmt.Sprintf("is left out until the Secret %s is right (%s)", quote(name), r.place()), "Correct the Secret."}
		}
	}
	return problem{fmt.Sprintf("is left out until there is a Secret %s or a directory %s/%s", quote(name), where, name), hint}
}

func (rs *Resources) secret(name string) *Secret {
	i, ok := slices.BinarySearchFunc(rs.Secrets, name, func(s Secret, name string) int { return cmp.Compare(s.Name, name) })
	if !ok {
		return nil
	}
	return &rs.Secrets[i]
}

// checkProxy wants a proxy's host and port, in the keys that upstream reads (internal/kube/secrets/manager.go). A link that has had
// its proxy goes on with it.
func (rs *Resources) checkProxy(l Link, env Env) {
	p := rs.proxyProblem(l.Proxy, env)
	if p.message == "" {
		return
	}
	d := l.At("spec.settings.proxy-configuration")
	d.Message, d.Hint = p.message, p.hint
	if rs.Proven(l.Resource) && slices.Contains(env.Routed, l.Proxy) {
		rs.Hold(l.Resource, d)
		return
	}
	rs.Quarantine(l.Resource, d)
}

// proxyProblem says why a proxy cannot be used: a directory goes before a Secret.
func (rs *Resources) proxyProblem(name string, env Env) problem {
	if i := slices.IndexFunc(env.Proxies, func(p Proxy) bool { return p.Name == name }); i >= 0 {
		p := env.Proxies[i]
		return p.problem(p.Dir, "files of this directory")
	}
	if p := rs.needs(name, nil, "input/proxies"); p.message != "" {
		return p
	}
	s := rs.secret(name)
	p := Proxy{Host: strings.TrimSpace(string(s.Get("host"))), Port: strings.TrimSpace(string(s.Get("port")))}
	return p.problem("the Secret "+quote(name), "the Secret ("+s.place()+")")
}

func (p Proxy) problem(what, place string) problem {
	hint := fmt.Sprintf("Write host, port and, if the proxy wants them, username and password into %s.", place)
	switch {
	case hostProblem(p.Host).message != "":
		return problem{what + " has no host that can be used", hint}
	case !portText(p.Port):
		return problem{what + " has no port that can be used", hint}
	}
	return problem{}
}

// checkAccess leaves out what would take links where none can come, or without the certificate that the user is to give.
func (rs *Resources) checkAccess(env Env) {
	for _, a := range slices.Clone(rs.RouterAccesses) {
		if rs.Site != nil && rs.Site.Edge {
			rs.quarantineAt(a.Resource, "spec.roles", problem{"an edge router accepts no links", "Remove it, or edge: true from the Site."})
		}
		if a.Given {
			rs.checkGiven(a.Resource, a.TLSCredentials, env)
		}
	}
}

// checkGiven leaves out what lacks the user's certificate, unless it may have one from before.
func (rs *Resources) checkGiven(r *Resource, name string, env Env) {
	if p := rs.needs(name, env.Certs, "input/certs"); p.message != "" && !rs.Proven(r) {
		rs.quarantineAt(r, "spec.tlsCredentials", p)
	}
}

func (rs *Resources) quarantineAt(r *Resource, field string, p problem) {
	d := r.At(field)
	d.Message, d.Hint = p.message, p.hint
	rs.Quarantine(r, d)
}

// Quarantine adds a finding to a resource, and leaves the resource out if it is an error: unless it was proven, its last good
// version stands in for it, and whatever has been checked is to be checked again. Without its Site a site must be left as it is.
func (rs *Resources) Quarantine(res *Resource, d diag.Diagnostic) {
	proven := rs.Proven(res)
	res.Report(d)
	if d.Severity != diag.Error {
		return
	}
	rs.leaveOut(res)
	if proven {
		res.drop()
		return
	}
	rs.fallBack(res)
}

func (rs *Resources) leaveOut(res *Resource) {
	if rs.Site != nil && rs.Site.Resource == res {
		rs.Site, rs.SiteErr = nil, true
	}
	rs.Listeners = slices.DeleteFunc(rs.Listeners, func(l Listener) bool { return l.Resource == res })
	rs.Connectors = slices.DeleteFunc(rs.Connectors, func(c Connector) bool { return c.Resource == res })
	rs.MultiKeyListeners = slices.DeleteFunc(rs.MultiKeyListeners, func(m MultiKeyListener) bool { return m.Resource == res })
	rs.Links = slices.DeleteFunc(rs.Links, func(l Link) bool { return l.Resource == res })
	rs.RouterAccesses = slices.DeleteFunc(rs.RouterAccesses, func(a RouterAccess) bool { return a.Resource == res })
	rs.AccessTokens = slices.DeleteFunc(rs.AccessTokens, func(t AccessToken) bool { return t.Resource == res })
	rs.Certificates = slices.DeleteFunc(rs.Certificates, func(c Certificate) bool { return c.Resource == res })
	rs.Secrets = slices.DeleteFunc(rs.Secrets, func(s Secret) bool { return s.Resource == res })
}

// Findings returns all that is wrong, in the order of the files.
func (rs *Resources) Findings() diag.List {
	all := slices.Clone(rs.Problems)
	for _, r := range rs.All {
		all = append(all, r.Problems...)
	}
	all.Sort()
	return all
}
