package router

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/sitelet/sitelet/internal/site"
)

// BaseVariable stands for the directory of the certificates in the configuration of a router that runs in a container: its start
// script puts the variable's value there.
const BaseVariable = "${SSL_PROFILE_BASE_PATH}"

// ContainerBase is the value of that variable in the router's image.
const ContainerBase = "/etc/skupper-router"

// localServer is the TLS profile of the router's local endpoint.
const localServer = "skupper-local-server"

// localListener is the router's local endpoint, which it is managed through.
const localListener = "skupper-local-normal"

// Identity is what a router is, apart from what it serves.
type Identity struct {
	RouterID  string // also the name of the site
	SiteID    string // a UUID
	Namespace string
	Platform  string
	Version   string
	Base      string // what runtime/certs is below, for the router: BaseVariable, or the namespace's directory
	LocalPort uint16
}

// Profile says which files the directory runtime/certs/NAME of a TLS profile holds. No two have one name.
type Profile struct {
	Name          string
	CA, Cert, Key bool
}

// Proxy is how a proxy for links is reached. With Password there is a file password.txt in the directory runtime/certs/NAME.
type Proxy struct {
	Name, Host, Port, Username string
	Password                   bool
}

// Config returns the configuration of the router of a site, in the order of Compare; of no site, nil. The entities and their names
// are upstream's (pkg/nonkube/api/site_state.go, internal/site). What needs a profile or a proxy that is not given, or that lacks
// a file, is left out, since the router would not start with it; so is what CheckNames refuses.
func Config(r *site.Resources, id Identity, profiles []Profile, proxies []Proxy) []Entity {
	all := build(r, id, profiles, proxies)
	for lost, _ := clash(all); lost >= 0; lost, _ = clash(all) {
		owner := all[lost].owner
		all = slices.DeleteFunc(all, func(e owned) bool { return e.owner == owner })
	}
	var entities []Entity
	for _, e := range all {
		entities = append(entities, e.Entity)
	}
	return entities
}

// config is a configuration in the making.
type config struct {
	id       Identity
	have     []Profile
	proxies  []Proxy
	used     []Profile      // what entities want of the files of TLS profiles; several a name
	owner    *site.Resource // what is being worked on
	entities []owned
}

// owned is an entity with the resource that it is for; nil where it is for the site, or for several.
type owned struct {
	Entity
	owner *site.Resource
}

// build makes all entities, those with a name that another has too, in the order of Compare.
func build(r *site.Resources, id Identity, profiles []Profile, proxies []Proxy) []owned {
	if r.Site == nil {
		return nil
	}
	c := config{id: id, have: profiles, proxies: proxies}
	c.router(r.Site)
	c.logs(r.Site)
	c.local()
	for _, a := range r.RouterAccesses {
		if !r.Site.Edge { // or the router would not start
			c.owner = a.Resource
			c.routerAccess(a)
		}
	}
	for _, l := range r.Links {
		c.owner = l.Resource
		c.link(l, r.Site)
	}
	for _, l := range r.Listeners {
		c.owner = l.Resource
		c.listener(l)
	}
	for _, n := range r.Connectors {
		c.owner = n.Resource
		c.connector(n)
	}
	for _, m := range r.MultiKeyListeners {
		c.owner = m.Resource
		c.multiKeyListener(m)
	}
	c.owner = nil
	c.profiles()
	slices.SortStableFunc(c.entities, func(a, b owned) int { return Compare(a.Entity, b.Entity) })
	return c.entities
}

func (c *config) add(e Entity) { c.entities = append(c.entities, owned{e, c.owner}) }

func (c *config) router(s *site.Site) {
	mode := "interior"
	if s.Edge {
		mode = "edge"
	}
	metadata, _ := json.Marshal(struct {
		ID       string `json:"id"`
		Version  string `json:"version"`
		Platform string `json:"platform"`
	}{c.id.SiteID, c.id.Version, c.id.Platform})
	c.add(Entity{Type: "router", Attributes: []Attribute{
		{"id", c.id.RouterID},
		{"mode", mode},
		{"helloMaxAgeSeconds", "3"},
		{"metadata", string(metadata)},
	}})

	own := Entity{Type: "site", Name: c.id.RouterID}
	own.text("platform", c.id.Platform)
	own.text("namespace", c.id.Namespace)
	own.text("version", c.id.Version)
	c.add(own)
	c.add(Entity{Type: "address", Attributes: []Attribute{{"prefix", "mc"}, {"distribution", "multicast"}}})
}

