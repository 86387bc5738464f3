package router

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sitelet/sitelet/internal/site"
)

// CheckNames leaves out resources that come to an entity of a name that another entity has: names are one space for all types
// (skupper-router, schema.py: validate_add), and a router with two of a name does not start. A Link "west" beside a RouterAccess
// "west", whose TLS profile has that name, is such a case. What runs already goes before what does not; then Links give way to all
// else; otherwise what comes first in the file stays.
func CheckNames(r *site.Resources, id Identity, profiles []Profile, proxies []Proxy) {
	for {
		entities := build(r, id, profiles, proxies)
		lost, kept := clash(entities)
		if lost < 0 {
			return
		}
		lose, keep := entities[lost], entities[kept]
		if newcomer := newcomer(r, keep); newcomer != nil && r.Proven(lose.owner) {
			lose, keep = owned{keep.Entity, newcomer}, lose
		}
		d := lose.owner.At("metadata.name")
		d.Message = fmt.Sprintf("the router would have a %s %q beside its %s of that name, and then not start", lose.Type, lose.Name, keep.Type)
		d.Hint = "Give one of the two another name."
		r.Quarantine(lose.owner, d)
	}
}

// newcomer returns a resource that an entity is for and that has not run as it is now; nil if there is none.
func newcomer(r *site.Resources, e owned) *site.Resource {
	var owners []*site.Resource
	if e.owner != nil {
		owners = append(owners, e.owner)
	}
	if e.Type == "sslProfile" {
		owners = append(owners, usersOf(r, e.Name)...)
	}
	i := slices.IndexFunc(owners, func(owner *site.Resource) bool { return !r.Proven(owner) })
	if i < 0 {
		return nil
	}
	return owners[i]
}

// usersOf lists the resources that take a TLS profile of this name.
func usersOf(r *site.Resources, profile string) []*site.Resource {
	var users []*site.Resource
	for _, a := range r.RouterAccesses {
		if cmp.Or(a.TLSCredentials, a.Name) == profile {
			users = append(users, a.Resource)
		}
	}
	for _, l := range r.Listeners {
		if l.TLSCredentials == profile {
			users = append(users, l.Resource)
		}
	}
	for _, m := range r.MultiKeyListeners {
		if m.TLSCredentials == profile {
			users = append(users, m.Resource)
		}
	}
	for _, n := range r.Connectors {
		if n.TLSCredentials == profile && n.UseClientCert || n.TLSCredentials+"-profile" == profile {
			users = append(users, n.Resource)
		}
	}
	return users
}

// clash returns the places of an entity that can be left out for its name and of the one that has it by right; -1 where there is none.
func clash(entities []owned) (lost, kept int) {
	seen := map[string]int{}
	for i, e := range entities {
		other, taken := seen[e.Name]
		switch {
		case e.Name == "":
		case !taken:
			seen[e.Name] = i
		case entities[other].Type == "connector":
			return other, i
		case e.owner != nil:
			return i, other
		}
	}
	return -1, -1
}
