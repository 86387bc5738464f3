package hooks

import "testing"

// TestReloading wants a reload to be seen while it has its lock; the lock's file stays.
func TestReloading(t *testing.T) {
	h := newHooks(t, &memory{})
	expect := func(when string, want bool) {
		if got := h.Reloading(); got != want {
			t.Errorf("%s: got %v", when, got)
		}
	}
	expect("before", false)
	unlock, err := h.lock("reload", nil)
	if err != nil {
		t.Fatal(err)
	}
	expect("during", true)
	unlock()
	expect("after", false)
}
