package router

import "slices"

// NeedsRestart names the attributes in which a router differs from what is wanted and that no request can change: those of the
// router and of its site, as "router.mode", and those of the local listener, since whoever changed that would cut itself off.
// Have is what the router reports for Types.
func NeedsRestart(want, have []Entity) []string {
	var names []string
	for _, w := range want {
		switch w.Type = fileType(w.Type); {
		case w.Type == "router", w.Type == "site":
			h := reported(have, func(h Entity) bool { return fileType(h.Type) == w.Type })
			if w.Type == "site" && h.Name != w.Name {
				names = append(names, "site.name")
			}
			names = append(names, qualified(w.Type, differing(w, h))...)
		case w.Type == "listener" && w.Name == localListener:
			h := reported(have, func(h Entity) bool { return h.Name == w.Name })
			if h.Name != "" {
				names = append(names, qualified(w.Name, differing(w, h))...)
			}
		}
	}
	return names
}

// reported returns the first entity that matches, the zero one where there is none.
func reported(have []Entity, match func(Entity) bool) Entity {
	if i := slices.IndexFunc(have, match); i >= 0 {
		return have[i]
	}
	return Entity{}
}

func qualified(owner string, attributes []Attribute) []string {
	var names []string
	for _, a := range attributes {
		names = append(names, owner+"."+a.Name)
	}
	return names
}
