package site

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// bind is a port that a resource listens on, or wants to.
type bind struct {
	Socket
	resource *Resource
	field    string // of the port
}

// CheckPorts leaves out resources that want a port which is another's: of taken, or of the site's own. Of the site's own those go
// first that have had theirs before; then a RouterAccess goes before a Listener, and a Listener before a MultiKeyListener, and of
// one kind the first by name.
// Ports of RouterAccesses that are still to be allocated are passed over.
func (rs *Resources) CheckPorts(taken []Socket) {
	var held []bind
	for _, s := range taken {
		held = append(held, bind{Socket: s})
	}
	groups := slices.DeleteFunc(rs.binds(), func(group []bind) bool { return len(group) == 0 })
	old := func(group []bind) bool { return rs.Proven(group[0].resource) }
	for _, group := range slices.Concat(filter(groups, old, true), filter(groups, old, false)) {
		at := slices.IndexFunc(group, func(b bind) bool { return b.clash(held) != nil })
		if at < 0 {
			held = append(held, group...)
			continue
		}
		lost, won := group[at], group[at].clash(held)
		d := lost.resource.At(lost.field)
		d.Message = fmt.Sprintf("the %s %s cannot listen on %s, since %s belongs to %s", lost.resource.Kind, quote(lost.resource.Name), lost.address(), won.address(), won.owner())
		d.Hint = "Write another port, or an address that differs."
		rs.Quarantine(lost.resource, d)
	}
}

// filter returns the groups for which is says so.
func filter(groups [][]bind, is func([]bind) bool, so bool) [][]bind {
	return slices.DeleteFunc(slices.Clone(groups), func(group []bind) bool { return is(group) != so })
}

// Sockets returns the ports that the site listens on, for other namespaces to keep away from.
func (rs *Resources) Sockets() []Socket {
	var sockets []Socket
	for _, group := range rs.binds() {
		for _, b := range group {
			b.Owner = fmt.Sprintf("the %s %s of namespace %s", b.resource.Kind, quote(b.resource.Name), quote(rs.Namespace))
			sockets = append(sockets, b.Socket)
		}
	}
	return sockets
}

// binds returns the ports of each resource, in the order in which they are given away.
func (rs *Resources) binds() (groups [][]bind) {
	for _, a := range rs.RouterAccesses {
		var group []bind
		for i, role := range a.Roles {
			if role.Port != 0 {
				group = append(group, bind{SocketAt(a.BindHost, role.Port), a.Resource, fmt.Sprintf("spec.roles[%d].port", i)})
			}
		}
		groups = append(groups, group)
	}
	for _, l := range rs.Listeners {
		groups = append(groups, []bind{{SocketAt(l.Host, l.Port), l.Resource, "spec.port"}})
	}
	for _, m := range rs.MultiKeyListeners {
		groups = append(groups, []bind{{SocketAt(m.Host, m.Port), m.Resource, "spec.port"}})
	}
	return groups
}

// SocketAt returns the socket of a port on a host, which is an address, a name, or empty for all addresses.
func SocketAt(host string, port uint16) Socket {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return Socket{Host: host, Port: port}
	}
	return Socket{Addr: addr, Port: port}
}

// clash returns what of held listens where b is to.
func (b bind) clash(held []bind) *bind {
	for i := range held {
		if b.Overlaps(held[i].Socket) && !b.apart(held[i].Socket) {
			return &held[i]
		}
	}
	return nil
}

// At returns the host of a socket as SocketAt takes it.
func (s Socket) At() string {
	if s.Addr.IsValid() {
		return s.Addr.String()
	}
	return s.Host
}

func (b bind) address() string {
	host := cmp.Or(b.At(), "0.0.0.0")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s:%d", host, b.Port)
}

func (b bind) owner() string {
	if b.resource == nil {
		return b.Owner
	}
	return fmt.Sprintf("the %s %s (%s)", b.resource.Kind, quote(b.resource.Name), b.resource.place())
}

// Overlaps tells whether two sockets may be the same to the kernel. What address a name has is not looked up: a name overlaps with
// all addresses and with itself, and localhost with the loopback addresses.
func (s Socket) Overlaps(t Socket) bool {
	switch {
	case s.Port != t.Port:
		return false
	case s.everywhere() || t.everywhere():
		return true
	case s.Addr.IsValid() && t.Addr.IsValid():
		return s.Addr.Unmap() == t.Addr.Unmap()
	case s.Addr.IsValid():
		return t.loopback() && loopbacks(s.Addr)
	case t.Addr.IsValid():
		return s.loopback() && loopbacks(t.Addr)
	default:
		return strings.EqualFold(s.Host, t.Host)
	}
}

// apart tells whether two sockets of routers are of different families: one of all IPv6 addresses leaves the IPv4 ones alone there
// (qpid-proton, epoll.c: IPV6_V6ONLY).
func (s Socket) apart(t Socket) bool {
	return s.Addr.IsValid() && t.Addr.IsValid() && s.Addr.Unmap().Is4() != t.Addr.Unmap().Is4()
}

// everywhere tells whether the socket is on all addresses. One of all IPv6 addresses takes the IPv4 ones with it.
func (s Socket) everywhere() bool {
	if s.Addr.IsValid() {
		return s.Addr.Unmap().IsUnspecified()
	}
	return s.Host == ""
}

func (s Socket) loopback() bool { return strings.EqualFold(s.Host, "localhost") }

// loopbacks tells whether localhost is addr.
func loopbacks(addr netip.Addr) bool {
	return addr.Unmap() == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback()
}
