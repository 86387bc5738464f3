package site

import (
	"slices"

	"github.com/sitelet/sitelet/internal/spelling"
)

// linkAccesses are what upstream knows as linkAccess (pkg/apis/skupper/v2alpha1 and internal/kube/securedaccess). Here any of them
// but none asks for the same.
var linkAccesses = []string{"none", "default", "route", "loadbalancer", "local", "nodeport", "ingress", "ingress-nginx", "contour-http-proxy", "gateway"}

func addSite(rs *Resources, r *Resource) {
	spec := r.root.get("spec")
	s := Site{
		Resource:   r,
		LinkAccess: spec.get("linkAccess").str(),
		Edge:       spec.get("edge").flag(),
	}
	if access := spec.get("linkAccess"); s.TakesLinks() {
		switch {
		case s.Edge:
			access.warn("an edge router accepts no links, so nothing is done", "Remove it, or edge: true.")
			s.LinkAccess = ""
		case !slices.Contains(linkAccesses, s.LinkAccess):
			hint := "Write default."
			if meant, ok := spelling.Nearest(s.LinkAccess, linkAccesses); ok {
				hint = "Did you mean " + meant + "?"
			}
			access.warn(quote(s.LinkAccess)+" is not known, and is taken for default", hint)
		}
	}
	if ha := spec.get("ha"); ha.flag() && s.Edge {
		ha.fail("an edge site cannot be highly available", "Remove ha or edge.")
	} else if ha.flag() {
		ha.idle()
	}
	for setting := range spec.get("settings").items() {
		if setting.key == "router-logging" {
			s.LogLevels = setting.logging()
			continue
		}
		setting.idle("router-logging")
	}
	if !r.Quarantined() {
		rs.Site = &s
	}
}
