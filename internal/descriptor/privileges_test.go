package descriptor

import (
	"slices"
	"testing"
)

func TestCapabilities(t *testing.T) {
	if len(capabilities) != 41 || !slices.IsSorted(capabilities) || len(slices.Compact(slices.Clone(capabilities))) != 41 {
		t.Errorf("want 41 different names in order, got %d", len(capabilities))
	}
}
