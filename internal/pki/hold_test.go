package pki

import (
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// TestHold has the user's certificate of running resources turn bad. They go on with what is in use, where that is what they need.
func TestHold(t *testing.T) {
	const text = `
apiVersion: skupper.io/v2alpha1
kind: Site
metadata: {name: s}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: a}
spec: {host: h, port: 1, routingKey: k, tlsCredentials: x}
---
apiVersion: skupper.io/v2alpha1
kind: Connector
metadata: {name: c}
spec: {host: h, port: 1, routingKey: k, tlsCredentials: x}
`
	ca := testCA(t, "corp", now)
	good := testLeaf(t, "x", ca, now)
	bad := Bundle{CA: good.CA, Cert: good.Cert, Key: []byte("nonsense")}
	old := testLeaf(t, "x", testCA(t, "corp", now.Add(-6*year)), now.Add(-6*year))
	trust := Given{Name: "x-profile", Bundle: Bundle{CA: ca.CA}}
	files := []source.File{{Path: "f.yaml", Data: []byte(text)}}
	var last []site.Last
	for _, r := range site.Parse("ns1", files, site.Env{}).All {
		last = append(last, site.Last{Kind: r.Kind, Name: r.Name, File: r.File, Document: r.Document})
	}
	for _, c := range []struct {
		name     string
		last     []site.Last
		inUse    []Given
		used     string // what can be used of the three
		profiles []Profile
	}{
		{"all in use", last, []Given{{Name: "x", Bundle: good}, trust}, "a c", []Profile{{"x", true, true, true}, {Name: "x-profile", CA: true}}},
		{"never good", nil, []Given{{Name: "x", Bundle: good}, trust}, "", nil},
		{"nothing in use", last, nil, "", nil},
		{"no longer valid", last, []Given{{Name: "x", Bundle: old}, trust}, "", nil},
		{"without a key", last, []Given{{Name: "x", Bundle: Bundle{CA: good.CA}}, trust}, "c", []Profile{{Name: "x", CA: true}, {Name: "x-profile", CA: true}}},
		{"the CA is not in use", last, []Given{{Name: "x", Bundle: good}}, "a", []Profile{{"x", true, true, true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := site.Parse("ns1", files, site.Env{Last: c.last})
			in := Input{Certs: []Given{given("x", bad)}, InUse: c.inUse}
			wants := Wanted(r, in, now)
			var used []string
			for _, l := range r.Listeners {
				used = append(used, l.Name)
			}
			for _, n := range r.Connectors {
				used = append(used, n.Name)
			}
			if strings.Join(used, " ") != c.used {
				t.Errorf("%v can be used, want %s\n%s", used, c.used, said(r))
			}
			profiles := slices.DeleteFunc(Profiles(wants), func(p Profile) bool { return !strings.HasPrefix(p.Name, "x") })
			if !slices.Equal(profiles, c.profiles) {
				t.Errorf("profiles %v, want %v", profiles, c.profiles)
			}
			if n := strings.Count(said(r), "holds no private key in PEM form"); n != 2 {
				t.Errorf("said %d times: %s", n, said(r))
			}
			// Again, as after a port has been found to be taken: nothing is said twice.
			before := said(r)
			if Wanted(r, in, now); said(r) != before {
				t.Errorf("said twice: %s", said(r))
			}
		})
	}
}
