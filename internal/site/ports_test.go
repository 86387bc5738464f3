package site

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/source"
)

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0.0.0.0", "127.0.0.1", true},
		{"0.0.0.0", "::1", true},
		{"::", "10.0.0.1", true},
		{"", "10.0.0.1", true},
		{"::ffff:0.0.0.0", "10.0.0.1", true},
		{"", "", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "::ffff:127.0.0.1", true},
		{"127.0.0.1", "127.0.0.2", false},
		{"::1", "127.0.0.1", false},
		{"::1", "0:0:0:0:0:0:0:1", true},
		{"localhost", "127.0.0.1", true},
		{"localhost", "::1", true},
		{"LocalHost", "::ffff:127.0.0.1", true},
		{"localhost", "127.0.0.2", false},
		{"localhost", "localhost", true},
		{"localhost", "db", false},
		{"db", "DB", true},
		{"db", "127.0.0.1", false},
		{"db", "0.0.0.0", true},
	} {
		a, b := SocketAt(c.a, 80), SocketAt(c.b, 80)
		if a.Overlaps(b) != c.want || b.Overlaps(a) != c.want {
			t.Errorf("%q and %q: not %t", c.a, c.b, c.want)
		}
		if b.Port = 81; a.Overlaps(b) {
			t.Errorf("%q and %q overlap at different ports", c.a, c.b)
		}
	}
}

const portsText = `
apiVersion: skupper.io/v2alpha1
kind: RouterAccess
metadata: {name: z}
spec: {roles: [{name: inter-router, port: 55671}, {name: edge}], bindHost: 10.0.0.1}
---
apiVersion: skupper.io/v2alpha1
kind: RouterAccess
metadata: {name: zz}
spec: {roles: [{name: inter-router, port: 55672}, {name: edge, port: 55671}]}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: a}
spec: {host: 0.0.0.0, port: 55671, routingKey: k}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: b}
spec: {host: 127.0.0.1, port: 55672, routingKey: k}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: c}
spec: {host: localhost, port: 55672, routingKey: k}
---
apiVersion: skupper.io/v2alpha1
kind: MultiKeyListener
metadata: {name: a}
spec: {host: "::1", port: 55672, strategy: {priority: {routingKeys: [k]}}}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: local}
spec: {host: 0.0.0.0, port: 5671, routingKey: k}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: other}
spec: {host: 0.0.0.0, port: 7000, routingKey: k}
`

// TestCheckPorts has each rule of who gets a port: others before the site's own, RouterAccess before Listener before
// MultiKeyListener, the first by name; and what is left out holds no port.
func TestCheckPorts(t *testing.T) {
	rs := parse(portsText, Env{})
	rs.CheckPorts([]Socket{
		{Addr: netip.MustParseAddr("127.0.0.1"), Port: 5671, Owner: "the router's local port"},
		{Host: "db", Port: 7000, Owner: `the Listener "x" of namespace "east"`},
	})
	want := strings.TrimSpace(`
f.yaml:10:70: spec.roles[1].port: the RouterAccess "zz" cannot listen on 0.0.0.0:55671, since 10.0.0.1:55671 belongs to the RouterAccess "z" (f.yaml:4:18). Write another port, or an address that differs.
f.yaml:15:29: spec.port: the Listener "a" cannot listen on 0.0.0.0:55671, since 10.0.0.1:55671 belongs to the RouterAccess "z" (f.yaml:4:18). Write another port, or an address that differs.
f.yaml:25:31: spec.port: the Listener "c" cannot listen on localhost:55672, since 127.0.0.1:55672 belongs to the Listener "b" (f.yaml:19:18). Write another port, or an address that differs.
f.yaml:35:29: spec.port: the Listener "local" cannot listen on 0.0.0.0:5671, since 127.0.0.1:5671 belongs to the router's local port. Write another port, or an address that differs.
f.yaml:40:29: spec.port: the Listener "other" cannot listen on 0.0.0.0:7000, since db:7000 belongs to the Listener "x" of namespace "east". Write another port, or an address that differs.
`)
	if got := findings(rs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var sockets []string
	for _, s := range rs.Sockets() {
		sockets = append(sockets, s.Owner)
	}
	if want := []string{`the RouterAccess "z" of namespace "ns1"`, `the Listener "b" of namespace "ns1"`, `the MultiKeyListener "a" of namespace "ns1"`}; !slices.Equal(sockets, want) {
		t.Errorf("sockets of %q, want %q", sockets, want)
	}

	// The port that was still to be allocated counts once it is.
	rs.RouterAccesses[0].Roles[1].Port = 55672
	rs.RouterAccesses[0].BindHost = ""
	rs.CheckPorts(nil)
	if len(rs.Listeners) != 0 || len(rs.MultiKeyListeners) != 0 {
		t.Errorf("left: %s", describe(rs))
	}
}

// TestFamilies has a listener of all IPv4 addresses beside one of all IPv6 ones.
func TestFamilies(t *testing.T) {
	listener := func(name, host string) string {
		return strings.ReplaceAll(resourceText("Listener", `spec: {host: "`+host+`", port: 8080, routingKey: k}`), "x}", name+"}") + "---\n"
	}
	rs := parse(listener("a", "0.0.0.0")+listener("b", "::")+listener("c", "::1")+listener("d", "::ffff:127.0.0.1"), Env{})
	rs.CheckPorts(nil)
	if len(rs.Listeners) != 2 || rs.Listeners[1].Name != "b" {
		t.Errorf("%s\n%s", describe(rs), findings(rs))
	}
}

// TestThread1798 and the others below are named after the threads of skupperproject/skupper that they are about.

// TestThread1798 has a listener on the port of the router's own.
func TestThread1798(t *testing.T) {
	rs := parse(resourceText("Listener", "spec: {host: localhost, port: 5672, routingKey: k}"), Env{})
	rs.CheckPorts([]Socket{{Addr: netip.MustParseAddr("127.0.0.1"), Port: 5672, Owner: "the router's local port"}})
	if len(rs.Listeners) != 0 || !strings.Contains(findings(rs), "since 127.0.0.1:5672 belongs to the router's local port") {
		t.Error(findings(rs))
	}
}

// TestThread2379 has two Listeners on one host and port.
func TestThread2379(t *testing.T) {
	text := strings.ReplaceAll(resourceText("Listener", "spec: {host: listener, port: 8080, routingKey: key-1}"), "x}", "listener-1}") + "---\n" +
		strings.ReplaceAll(resourceText("Listener", "spec: {host: listener, port: 8080, routingKey: key-2}"), "x}", "listener-2}")
	for range 2 {
		rs := parse(text, Env{})
		rs.CheckPorts(nil)
		if len(rs.Listeners) != 1 || rs.Listeners[0].Name != "listener-1" {
			t.Error(describe(rs))
		}
		docs := strings.Split(text, "---\n")
		text = docs[1] + "---\n" + docs[0]
	}
}

// TestSameFilesInAnyOrder reads files in both orders, as the order of a directory means nothing.
func TestSameFilesInAnyOrder(t *testing.T) {
	var files []source.File
	for i, doc := range strings.SplitAfter(portsText, "---\n") {
		files = append(files, source.File{Path: string(rune('a'+i)) + ".yaml", Data: []byte(doc)})
	}
	one := Parse("ns1", files, Env{})
	slices.Reverse(files)
	two := Parse("ns1", files, Env{})
	one.CheckPorts(nil)
	two.CheckPorts(nil)
	if describe(one) != describe(two) || findings(one) != findings(two) {
		t.Errorf("%s\n%s", findings(one), findings(two))
	}
}
