package pki

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/site"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// pool holds a few keys that tests take in turn: making one for each certificate would take most of their time.
var pool = sync.OnceValue(func() []*rsa.PrivateKey {
	keys := make([]*rsa.PrivateKey, 8)
	var wait sync.WaitGroup
	for i := range keys {
		wait.Go(func() { keys[i], _ = rsa.GenerateKey(rand.Reader, 2048) })
	}
	wait.Wait()
	return keys
})

var taken atomic.Int32

func fromPool(io.Reader) (*rsa.PrivateKey, error) {
	return pool()[int(taken.Add(1))%len(pool())], nil
}

func makerAt(t time.Time) maker { return maker{now: t, random: rand.Reader, key: fromPool} }

// testCA and testLeaf make certificates as a user's, valid for life from a time.
func testCA(t *testing.T, name string, from time.Time) Bundle {
	t.Helper()
	b, err := makerAt(from).authority(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testLeaf(t *testing.T, name string, ca Bundle, from time.Time, hosts ...string) Bundle {
	t.Helper()
	a, err := readAuthority(ca)
	if err != nil {
		t.Fatal(err)
	}
	b, err := makerAt(from).identity(name, hosts, a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parseOne(t *testing.T, data []byte) *x509.Certificate {
	t.Helper()
	certs, err := parseCertificates(data)
	if err != nil {
		t.Fatal(err)
	}
	return certs[0]
}

func resource(kind, name string) *site.Resource {
	return &site.Resource{Kind: kind, Name: name, File: "input/resources/" + name + ".yaml", Line: 3, Column: 9}
}

func secret(name string, b Bundle) site.Secret {
	s := site.Secret{Resource: resource("Secret", name)}
	for _, f := range b.files() {
		if len(*f.data) > 0 {
			s.Data = append(s.Data, site.Item{Key: f.name, Value: *f.data})
		}
	}
	return s
}

func access(name string, names ...string) site.RouterAccess {
	return site.RouterAccess{Resource: resource("RouterAccess", name), TLSCredentials: name, Names: names,
		Roles: []site.Role{{Name: "inter-router", Port: 55671}}}
}

func bare() *site.Resources {
	return &site.Resources{Namespace: "ns1", Site: &site.Site{Resource: resource("Site", "s")}}
}

func ensureAt(t *testing.T, dir string, wants []Want, at time.Time) (changed []string) {
	t.Helper()
	changed, err := ensuring{store: store{dir: dir}, maker: makerAt(at)}.run(wants)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// stored tells what dir has of what is wanted.
func stored(t *testing.T, dir string, wants []Want) []Profile {
	t.Helper()
	var profiles []Profile
	for _, w := range wants {
		if b := load(t, dir, "certs/"+w.Name); w.Kind != Authority && !b.empty() {
			profiles = append(profiles, b.profile(w.Name))
		}
	}
	slices.SortFunc(profiles, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	return profiles
}

func load(t *testing.T, dir, name string) Bundle {
	t.Helper()
	var b Bundle
	for _, f := range b.files() {
		*f.data, _ = os.ReadFile(filepath.Join(dir, name, f.name))
	}
	return b
}

func given(name string, b Bundle) Given {
	return Given{Name: name, Dir: "input/certs/" + name, Bundle: b}
}
