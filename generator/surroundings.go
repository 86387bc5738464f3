package generator

import (
	"slices"
	"strconv"

	"github.com/sitelet/sitelet/internal/descriptor"
)

// surroundings is what one container's text takes from the others of its set.
type surroundings struct {
	set    []*descriptor.Container
	byHost map[string]*descriptor.Container // bridge containers by host name
	users  map[string][]string              // names of those that look a container up, by its name
}

func lookAround(set []*descriptor.Container) surroundings {
	around := surroundings{set: set, byHost: map[string]*descriptor.Container{}, users: map[string][]string{}}
	for _, c := range set {
		if c.Network != "host" {
			around.byHost[c.HostName] = c
		}
	}
	for _, c := range set {
		for _, target := range around.targets(c) {
			around.users[target] = append(around.users[target], c.Name)
		}
	}
	return around
}

// targets are the names of the containers whose addresses c looks up, each once.
func (s surroundings) targets(c *descriptor.Container) []string {
	var names []string
	for _, h := range c.Hosts {
		if h.Kind != descriptor.HostContainer {
			continue
		}
		if target := s.byHost[h.Value]; target != nil && target != c && !slices.Contains(names, target.Name) {
			names = append(names, target.Name)
		}
	}
	return names
}

// reserved lists the fixed ports of others that lie in a range of c, as PROTO/PORT: they may not be taken although they are
// free before their own container runs.
func (s surroundings) reserved(c *descriptor.Container) []string {
	var out []string
	for _, p := range c.Ports {
		if p.HostPortEnd <= p.HostPort {
			continue
		}
		for _, other := range s.set {
			for _, q := range other.Ports {
				if q.Proto == p.Proto && q.HostPortEnd <= q.HostPort && q.HostPort >= p.HostPort && q.HostPort <= p.HostPortEnd {
					out = append(out, q.Proto+"/"+strconv.Itoa(int(q.HostPort)))
				}
			}
		}
	}
	return out
}
