package doctor

import "fmt"

// fullFrom is the share of the file system from which on a pull may well not fit.
const fullFrom = 90

func checkStorage(info podmanInfo) []Finding {
	const check = "storage"
	if info.err != nil {
		return unknown(check, errNoPodman)
	}
	s := info.Store
	if s.GraphRootAllocated == 0 {
		return one(check, Note, "Podman does not say how full "+s.GraphRoot+" is", "")
	}
	percent := int(100 * float64(s.GraphRootUsed) / float64(s.GraphRootAllocated))
	message := fmt.Sprintf("the file system of %s, with images and containers, is %d %% full", s.GraphRoot, percent)
	if percent < fullFrom {
		return one(check, OK, message, "")
	}
	return one(check, Warning, message, "Make room there. `podman system df` shows what takes it, `podman image prune` removes images that have no name any more.")
}
