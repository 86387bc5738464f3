package hooks

import (
	"testing"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/state"
)

// TestRouterImage has each policy decide between an image that a router has and the configured one.
func TestRouterImage(t *testing.T) {
	const r = "quay.io/skupper/skupper-router"
	for _, c := range []struct {
		upgrade              config.Upgrade
		has, configured, now string
	}{
		{config.Newer, "", "", config.DefaultRouterImage},
		{config.Newer, "", r + ":2.0", r + ":2.0"},
		{config.Never, "", r + ":2.0", r + ":2.0"},
		{config.Never, r + ":2.0", r + ":2.1", r + ":2.0"},
		{config.Never, r + ":2.0", "", r + ":2.0"},
		{config.Always, r + ":2.1", r + ":2.0", r + ":2.0"},
		{config.Newer, r + ":2.0.0", r + ":2.1.0", r + ":2.1.0"},
		{config.Newer, r + ":2.1.0", r + ":2.0.9", r + ":2.1.0"},
		{config.Newer, r + ":v2.1", r + ":2.0.9", r + ":v2.1"},
		{config.Newer, r + ":2.9.0", r + ":2.10.0", r + ":2.10.0"},
		{config.Newer, r + ":2.1.0", r + ":2.1.0-rc1", r + ":2.1.0"},
		{config.Newer, r + ":2.1.0-rc1", r + ":2.1.0", r + ":2.1.0"},
		{config.Newer, r + ":2.1.0-rc2", r + ":2.1.0-rc10", r + ":2.1.0-rc10"},
		{config.Newer, r + ":2.1.0-rc2", r + ":2.1.0-rc1", r + ":2.1.0-rc2"},
		{config.Newer, r + ":2.1.0-alpha2", r + ":2.1.0-beta1", r + ":2.1.0-beta1"},
		{config.Newer, r + ":2.1.0", "other.example/router:1.0", "other.example/router:1.0"},
		{config.Newer, "host:5000/router:2.1", "host:5000/router:2.0", "host:5000/router:2.1"},
		{config.Newer, "host:5000/router", "host:5000/router:2.0", "host:5000/router:2.0"},
		{config.Newer, r + ":main", r + ":2.0", r + ":2.0"},
		{config.Newer, r + ":2.1", r + ":main", r + ":main"},
		{config.Newer, r + "@sha256:0123", r + "@sha256:4567", r + "@sha256:4567"},
	} {
		old := &state.Router{Image: c.has}
		if c.has == "" {
			old = nil
		}
		if got := routerImage(config.Router{Image: c.configured, Upgrade: c.upgrade}, old); got != c.now {
			t.Errorf("%v: from %q, with %q configured: %q, want %q", c.upgrade, c.has, c.configured, got, c.now)
		}
	}
}
