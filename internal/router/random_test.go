package router

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/site"
)

var testID = Identity{RouterID: "s-1", SiteID: "970d6826-86ef-4561-b5d2-367bb3ae4e6a", Namespace: "ns1", Platform: "podman",
	Version: "undefined", Base: BaseVariable, LocalPort: 5671}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// names returns some of a few names, so that two random sites have much in common.
func names(r *rand.Rand) []string {
	all := []string{"a", "b", "c", "d"}
	return slices.DeleteFunc(all, func(string) bool { return r.IntN(3) == 0 })
}

func resource(kind, name string) *site.Resource { return &site.Resource{Kind: kind, Name: name} }

// randomSite returns a site of all kinds of resources, and most of the certificates that they name.
func randomSite(r *rand.Rand, edge bool) (*site.Resources, []Profile, []Proxy) {
	s := &site.Resources{Site: &site.Site{Resource: resource("Site", "s"), Edge: edge}}
	s.Site.LogLevels = pick(r, nil, []string{"debug"}, []string{"info", "PROTOCOL:trace"}, []string{"ROUTER_CORE:notice+", "HTTP:critical"})
	creds := func() string { return pick(r, "", "", "x", "y", "z") }
	for _, n := range names(r) {
		s.Listeners = append(s.Listeners, site.Listener{Resource: resource("Listener", n), RoutingKey: pick(r, "k", "l"),
			Host: pick(r, "0.0.0.0", "127.0.0.1"), Port: uint16(8000 + r.IntN(3)), TLSCredentials: creds(), Observer: pick(r, "", "auto", "none", "http1")})
	}
	for _, n := range names(r) {
		s.Connectors = append(s.Connectors, site.Connector{Resource: resource("Connector", n), RoutingKey: pick(r, "k", "l"),
			Host: pick(r, "db", "127.0.0.1"), Port: uint16(5432 + r.IntN(2)), TLSCredentials: creds(), UseClientCert: r.IntN(2) == 0, VerifyHostname: r.IntN(2) == 0})
	}
	for _, n := range names(r) {
		m := site.MultiKeyListener{Resource: resource("MultiKeyListener", n), Host: pick(r, "::1", "::"), Port: uint16(9000 + r.IntN(2)),
			Strategy: pick(r, "priority", "weighted"), TLSCredentials: creds(), RequireClientCert: r.IntN(2) == 0, Observer: pick(r, "", "http2")}
		for i, key := range names(r) {
			m.Keys = append(m.Keys, site.KeyValue{Key: key, Value: i + r.IntN(2)})
		}
		s.MultiKeyListeners = append(s.MultiKeyListeners, m)
	}
	for _, n := range names(r) {
		s.Links = append(s.Links, site.Link{Resource: resource("Link", "link-"+n), TLSCredentials: pick(r, "x", "y"), Cost: r.IntN(3),
			Proxy: pick(r, "", "", "prox", "dull"), Endpoints: []site.Endpoint{{Name: "inter-router", Host: pick(r, "h", "i"), Port: "55671"}, {Name: "edge", Host: "h", Port: "45671"}}})
	}
	for _, n := range names(r) {
		s.RouterAccesses = append(s.RouterAccesses, site.RouterAccess{Resource: resource("RouterAccess", "ra-"+n), BindHost: pick(r, "", "127.0.0.1"),
			TLSCredentials: pick(r, "", "x"), Roles: pick(r, []site.Role{{Name: "edge"}}, []site.Role{{Name: "edge", Port: 1}, {Name: "inter-router", Port: 2}})})
	}
	profiles := []Profile{{localServer, true, true, true}}
	for _, n := range []string{"x", "y", "z", "ra-a", "ra-b", "x-profile", "y-profile", "z-profile"} {
		if r.IntN(6) > 0 {
			bare := r.IntN(4) == 0
			profiles = append(profiles, Profile{n, r.IntN(8) > 0, !bare, !bare})
		}
	}
	proxies := []Proxy{{"prox", pick(r, "p", "q"), "3128", pick(r, "", "u"), r.IntN(2) == 0}}
	return s, profiles, proxies
}

// others are entities of a running router that are nobody's business here.
var others = []Entity{
	{"sslProfile", "mesh", []Attribute{{"caCertFile", "/mesh/ca.crt"}}},
	{"connector", "auto-mesh1", []Attribute{{"host", "10.0.0.9"}, {"port", "55671"}, {"sslProfile", "mesh"}}},
	{"listener", "amqp", []Attribute{{"host", "localhost"}, {"port", 5672}}},
	{"listener", "@9090", []Attribute{{"port", 9090}, {"http", true}}},
}

func randomConfig(r *rand.Rand, edge bool) []Entity {
	s, profiles, proxies := randomSite(r, edge)
	return Config(s, testID, profiles, proxies)
}

// TestDiffArrives takes a router from one random site to the next. Each time the router takes every request, has then what a router
// started afresh has, and is asked nothing more; what did not change is not touched; and no request can be spared.
func TestDiffArrives(t *testing.T) {
	asked := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		edge := seed%8 == 0
		m, err := start(slices.Concat(randomConfig(r, edge), others))
		if err != nil {
			t.Fatalf("seed %d: the router would not start: %v", seed, err)
		}
		for range 3 {
			want, before := randomConfig(r, edge), m.clone()
			requests := Diff(want, m.report(), pick(r, nil, []string{"x", "y-profile"}))
			asked += len(requests)
			if err := m.askAll(requests); err != nil {
				t.Fatalf("seed %d: %v\n%v", seed, err, requests)
			}
			if again := Diff(want, m.report(), nil); len(again) > 0 {
				t.Fatalf("seed %d: asked again: %v", seed, again)
			}
			fresh, err := start(slices.Concat(want, others))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if diff := cmp.Diff(fresh.state(), m.state()); diff != "" {
				t.Fatalf("seed %d: not as a fresh router (-fresh +changed):\n%s", seed, diff)
			}
			checkUntouched(t, seed, before, m)
			checkNeeded(t, seed, want, before, requests)
		}
	}
	if asked < 2000 {
		t.Errorf("only %d requests: the sites are too much alike", asked)
	}
}

// checkUntouched finds entities that were made anew though they are what they were. Those that a listener takes along with it, a
// listenerAddress is told by, are made anew with it.
func checkUntouched(t *testing.T, seed uint64, before, after *model) {
	t.Helper()
	old, now := before.state(), after.state()
	for _, e := range before.entities {
		name := e.Type + " " + e.Name
		same := after.find(e.Name)
		if same == nil || old[name] != now[name] || same.born == e.born {
			continue
		}
		if listener, ok := e.Get("listener").(string); ok && before.find(listener).born != after.find(listener).born {
			continue
		}
		t.Fatalf("seed %d: %s was replaced for nothing", seed, name)
	}
}

// checkNeeded leaves out each request in turn: something must be missing then, or refused.
func checkNeeded(t *testing.T, seed uint64, want []Entity, before *model, requests []Request) {
	t.Helper()
	for i, spared := range requests {
		if attributes := spared.Entity.Attributes; len(attributes) == 1 && attributes[0].Name == "ordinal" {
			continue // what it is for cannot be seen
		}
		m := before.clone()
		err := m.askAll(slices.Delete(slices.Clone(requests), i, i+1))
		if err == nil && len(Diff(want, m.report(), nil)) == 0 {
			t.Fatalf("seed %d: %q is not needed", seed, spared)
		}
	}
}
