package management

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelet/sitelet/internal/router"
)

// steps are states that a router is to be in, one after the other: each kind of entity added, changed and taken away, alone and
// with others.
func steps(t *testing.T, s *site) [][]router.Entity {
	entity := func(kind, name string, pairs ...any) router.Entity {
		return router.Entity{Type: kind, Name: name, Attributes: attributes(pairs...)}
	}
	p := make([]string, 6)
	for i := range p {
		p[i] = freePort(t)
	}
	a, b := s.profile("a"), s.profile("b")
	onlyCA := entity("sslProfile", "b", "caCertFile", filepath.Join(s.dir, "certs", "b", "ca.crt"))
	listener := func(pairs ...any) router.Entity {
		return entity("tcpListener", "listener/l", append([]any{"host", "127.0.0.1", "address", "db"}, pairs...)...)
	}
	connector := func(pairs ...any) router.Entity {
		return entity("tcpConnector", "connector/c@127.0.0.1", append([]any{"host", "127.0.0.1", "address", "db"}, pairs...)...)
	}
	link := func(pairs ...any) router.Entity {
		return entity("connector", "link", append([]any{"role", "inter-router", "host", "127.0.0.1", "port", p[5]}, pairs...)...)
	}
	access := func(pairs ...any) router.Entity {
		return entity("listener", "go-inter-router", append([]any{"role", "inter-router", "host", "127.0.0.1", "saslMechanisms", "EXTERNAL", "authenticatePeer", true}, pairs...)...)
	}
	multi := func(strategy string) router.Entity {
		return entity("tcpListener", "multiAddress/m", "host", "127.0.0.1", "port", p[2], "multiAddressStrategy", strategy)
	}
	key := func(address string, value int) router.Entity {
		return entity("listenerAddress", "m/"+address, "address", address, "value", value, "listener", "multiAddress/m")
	}
	proxy := func(port string) router.Entity {
		return entity("proxyProfile", "proxy", "host", "127.0.0.1", "port", port)
	}
	log := func(level string) router.Entity { return entity("log", "", "module", "ROUTER_CORE", "enable", level) }
	mc := entity("address", "", "prefix", "mc", "distribution", "multicast")
	return [][]router.Entity{
		{listener("port", p[0])},
		{listener("port", p[0], "observer", "http1")},
		{listener("port", p[1])},
		{listener("port", p[1]), connector("port", "1")},
		{connector("port", "2")},
		{connector("port", "2"), multi("priority"), key("db", 1), key("other", 0)},
		{connector("port", "2"), multi("priority"), key("db", 0), key("third", 1)},
		{connector("port", "2"), multi("weighted"), key("db", 5), key("third", 1)},
		{log("error+"), mc},
		{log("debug+")},
		{a, access("port", p[3], "sslProfile", "a")},
		{a, access("port", p[4], "sslProfile", "a"), link("cost", 1)},
		{a, b, link("cost", 3, "sslProfile", "b")},
		{onlyCA, link("cost", 3, "sslProfile", "b", "verifyHostname", false)},
		{proxy("3128"), link("proxyProfile", "proxy")},
		{proxy("3129"), link("proxyProfile", "proxy")},
		{a, listener("port", p[0], "sslProfile", "a", "authenticatePeer", true), connector("port", "2")},
		{a, b, listener("port", p[0], "sslProfile", "b"), connector("port", "2", "sslProfile", "a", "verifyHostname", false),
			multi("priority"), key("db", 1), access("port", p[3], "sslProfile", "a"), link("cost", 2, "sslProfile", "b"), log("info+"), mc},
		{b, listener("port", p[1], "sslProfile", "b", "observer", "none"), multi("weighted"), key("db", 2), mc},
		{},
	}
}

func TestChanges(t *testing.T) {
	s := newSite(t)
	for i, step := range steps(t, s) {
		want := append(slices.Clone(s.fixed), step...)
		if failures := Apply(t.Context(), s.client, router.Diff(want, s.snapshot(), nil)); len(failures) > 0 {
			t.Fatalf("step %d: %v", i, failures)
		}
		have := s.snapshot()
		if again := router.Diff(want, have, nil); len(again) > 0 {
			t.Errorf("step %d: a second run asks for %v", i, again)
		}
		for _, e := range want {
			if !slices.ContainsFunc(have, func(h router.Entity) bool { return covers(h, e) }) {
				t.Errorf("step %d: the router has no %v; it has %v", i, e, have)
			}
		}
	}
}

