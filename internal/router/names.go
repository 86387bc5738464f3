package router

import (
	"fmt"

	"github.com/sitelet/sitelet/internal/site"
)

// CheckNames leaves out resources that come to an entity of a name that another entity has: names are one space for all types
// (skupper-router, schema.py: validate_add), and a router with two of a name does not start. A Link "west" beside a RouterAccess
// "west", whose TLS profile has that name, is such a case. Links give way to all else; otherwise what comes first in the file stays.
func CheckNames(r *site.Resources, id Identity, profiles []Profile, proxies []Proxy) {
	for {
		entities := build(r, id, profiles, proxies)
		lost, kept := clash(entities)
		if lost < 0 {
			return
		}
		e := entities[lost]
		d := e.owner.At("metadata.name")
		d.Message = fmt.Sprintf("the router would have a %s %q beside its %s of that name, and then not start", e.Type, e.Name, entities[kept].Type)
		d.Hint = "Give one of the two another name."
		r.Quarantine(e.owner, d)
	}
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
