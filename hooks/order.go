package hooks

import (
	"slices"
	"strings"
	"sync"

	"github.com/sitelet/sitelet/internal/plan"
)

// atOnce is how many workloads are worked on side by side: enough to hide waiting, too few to starve what runs.
const atOnce = 4

// inTurns calls do for 0 to n-1, atOnce at a time.
func inTurns(n int, do func(i int)) {
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wait.Wait()
}

// waves orders the pending actions so that each comes after those that it is started after.
func waves(p Planned) [][]plan.Action {
	left := slices.DeleteFunc(slices.Clone(p.Actions), func(a plan.Action) bool { return !a.Pending() })
	after := map[string][]string{}
	for _, r := range p.rendered {
		for _, in := range r.Inputs {
			if in.Field == "sitelet.after" || in.Field == "sitelet.requires" {
				after[r.Name] = append(after[r.Name], strings.FieldsFunc(in.Value, func(c rune) bool { return strings.ContainsRune(`[]",`, c) })...)
			}
		}
	}
	var out [][]plan.Action
	for len(left) > 0 {
		waits := func(a plan.Action) bool {
			return slices.ContainsFunc(left, func(b plan.Action) bool { return b.Name != a.Name && slices.Contains(after[a.Name], b.Name) })
		}
		wave := slices.DeleteFunc(slices.Clone(left), waits)
		if len(wave) == 0 { // a circle that CheckSet would have refused
			wave = left
		}
		left = slices.DeleteFunc(left, func(a plan.Action) bool {
			return slices.ContainsFunc(wave, func(b plan.Action) bool { return b.Name == a.Name })
		})
		out = append(out, wave)
	}
	return out
}
