package hooks

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/ports"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/internal/state"
)

const (
	localPort     = state.LocalPort
	firstLocal    = 5671  // where upstream begins to look for each
	firstInternal = 55671 // of role inter-router
	firstEdge     = 45671
)

// allocate gives ports to the local endpoint and to each role of a RouterAccess that names none. What was allocated once stays,
// also while its resource is away.
func (h Hooks) allocate(s *Site, table ports.Table) error {
	port := func(name string, from uint16) (uint16, error) {
		if port := s.record.Port(name); port != 0 {
			return port, nil
		}
		var mine []uint16
		for _, p := range s.record.Ports {
			mine = append(mine, p.Port)
		}
		for _, socket := range s.Resources.Sockets() {
			mine = append(mine, socket.Port)
		}
		free, err := table.Free(from, mine...)
		if err == nil {
			s.record.Ports = append(s.record.Ports, state.Port{Name: name, Port: free})
		}
		return free, err
	}
	if _, err := port(localPort, firstLocal); err != nil {
		return err
	}
	for i := range s.Resources.RouterAccesses {
		ra := &s.Resources.RouterAccesses[i]
		for j, role := range ra.Roles {
			if role.Port != 0 {
				continue
			}
			from := uint16(firstInternal)
			if role.Name == "edge" {
				from = firstEdge
			}
			var err error
			if ra.Roles[j].Port, err = port(ra.Name+"/"+role.Name, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// renamePorts has the RouterAccess that linkAccess stands for keep its ports when the Site, after which it is called, was old before.
func (s *Site) renamePorts(old string) {
	own := s.Resources.Site
	if own.Name == old || !own.TakesLinks() ||
		slices.ContainsFunc(s.Resources.All, func(r *site.Resource) bool { return r.Kind == "RouterAccess" && r.Name == old }) {
		return
	}
	for i, p := range s.record.Ports {
		if role, ok := strings.CutPrefix(p.Name, old+"/"); ok && s.record.Port(own.Name+"/"+role) == 0 {
			s.record.Ports[i].Name = own.Name + "/" + role
		}
	}
}

// linkAccess returns the RouterAccess that a Site's linkAccess asks for, unless there is one of that name (skupper,
// internal/nonkube/common/site_state_renderer_common.go). The names that it is reached at are those that the host had at first.
func (s *Site) linkAccess() []source.File {
	own := s.Resources.Site
	if own == nil || own.Edge || !own.TakesLinks() ||
		slices.ContainsFunc(s.Resources.All, func(r *site.Resource) bool { return r.Kind == "RouterAccess" && r.Name == own.Name }) {
		return nil
	}
	if s.record.Hosts == nil {
		s.record.Hosts = hostNames()
	}
	names, _ := json.Marshal(s.record.Hosts)
	text := fmt.Sprintf(`{"apiVersion": "skupper.io/v2alpha1", "kind": "RouterAccess", "metadata": {"name": %q},
		"spec": {"tlsCredentials": %[1]q, "roles": [{"name": "inter-router"}, {"name": "edge"}], "subjectAlternativeNames": %s}}`, own.Name, names)
	return []source.File{{Path: "the linkAccess of " + own.Name, Data: []byte(text)}}
}

// hostNames are the host's name and the addresses of its interfaces, but for loopback and link-local ones.
func hostNames() []string {
	names := []string{}
	if name, err := os.Hostname(); err == nil && site.CheckHost(name) == nil {
		names = append(names, name)
	}
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			names = append(names, ip.IP.String())
		}
	}
	return names
}
