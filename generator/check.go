package generator

import (
	"runtime"
	"sync"

	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/diag"
)

// Check parses the descriptors and returns the containers that may run, with all findings about the inputs.
func (in Inputs) Check() ([]*descriptor.Container, diag.List) {
	parsed := make([]*descriptor.Container, len(in.Files))
	findings := make([]diag.List, len(in.Files))
	inParallel(len(in.Files), func(i int) {
		parsed[i], findings[i] = descriptor.Parse(descriptor.File(in.Files[i]))
	})
	found := in.Found[:len(in.Found):len(in.Found)]
	var good []*descriptor.Container
	var refused []descriptor.Refused
	for i, c := range parsed {
		found = append(found, findings[i]...)
		if c != nil {
			good = append(good, c)
		} else if r, ok := descriptor.NameOf(descriptor.File(in.Files[i])); ok {
			refused = append(refused, r)
		}
	}
	set, more := descriptor.CheckSet(good, refused, in.takenBy())
	return set, append(found, more...)
}

// inParallel calls do for 0 to n-1, on all processors where there is enough to do for them.
func inParallel(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), 1+n/64)
	if workers == 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wait.Wait()
}
