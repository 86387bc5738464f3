package e2e

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// newRandom returns what draws moments and steps: the same ones in every run, unless SITELET_SEED is a number, or "random". So what
// fails is the change under test, and a search for more is made on request.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	switch text := os.Getenv("SITELET_SEED"); text {
	case "":
	case "random":
		seed = rand.Uint64()
	default:
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SITELET_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
