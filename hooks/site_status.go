package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelet/sitelet/internal/management"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
)

// observed is what a router has said of itself, and of the last requests.
type observed struct {
	entities []router.Entity
	failures []management.Failure
}

// entity returns what the router has of a type and name.
func (o *observed) entity(kind, name string) *router.Entity {
	i := slices.IndexFunc(o.entities, func(e router.Entity) bool { return e.Type == kind && e.Name == name })
	if i < 0 {
		return nil
	}
	return &o.entities[i]
}

// failure returns why a request about an entity failed.
func (o *observed) failure(name string) error {
	for _, f := range o.failures {
		if f.Request.Entity.Name == name {
			return f.Err
		}
	}
	return nil
}

// fileName is what a resource can have in the name of its file.
var fileName = regexp.MustCompile(`^[A-Za-z0-9]([-._A-Za-z0-9]{0,251}[A-Za-z0-9])?$`)

// writeResources writes runtime/resources: a file for each resource with what is known of it, which other tools read, and none
// for one that is gone. Without an observation, what was known of the running router before is kept.
func (h Hooks) writeResources(s Site, o *observed) error {
	dir := filepath.Join(h.home(s.Namespace), "runtime/resources")
	if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, fs.ErrNotExist) && len(s.Resources.All) == 0 {
		return nil
	}
	reportTokens(&s)
	var keep []string
	var resources []*site.Resource
	for _, r := range s.Resources.All {
		name := resourceFile(r)
		// Of several of one kind and name, which come one after the other, the first has the file.
		if name != "" && (len(keep) == 0 || keep[len(keep)-1] != name) {
			keep, resources = append(keep, name), append(resources, r)
		}
	}
	errs := make([]error, len(resources))
	inTurns(len(resources), func(i int) { errs[i] = h.writeResource(s, resources[i], o, filepath.Join(dir, keep[i])) })
	return errors.Join(append(errs, removeOthers(dir, keep))...)
}

// resourceFile names the file of a resource; empty where its kind or name cannot be part of such a name.
func resourceFile(r *site.Resource) string {
	if !fileName.MatchString(r.Name) || !fileName.MatchString(r.Kind) {
		return ""
	}
	return r.Kind + "-" + r.Name + ".yaml"
}

func (h Hooks) writeResource(s Site, r *site.Resource, o *observed, path string) error {
	data, _ := os.ReadFile(path)
	before := site.OldConditions(data)
	status := site.Status{Before: before, Now: h.now(), Conditions: conditions(s, r, o, before),
		UID: s.record.ID, Endpoints: endpointsOf(s.Resources, r), Expiration: h.expirationOf(s, r)}
	return replace(path, r.WithStatus(status), 0o644)
}

// expirationOf is when the certificate ends that a resource asks for; zero where there is none.
func (h Hooks) expirationOf(s Site, r *site.Resource) time.Time {
	for _, c := range s.Resources.Certificates {
		if c.Resource == r {
			return pki.EndOf(filepath.Join(h.home(s.Namespace), "runtime"), c.Name, c.Signing)
		}
	}
	return time.Time{}
}

// observe writes what a router has said into runtime/resources.
func (h Hooks) observe(s Site, o observed) error {
	return h.holding("site-"+s.Namespace, func() error { return h.writeResources(s, &o) })
}

// conditions are what is known of a resource besides its own problems: by an observation, or else as it was before.
func conditions(s Site, r *site.Resource, o *observed, before []site.Condition) []site.Condition {
	switch {
	case r.Kind == "AccessToken":
		return []site.Condition{{Type: site.Redeemed, True: redeemedToken(s, r)}}
	case o == nil:
		return unobserved(r, before)
	case r.Quarantined():
		return nil
	}
	switch r.Kind {
	case "Site":
		return []site.Condition{{Type: site.Running, True: true}, {Type: site.Resolved, True: true}}
	case "RouterAccess":
		return append(configured(o, r.Name+"-inter-router", r.Name+"-edge"), site.Condition{Type: site.Resolved, True: true})
	case "Listener":
		return served(o, "tcpListener", "listener/"+r.Name, site.Matched)
	case "MultiKeyListener":
		return served(o, "tcpListener", "multiAddress/"+r.Name, site.Operational)
	case "Connector":
		for _, c := range s.Resources.Connectors {
			if c.Resource == r {
				return connected(s.Resources, c, o)
			}
		}
	case "Link":
		return linked(o, r.Name)
	}
	return nil
}