// covers tells whether a router's entity is as wanted.
func covers(have, want router.Entity) bool {
	if have.Type != want.Type || want.Name != "" && have.Name != want.Name {
		return false
	}
	for _, a := range want.Attributes {
		if fmt.Sprint(have.Get(a.Name)) != fmt.Sprint(a.Value) {
			return false
		}
	}
	return true
}

// TestOneFailure has one request of many fail, for each of them in turn; the others must be done, and the next run must mend it.
func TestOneFailure(t *testing.T) {
	s := newSite(t)
	s.needFaults()
	p := []string{freePort(t), freePort(t), freePort(t)}
	last := s.fixed
	for _, step := range [][]router.Entity{
		{s.profile("a"),
			{Type: "tcpListener", Name: "x", Attributes: attributes("host", "127.0.0.1", "port", p[0], "address", "x", "sslProfile", "a")},
			{Type: "tcpListener", Name: "y", Attributes: attributes("host", "127.0.0.1", "port", p[1], "multiAddressStrategy", "priority")},
			{Type: "listenerAddress", Name: "y/x", Attributes: attributes("address", "x", "value", 0, "listener", "y")},
			{Type: "tcpConnector", Name: "z", Attributes: attributes("host", "127.0.0.1", "port", "1", "address", "x")},
			{Type: "log", Attributes: attributes("module", "SERVER", "enable", "error+")}},
		{s.profile("a"),
			{Type: "tcpListener", Name: "x", Attributes: attributes("host", "127.0.0.1", "port", p[0], "address", "x", "sslProfile", "a", "observer", "none")},
			{Type: "tcpListener", Name: "y", Attributes: attributes("host", "127.0.0.1", "port", p[2], "multiAddressStrategy", "priority")},
			{Type: "listenerAddress", Name: "y/x", Attributes: attributes("address", "x", "value", 0, "listener", "y")},
			{Type: "log", Attributes: attributes("module", "SERVER", "enable", "debug+")}},
	} {
		want := append(slices.Clone(s.fixed), step...)
		for _, request := range router.Diff(want, s.snapshot(), nil) {
			s.fail(fmt.Sprintf("%s %s %s 500 broken", request.Operation, request.Entity.Type, request.Entity.Name))
			failures := Apply(t.Context(), s.client, router.Diff(want, s.snapshot(), nil))
			s.fail("")
			if !slices.ContainsFunc(failures, func(f Failure) bool { return f.Request.String() == request.String() }) {
				t.Errorf("%v fails, but what is reported is %v", request, failures)
			}
			left := router.Diff(want, s.snapshot(), nil)
			if len(left) == 0 {
				t.Errorf("%v failed, but the next run would do nothing", request)
			}
			if failures := Apply(t.Context(), s.client, left); len(failures) > 0 {
				t.Errorf("after %v: the next run does not mend it: %v", request, failures)
			}
			if left := router.Diff(want, s.snapshot(), nil); len(left) > 0 {
				t.Errorf("after %v: the next run leaves %v", request, left)
			}
			if failures := Apply(t.Context(), s.client, router.Diff(last, s.snapshot(), nil)); len(failures) > 0 {
				t.Fatalf("after %v: no way back: %v", request, failures)
			}
		}
		if failures := Apply(t.Context(), s.client, router.Diff(want, s.snapshot(), nil)); len(failures) > 0 {
			t.Fatal(failures)
		}
		last = want
	}
}

// TestFailedUpdate: what a router could not take up is found again by the next comparison.
func TestFailedUpdate(t *testing.T) {
	s := newSite(t)
	profile := s.profile("a")
	want := append(slices.Clone(s.fixed), profile, router.Entity{Type: "listener", Name: "x", Attributes: attributes("role", "inter-router",
		"host", "127.0.0.1", "port", freePort(t), "sslProfile", "a")})
	if failures := Apply(t.Context(), s.client, router.Diff(want, s.snapshot(), nil)); len(failures) > 0 {
		t.Fatal(failures)
	}
	want[len(s.fixed)] = router.Entity{Type: "sslProfile", Name: "a", Attributes: attributes("certFile", "/nope/tls.crt", "privateKeyFile", "/nope/tls.key",
		"caCertFile", profile.Get("caCertFile"))}
	for range 2 {
		requests := router.Diff(want, s.snapshot(), nil)
		if failures := Apply(t.Context(), s.client, requests); len(failures) != 1 || len(requests) != 1 {
			t.Fatalf("of %v, %v failed", requests, failures)
		}
	}
	want[len(s.fixed)] = profile
	if requests := router.Diff(want, s.snapshot(), nil); len(requests) > 0 {
		t.Errorf("the old values do not stand: %v", requests)
	}
}

