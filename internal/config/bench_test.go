package config

import (
	"testing"

	"github.com/sitelet/sitelet/internal/paths"
)

// The generator loads the configuration at each daemon-reload, mostly where there is none.
func BenchmarkLoadNothing(b *testing.B) {
	p, err := paths.New(paths.System, b.TempDir(), func(string) string { return "" })
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Load(p)
	}
}
