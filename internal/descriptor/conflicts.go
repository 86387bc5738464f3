package descriptor

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/sitelet/sitelet/internal/diag"
)

// claim is the wish of one port mapping for one host port out of low to high.
type claim struct {
	owner     *Container
	index     int // in owner.Ports
	low, high int
	addr      netip.Addr
	lost      bool // part of a conflict that was reported
}

// checkPorts finds mappings that cannot all get a host port of their own. A mapping takes one port on one address, or
// on all addresses of its family. So for each address, those that take it must fit side by side.
func (s *set) checkPorts() {
	type network struct {
		proto string
		six   bool
	}
	claims := make(map[network][]*claim)
	for _, c := range s.good {
		for i, p := range c.Ports {
			n := network{p.Proto, p.HostIP.Is6()}
			claims[n] = append(claims[n], &claim{owner: c, index: i, low: int(p.HostPort), high: int(p.HostPortEnd), addr: p.HostIP})
		}
	}
	for n, all := range claims {
		slices.SortStableFunc(all, func(a, b *claim) int { return cmp.Or(a.low-b.low, a.high-b.high) })
		for _, addr := range addresses(all) {
			var here []*claim
			for _, c := range all {
				if c.addr == addr || c.addr.IsUnspecified() {
					here = append(here, c)
				}
			}
			for _, group := range overbooked(here) {
				s.reportConflict(n.proto, group)
			}
		}
	}
}

// addresses returns the different addresses of claims in order. The one that stands for all is the lowest.
func addresses(claims []*claim) []netip.Addr {
	var list []netip.Addr
	for _, c := range claims {
		list = append(list, c.addr)
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return slices.Compact(list)
}

// overbooked returns the groups of claims, which come by their low ends, that are more than the ports they may have,
// and marks them lost. By Hall's theorem, whose sets of ports need only be intervals here, all others can be given
// different ports.
func overbooked(claims []*claim) (groups [][]*claim) {
	for start := 0; start < len(claims); {
		end, high := start+1, claims[start].high
		for end < len(claims) && claims[end].low <= high {
			high = max(high, claims[end].high)
			end++
		}
		if end-start > 1 {
			groups = append(groups, overbookedWithin(claims[start:end])...)
		}
		start = end
	}
	return groups
}

// overbookedWithin is overbooked for claims that overlap one another in a chain.
func overbookedWithin(claims []*claim) (groups [][]*claim) {
	var highs []int
	for _, c := range claims {
		highs = append(highs, c.high)
	}
	slices.Sort(highs)
	for _, high := range slices.Compact(highs) {
		var within []*claim
		for _, c := range claims {
			if !c.lost && c.high <= high {
				within = append(within, c)
			}
		}
		for i := len(within) - 1; i >= 0; i-- {
			low := within[i].low
			if i > 0 && within[i-1].low == low || len(within)-i <= high-low+1 {
				continue
			}
			for _, c := range within[i:] {
				c.lost = true
			}
			groups = append(groups, within[i:])
			within = within[:i]
		}
	}
	return groups
}

// reportConflict reports a group of claims at each of them.
func (s *set) reportConflict(proto string, group []*claim) {
	low, high := group[0].low, group[0].high
	for _, c := range group {
		low, high = min(low, c.low), max(high, c.high)
	}
	for i, c := range group {
		others := othersOf(group, i)
		message := fmt.Sprintf("host port %d/%s is also taken by %s", low, proto, others)
		if low < high {
			message = fmt.Sprintf("%d mappings want one each of the %d host ports %d-%d/%s, the others are %s", len(group), high-low+1, low, high, proto, others)
		}
		s.fail(c.owner, c.owner.PortsAt[c.index], fmt.Sprintf("host_config.port_mappings[%d]", c.index), message, "Write other ports, or host_ip addresses that differ.")
	}
}

// othersOf names the claims of group without the i-th, a few of them if there are many.
func othersOf(group []*claim, i int) string {
	const most = 3
	var others []string
	for j, c := range group {
		if j != i && len(others) < most {
			others = append(others, quote(c.owner.Name)+" ("+place(c.owner.Source, c.owner.PortsAt[c.index])+")")
		}
	}
	if more := len(group) - 1 - len(others); more > 0 {
		others = append(others, fmt.Sprintf("%d more", more))
	}
	return diag.AllOf(others)
}