// TestOrder sends requests that need one another, many at once.
func TestOrder(t *testing.T) {
	s := newSite(t)
	port := freePort(t)
	var requests []router.Request
	for range 300 {
		requests = append(requests,
			create("tcpListener", "m", "host", "127.0.0.1", "port", port, "multiAddressStrategy", "weighted"),
			remove("tcpListener", "m"))
	}
	for i, err := range s.client.Do(t.Context(), requests) {
		if err != nil {
			t.Fatalf("%d: %v: %v", i, requests[i], err)
		}
	}
	// What the router's core answers comes out of order, so this shows that answers find their requests.
	requests = nil
	for i := range 100 {
		requests = append(requests,
			create("address", fmt.Sprint("a", i), "prefix", fmt.Sprint("a", i)),
			create("tcpListener", "m", "host", "127.0.0.1", "port", port, "multiAddressStrategy", "weighted"),
			create("address", fmt.Sprint("a", i), "prefix", fmt.Sprint("b", i)),
			remove("tcpListener", "m"))
	}
	for i, err := range s.client.Do(t.Context(), requests) {
		if (err != nil) != (i%4 == 2) {
			t.Fatalf("%d: %v: %v", i, requests[i], err)
		}
	}
}

// TestMany has answers that are longer than a frame, and than the credit of a link.
func TestMany(t *testing.T) {
	s := newSite(t)
	var requests []router.Request
	for i := range 600 {
		requests = append(requests, create("tcpListener", fmt.Sprint("l", i), "host", "127.0.0.1", "port", "1", "address", "nobody"))
	}
	for _, err := range s.client.Do(t.Context(), requests) {
		if err != nil {
			t.Fatal(err)
		}
	}
	listeners, err := query(t.Context(), s.client, "tcpListener")
	if err != nil || len(listeners) != 600 || listeners[599].Name != "l599" {
		t.Fatalf("%d listeners are left: %v", len(listeners), err)
	}
}

// TestConnections keeps a connection through a listener that changes beside it, and loses it with its own.
func TestConnections(t *testing.T) {
	server, port := echo(t), freePort(t)
	connector := router.Entity{Type: "tcpConnector", Name: "c", Attributes: attributes("host", "127.0.0.1", "port", server, "address", "db")}
	listener := router.Entity{Type: "tcpListener", Name: "l", Attributes: attributes("host", "127.0.0.1", "port", port, "address", "db")}
	s := newSite(t, connector, listener)
	s.state("l", "up", false)
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	talk := func() error {
		if _, err := conn.Write([]byte("hello")); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, make([]byte, 5))
		return err
	}
	for i, step := range steps(t, s) {
		want := append(slices.Clone(s.fixed), connector, listener)
		for _, e := range step {
			if e.Name != "connector/c@127.0.0.1" { // it would take the same address over
				want = append(want, e)
			}
		}
		if failures := Apply(t.Context(), s.client, router.Diff(want, s.snapshot(), nil)); len(failures) > 0 {
			t.Fatalf("step %d: %v", i, failures)
		}
		if err := talk(); err != nil {
			t.Fatalf("step %d broke a connection: %v", i, err)
		}
	}
	listeners, err := query(t.Context(), s.client, "tcpListener")
	if err != nil || len(listeners) != 1 || listeners[0].Get("connectionsOpened") != 1 || listeners[0].Get("connectionsClosed") != 0 {
		t.Errorf("the router counts %v, %v", listeners, err)
	}
	Apply(t.Context(), s.client, []router.Request{remove("tcpListener", "l")})
	if err := talk(); err == nil {
		t.Error("the connection outlives its listener")
	}
}
