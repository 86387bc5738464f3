package descriptor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/spelling"
)

// CheckSet applies the rules of all descriptors of a host together. cs are those that Parse took, refused what NameOf
// says of the others: their names are not free, and what depends on them is not wrong because they are. taken, which
// may be nil, tells whether a unit of the host has a container's name, and where.
//
// It returns the containers that no error is about, by name, and the findings in the order of the files. Where several
// cannot be had together none of them is kept, so that what already runs is not pushed out by a new file.
func CheckSet(cs []*Container, refused []Refused, taken func(name string) (where string, ok bool)) (good []*Container, l diag.List) {
	s := &set{bad: make(map[*Container]bool), names: make(map[string][]Refused)}
	for _, r := range refused {
		s.names[r.Name] = append(s.names[r.Name], r)
	}
	for _, c := range cs {
		s.names[c.Name] = append(s.names[c.Name], Refused{c.Source, c.Name, c.NameAt})
	}
	for _, places := range s.names {
		slices.SortFunc(places, func(a, b Refused) int {
			return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.NameAt.Line, b.NameAt.Line))
		})
	}
	s.good = slices.SortedFunc(slices.Values(cs), func(a, b *Container) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
	})

	s.checkNames(taken)
	s.drop()
	s.checkPorts()
	s.drop()
	s.checkOrder()
	s.drop()
	s.checkCircles()
	s.drop()
	s.checkPeers(cs, refused)
	s.list.Sort()
	return s.good, s.list
}

// set is the work of CheckSet.
type set struct {
	good  []*Container         // what is left, by name
	bad   map[*Container]bool  // of good, what goes at the next drop
	names map[string][]Refused // all descriptors by name, those that were refused too
	list  diag.List
}

func (s *set) drop() {
	s.good = slices.DeleteFunc(s.good, func(c *Container) bool { return s.bad[c] })
}

func (s *set) fail(c *Container, at Position, field, message, hint string) {
	s.bad[c] = true
	s.report(c, at, field, diag.Error, message, hint)
}

func (s *set) report(c *Container, at Position, field string, severity diag.Severity, message, hint string) {
	s.list = append(s.list, c.Finding(at, field, severity, message, hint))
}

// Finding returns one about a place in the descriptor, whose line is shown unless it holds a secret.
func (c *Container) Finding(at Position, field string, severity diag.Severity, message, hint string) diag.Diagnostic {
	_, secret := slices.BinarySearch(c.SecretLines, at.Line)
	return diag.Diagnostic{File: c.Source, Line: at.Line, Column: at.Column, Field: field, Severity: severity, Message: message,
		Hint: hint, Secret: secret}
}

// checkNames finds names that two descriptors have, or a descriptor and something else.
func (s *set) checkNames(taken func(name string) (where string, ok bool)) {
	const hint = "Give one of them another name."
	for _, c := range s.good {
		if places := s.names[c.Name]; len(places) > 1 {
			other := places[0]
			if other.Source == c.Source && other.NameAt == c.NameAt {
				other = places[1]
			}
			s.fail(c, c.NameAt, "container_name", fmt.Sprintf("%s is also the name in %s", quote(c.Name), place(other.Source, other.NameAt)), hint)
		} else if taken != nil {
			if where, ok := taken(c.Name); ok {
				s.fail(c, c.NameAt, "container_name", fmt.Sprintf("a unit of this name is there already: %s", where), "Give the container another name.")
			}
		}
	}
}

func place(source string, at Position) string {
	return fmt.Sprintf("%s:%d:%d", source, at.Line, at.Column)
}

// checkOrder finds names in sitelet.after and sitelet.requires that nothing has.
func (s *set) checkOrder() {
	for _, c := range s.good {
		for _, e := range c.edges() {
			if len(s.names[e.to]) > 0 {
				continue
			}
			hint := "Write the container_name of another descriptor."
			if meant, ok := spelling.Nearest(e.to, s.sortedNames()); ok {
				hint = "Did you mean " + quote(meant) + "?"
			}
			s.fail(c, e.at, e.field, "no descriptor has the name "+quote(e.to), hint)
		}
	}
}

func (s *set) sortedNames() []string {
	names := make([]string, 0, len(s.names))
	for name := range s.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// edge is an entry of sitelet.after or sitelet.requires.
type edge struct {
	to    string
	at    Position
	field string
}

func (c *Container) edges() []edge {
	var edges []edge
	for i, name := range c.After {
		edges = append(edges, edge{name, c.AfterAt[i], "sitelet.after"})
	}
	for i, name := range c.Requires {
		edges = append(edges, edge{name, c.RequiresAt[i], "sitelet.requires"})
	}
	return edges
}

// checkPeers warns of hosts like container_HOSTNAME that no descriptor, or more than one, gives a container for.
func (s *set) checkPeers(cs []*Container, refused []Refused) {
	const field = "host_config.extra_hosts"
	owners := make(map[string]int)
	for _, c := range cs {
		owners[c.HostName]++
	}
	for _, r := range refused {
		owners[r.Name+"-host"]++
	}
	for _, c := range s.good {
		for i, h := range c.Hosts {
			switch {
			case h.Kind != HostContainer || owners[h.Value] == 1:
			case owners[h.Value] == 0:
				s.report(c, c.HostsAt[i], field, diag.Warning, "no descriptor with a bridge network has the host name "+quote(h.Value),
					"Write the host_name of another container, unless it is made by other means.")
			default:
				s.report(c, c.HostsAt[i], field, diag.Warning, fmt.Sprintf("%d containers have the host name %s", owners[h.Value], quote(h.Value)),
					"Give them different ones, so that it is clear which is meant.")
			}
		}
	}
}
