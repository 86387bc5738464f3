package pki

import (
	"crypto/rand"
	"testing"
)

// BenchmarkUnchanged is what each reload pays for certificates that are right.
func BenchmarkUnchanged(b *testing.B) {
	dir := b.TempDir()
	wants := siteWants(Input{LocalPort: 5671})
	if _, err := Ensure(dir, wants, now, rand.Reader); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Ensure(dir, wants, now, rand.Reader); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirst is a new site with one RouterAccess: seven keys.
func BenchmarkFirst(b *testing.B) {
	wants := siteWants(Input{LocalPort: 5671})
	for b.Loop() {
		if _, err := Ensure(b.TempDir(), wants, now, rand.Reader); err != nil {
			b.Fatal(err)
		}
	}
}