// local is the endpoint that status and live changes come through, on the loopback address alone.
func (c *config) local() {
	c.accept(localListener, "normal", "127.0.0.1", c.id.LocalPort, localServer)
}

func (c *config) routerAccess(a site.RouterAccess) {
	for _, role := range a.Roles {
		c.accept(a.Name+"-"+role.Name, role.Name, a.BindHost, cmp.Or(role.Port, defaultPort(role.Name)), cmp.Or(a.TLSCredentials, a.Name))
	}
}

// defaultPort is the port of a role for which none is given or allocated.
func defaultPort(role string) uint16 {
	if role == "edge" {
		return 45671
	}
	return 55671
}

func (c *config) accept(name, role, host string, port uint16, profile string) {
	if !c.use(profile, Profile{CA: true, Cert: true, Key: true}) {
		return
	}
	e := Entity{Type: "listener", Name: name}
	e.set("role", role)
	e.text("host", host)
	e.set("port", int(port))
	e.set("sslProfile", profile)
	e.set("saslMechanisms", "EXTERNAL")
	e.set("authenticatePeer", true)
	c.add(e)
}

// link makes nothing of a Link without an endpoint for the site's role; the check of the site has said so.
func (c *config) link(l site.Link, s *site.Site) {
	endpoint := l.EndpointFor(s)
	profile := ""
	if l.TLSCredentials != "" {
		profile = l.TLSCredentials + "-profile"
	}
	if endpoint == nil || !c.canUse(profile, Profile{CA: true}) || !c.proxy(l.Proxy) {
		return
	}
	c.want(profile, Profile{CA: true, Cert: true, Key: true})
	e := Entity{Type: "connector", Name: l.Name}
	e.set("role", s.LinkRole())
	e.set("host", endpoint.Host)
	e.set("port", endpoint.Port)
	e.set("cost", max(l.Cost, 1))
	e.text("sslProfile", profile)
	e.text("proxyProfile", l.Proxy)
	c.add(e)
}

func (c *config) listener(l site.Listener) {
	if !c.use(l.TLSCredentials, Profile{Cert: true, Key: true}) {
		return
	}
	c.want(l.TLSCredentials, Profile{CA: true})
	e := Entity{Type: "tcpListener", Name: "listener/" + l.Name}
	e.text("host", l.Host)
	e.text("port", port(l.Port))
	e.text("address", l.RoutingKey)
	e.text("sslProfile", l.TLSCredentials)
	e.text("observer", l.Observer)
	c.add(e)
}

// connector takes a profile of its own, with the CA alone, where the router is not to show a certificate.
func (c *config) connector(n site.Connector) {
	profile, files := n.TLSCredentials, Profile{CA: true, Cert: true, Key: true}
	if profile != "" && !n.UseClientCert {
		profile, files = profile+"-profile", Profile{CA: true}
	}
	if !c.use(profile, files) {
		return
	}
	e := Entity{Type: "tcpConnector", Name: "connector/" + n.Name + "@" + n.Host}
	e.text("host", n.Host)
	e.text("port", port(n.Port))
	e.text("address", n.RoutingKey)
	if profile != "" {
		e.set("sslProfile", profile)
		e.set("verifyHostname", n.VerifyHostname)
	}
	c.add(e)
}

func (c *config) multiKeyListener(m site.MultiKeyListener) {
	if !c.use(m.TLSCredentials, Profile{CA: m.RequireClientCert, Cert: true, Key: true}) {
		return
	}
	c.want(m.TLSCredentials, Profile{CA: true})
	e := Entity{Type: "tcpListener", Name: "multiAddress/" + m.Name}
	e.text("host", m.Host)
	e.text("port", port(m.Port))
	e.text("sslProfile", m.TLSCredentials)
	e.text("observer", m.Observer)
	e.set("multiAddressStrategy", m.Strategy)
	if m.RequireClientCert {
		e.set("authenticatePeer", true)
	}
	c.add(e)
	for _, k := range m.Keys {
		c.add(Entity{Type: "listenerAddress", Name: m.Name + "/" + k.Key, Attributes: []Attribute{
			{"address", k.Key},
			{"value", k.Value},
			{"listener", e.Name},
		}})
	}
}

func port(p uint16) string { return strconv.Itoa(int(p)) }
