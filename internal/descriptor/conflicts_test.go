package descriptor

import (
	"net/netip"
	"slices"
	"testing"
)

func TestOverbooked(t *testing.T) {
	for seed := range 3000 {
		var claims []*claim
		n := seed
		next := func(below int) int { n = n*1103515245 + 12345; return (n >> 16 & 0x7fff) % below }
		for range 1 + next(6) {
			low := 1 + next(5)
			claims = append(claims, &claim{low: low, high: low + next(3), addr: netip.IPv4Unspecified()})
		}
		slices.SortStableFunc(claims, func(a, b *claim) int { return 10*(a.low-b.low) + a.high - b.high })
		fits := assignable(claims, map[int]bool{})
		groups := overbooked(claims)
		if fits != (len(groups) == 0) {
			t.Fatalf("seed %d: assignable %v, groups %v", seed, fits, groups)
		}
		for _, g := range groups {
			if assignable(g, map[int]bool{}) {
				t.Fatalf("seed %d: this group fits: %v", seed, g)
			}
		}
		rest := slices.DeleteFunc(claims, func(c *claim) bool { return c.lost })
		if !assignable(rest, map[int]bool{}) {
			t.Fatalf("seed %d: what is left does not fit", seed)
		}
	}
}

func assignable(claims []*claim, used map[int]bool) bool {
	if len(claims) == 0 {
		return true
	}
	for port := claims[0].low; port <= claims[0].high; port++ {
		if !used[port] {
			used[port] = true
			if assignable(claims[1:], used) {
				used[port] = false
				return true
			}
			used[port] = false
		}
	}
	return false
}
