package router

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/site"
)

// step takes a running router to a site's configuration, and returns what was asked of it.
func (m *model) step(t *testing.T, r *site.Resources, profiles []Profile) []string {
	t.Helper()
	want := Config(r, testID, append(profiles, Profile{localServer, true, true, true}), nil)
	requests := Diff(want, m.report(), nil)
	if err := m.askAll(requests); err != nil {
		t.Fatal(err)
	}
	if again := Diff(want, m.report(), nil); len(again) > 0 {
		t.Fatalf("asked again: %v", again)
	}
	if restart := NeedsRestart(want, m.report()); len(restart) > 0 {
		t.Fatalf("to be restarted for %v", restart)
	}
	var told []string
	for _, r := range requests {
		told = append(told, r.String())
	}
	return told
}

func started(t *testing.T, r *site.Resources, profiles []Profile) *model {
	t.Helper()
	m, err := start(Config(r, testID, append(profiles, Profile{localServer, true, true, true}), nil))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests differ (-want +got):\n%s", diff)
	}
}

// TestRefresh has what upstream gets wrong when a running site changes: it moves ports, renames the router, makes certificates
// anew, loses links of tokens, leaves behind what is deleted, and stops at the first profile that lacks a file.
func TestRefresh(t *testing.T) {
	full := []Profile{{"ra", true, true, true}, {"x-profile", true, true, true}, {"y", true, true, true}}
	r := sited(func(r *site.Resources) {
		r.RouterAccesses = []site.RouterAccess{{Resource: resource("RouterAccess", "ra"), Roles: []site.Role{{Name: "inter-router", Port: 55673}}}}
		r.Links = []site.Link{{Resource: resource("Link", "of-a-token"), TLSCredentials: "x", Endpoints: endpoints}}
		r.Listeners = []site.Listener{{Resource: resource("Listener", "a"), Host: "0.0.0.0", Port: 8080, RoutingKey: "a", TLSCredentials: "y"}}
	})
	m := started(t, r, full)
	check(t, m.step(t, r, full))

	r.Listeners = append(r.Listeners, site.Listener{Resource: resource("Listener", "b"), Host: "0.0.0.0", Port: 8081, RoutingKey: "b"})
	check(t, m.step(t, r, full), "create tcpListener listener/b")
	if port := m.find("ra-inter-router").Get("port"); port != "55673" {
		t.Errorf("the port moved to %v", port)
	}

	r.Connectors = []site.Connector{{Resource: resource("Connector", "c"), Host: "h", Port: 1, TLSCredentials: "z"}, {Resource: resource("Connector", "d"), Host: "h", Port: 2}}
	check(t, m.step(t, r, full), "create tcpConnector connector/d@h")
	withCA := append(slices.Clone(full), Profile{Name: "z-profile", CA: true})
	check(t, m.step(t, r, withCA), "create sslProfile z-profile", "create tcpConnector connector/c@h")

	r.Listeners = r.Listeners[1:]
	check(t, m.step(t, r, withCA), "delete tcpListener listener/a", "delete sslProfile y")
	for _, e := range m.entities {
		if strings.HasSuffix(e.Name, "/a") || e.Name == "y" {
			t.Errorf("%s %s is left behind", e.Type, e.Name)
		}
	}
}

// TestLinkBeforeItsSecret has files arrive one by one, in the worst order.
func TestLinkBeforeItsSecret(t *testing.T) {
	r := sited(func(*site.Resources) {})
	m := started(t, r, nil)
	r.Links = []site.Link{{Resource: resource("Link", "w"), TLSCredentials: "x", Endpoints: endpoints}}
	check(t, m.step(t, r, nil))
	check(t, m.step(t, r, []Profile{{Name: "x-profile"}}))
	check(t, m.step(t, r, []Profile{{Name: "x-profile", CA: true}}), "create sslProfile x-profile", "create connector w")
	check(t, m.step(t, r, []Profile{{"x-profile", true, true, true}}), "update sslProfile x-profile")
}

// TestDefaultPorts has a RouterAccess whose ports nobody gave or allocated.
func TestDefaultPorts(t *testing.T) {
	config := Config(parsed(t, "testdata/04-routeraccess-noports/input.yaml"))
	for name, port := range map[string]int{"ra-inter-router": 55671, "ra-edge": 45671} {
		if !slices.ContainsFunc(config, func(e Entity) bool { return e.Name == name && e.Get("port") == port }) {
			t.Errorf("%s has not port %d", name, port)
		}
	}
}

// TestRotate has certificates that changed twice under one name, and the connections of the old ones let go in between.
func TestRotate(t *testing.T) {
	r, _, profiles, _ := parsed(t, "testdata/08-link-interior/input.yaml")
	want := Config(r, testID, profiles, nil)
	m, err := start(want)
	if err != nil {
		t.Fatal(err)
	}
	link := m.find("x").born
	for _, requests := range []func() []Request{
		func() []Request { return Diff(want, m.report(), []string{"x-profile"}) },
		func() []Request { return Retire(m.report(), []string{"x-profile"}) },
		func() []Request { return Diff(want, m.report(), []string{"x-profile"}) },
	} {
		if err := m.askAll(requests()); err != nil {
			t.Fatal(err)
		}
		if again := Diff(want, m.report(), nil); len(again) > 0 {
			t.Errorf("asked again: %v", again)
		}
	}
	p := m.find("x-profile")
	if p.Get("ordinal") != 2 || p.Get("oldestValidOrdinal") != 1 {
		t.Errorf("ordinal %v, the oldest that is valid %v", p.Get("ordinal"), p.Get("oldestValidOrdinal"))
	}
	if m.find("x").born != link {
		t.Error("the link was made anew")
	}
	check(t, shown(Retire(m.report(), []string{"x-profile", "none"})), "update sslProfile x-profile oldestValidOrdinal=2")
	if err := m.askAll(Retire(m.report(), []string{"x-profile"})); err != nil {
		t.Fatal(err)
	}
	if again := Retire(m.report(), []string{"x-profile"}); len(again) > 0 {
		t.Errorf("asked again: %v", again)
	}
}