// unobserved is what was known of a resource before, but for its old problems, and where links are taken.
func unobserved(r *site.Resource, before []site.Condition) []site.Condition {
	known := slices.DeleteFunc(slices.Clone(before), func(c site.Condition) bool {
		return c.Type == site.Configured && !c.True && !strings.HasPrefix(c.Message, routerSays)
	})
	takesLinks := r.Kind == "Site" || r.Kind == "RouterAccess"
	if takesLinks && !slices.ContainsFunc(known, func(c site.Condition) bool { return c.Type == site.Resolved }) {
		known = append(known, site.Condition{Type: site.Resolved, True: true})
	}
	return known
}

// routerSays begins what a router has against a resource, which stays true until it is asked again.
const routerSays = "the router says: "

func redeemedToken(s Site, r *site.Resource) bool {
	for _, token := range s.Resources.AccessTokens {
		if token.Resource == r {
			return s.record.Token(token.Name, tokenDigest(token)).Document != nil
		}
	}
	return false
}

// configured says whether the requests about entities were done.
func configured(o *observed, names ...string) []site.Condition {
	for _, name := range names {
		if err := o.failure(name); err != nil {
			return []site.Condition{site.Failed(site.Configured, routerSays+err.Error())}
		}
	}
	return []site.Condition{{Type: site.Configured, True: true}}
}

// served says whether a listener is open, for which somebody must serve its address. The router says 201 to one that cannot be
// opened, and why later.
func served(o *observed, kind, name, condition string) []site.Condition {
	all := configured(o, name)
	e := o.entity(kind, name)
	if e == nil {
		return all
	}
	if message, _ := e.Get("connectionMsg").(string); message != "" && e.Get("operStatus") != "up" {
		return []site.Condition{site.Failed(site.Configured, routerSays+message)}
	}
	return append(all, site.Condition{Type: condition, True: e.Get("operStatus") == "up"})
}

// connected says whether a connector is known to have a listener: one of this site, or one that a connection has come from. The router
// counts the connector itself as one connection, and knows of no listener of another site before that.
func connected(set *site.Resources, c site.Connector, o *observed) []site.Condition {
	name := "connector/" + c.Name + "@" + c.Host
	all := configured(o, name)
	has := slices.ContainsFunc(set.Listeners, func(l site.Listener) bool { return l.RoutingKey == c.RoutingKey }) ||
		slices.ContainsFunc(set.MultiKeyListeners, func(m site.MultiKeyListener) bool {
			return slices.ContainsFunc(m.Keys, func(k site.KeyValue) bool { return k.Key == c.RoutingKey })
		})
	if e := o.entity("tcpConnector", name); e != nil && (has || number(e, "connectionsOpened") > 1) {
		all = append(all, site.Condition{Type: site.Matched, True: true})
	}
	return all
}

func linked(o *observed, name string) []site.Condition {
	all := configured(o, name)
	e := o.entity("connector", name)
	if e == nil {
		return all
	}
	if e.Get("connectionStatus") == "SUCCESS" {
		return append(all, site.Condition{Type: site.Operational, True: true})
	}
	message, _ := e.Get("connectionMsg").(string)
	return append(all, site.Condition{Type: site.Operational, Message: message})
}

// endpointsOf lists where a RouterAccess, or a Site in all, takes links.
func endpointsOf(set *site.Resources, r *site.Resource) []site.Endpoint {
	var all []site.Endpoint
	for _, access := range set.RouterAccesses {
		if r.Kind != "Site" && access.Resource != r {
			continue
		}
		host := access.BindHost
		if host == "" {
			host = "127.0.0.1"
		}
		for _, role := range access.Roles {
			all = append(all, site.Endpoint{Name: access.Name + "-" + role.Name, Host: host, Port: strconv.Itoa(int(role.Port)), Group: "skupper-router"})
		}
	}
	return all
}
