package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entity returns an entity of a type, a name and its attributes as pairs.
func entity(t, name string, pairs ...any) Entity {
	e := Entity{Type: t, Name: name}
	for pair := range slices.Chunk(pairs, 2) {
		e.set(pair[0].(string), pair[1])
	}
	return e
}

// with returns e with other values for some attributes.
func with(e Entity, pairs ...any) Entity {
	e.Attributes = slices.Clone(e.Attributes)
	for pair := range slices.Chunk(pairs, 2) {
		name := pair[0].(string)
		e.Attributes = slices.DeleteFunc(e.Attributes, func(a Attribute) bool { return a.Name == name })
		if pair[1] != nil {
			e.set(name, pair[1])
		}
	}
	return e
}

// shown has a line for each request.
func shown(requests []Request) []string {
	lines := []string{}
	for _, r := range requests {
		line := r.String()
		for _, a := range r.Entity.Attributes {
			line += fmt.Sprintf(" %s=%#v", a.Name, a.Value)
		}
		lines = append(lines, line)
	}
	return lines
}

var (
	plainListener = entity("tcpListener", "listener/a", "host", "0.0.0.0", "port", "8080", "address", "k")
	multiListener = entity("tcpListener", "multiAddress/m", "host", "0.0.0.0", "port", "9001", "multiAddressStrategy", "weighted")
	firstKey      = entity("listenerAddress", "m/a", "address", "a", "value", 0, "listener", "multiAddress/m")
	secondKey     = entity("listenerAddress", "m/b", "address", "b", "value", 5, "listener", "multiAddress/m")
	linkOut       = entity("connector", "west", "role", "inter-router", "host", "h", "port", "55671", "cost", 1, "sslProfile", "x")
	linkIn        = entity("listener", "ra-edge", "role", "edge", "port", 45671, "sslProfile", "x", "saslMechanisms", "EXTERNAL", "authenticatePeer", true)
	service       = entity("tcpConnector", "connector/db@db", "host", "db", "port", "5432", "address", "k", "sslProfile", "x", "verifyHostname", true)
	profile       = entity("sslProfile", "x", "certFile", "/x/tls.crt", "privateKeyFile", "/x/tls.key", "caCertFile", "/x/ca.crt")
	proxy         = entity("proxyProfile", "prox", "host", "p", "port", "3128")
	multicast     = entity("address", "", "prefix", "mc", "distribution", "multicast")
	coreLog       = entity("log", "log/ROUTER_CORE", "module", "ROUTER_CORE", "enable", "error+")
)

func TestDiff(t *testing.T) {
	tests := []struct {
		name       string
		want, have []Entity
		rotate     []string
		requests   []string
	}{
		{name: "nothing"},
		{name: "a listener more", want: []Entity{plainListener}, requests: []string{
			`create tcpListener listener/a host="0.0.0.0" port="8080" address="k"`}},
		{name: "a listener less", have: []Entity{plainListener}, requests: []string{"delete tcpListener listener/a"}},
		{name: "the other names of types", want: []Entity{plainListener, multicast},
			have: []Entity{with(entity("io.skupper.router.tcpListener", "listener/a", "host", "0.0.0.0", "port", "8080", "address", "k")),
				entity("io.skupper.router.router.config.address", "address/0", "prefix", "mc", "distribution", "multicast")}},
		{name: "another port", want: []Entity{with(plainListener, "port", "8081")}, have: []Entity{plainListener}, requests: []string{
			"delete tcpListener listener/a",
			`create tcpListener listener/a host="0.0.0.0" address="k" port="8081"`}},
		{name: "another observer", want: []Entity{with(plainListener, "observer", "http2")}, have: []Entity{with(plainListener, "observer", "auto")},
			requests: []string{`update tcpListener listener/a observer="http2"`}},
		{name: "no observer any more", want: []Entity{plainListener}, have: []Entity{with(plainListener, "observer", "none")},
			requests: []string{`update tcpListener listener/a observer="auto"`}},
		{name: "observer and host", want: []Entity{with(plainListener, "observer", "http2", "host", "127.0.0.1")}, have: []Entity{plainListener},
			requests: []string{
				"delete tcpListener listener/a",
				`create tcpListener listener/a port="8080" address="k" observer="http2" host="127.0.0.1"`}},
		{name: "TLS goes", want: []Entity{plainListener}, have: []Entity{with(plainListener, "sslProfile", "x"), profile}, requests: []string{
			"delete tcpListener listener/a",
			"delete sslProfile x",
			`create tcpListener listener/a host="0.0.0.0" port="8080" address="k"`}},
		{name: "a key of several gets another weight", want: []Entity{multiListener, firstKey, with(secondKey, "value", 6)},
			have: []Entity{multiListener, firstKey, secondKey}, requests: []string{
				"delete listenerAddress m/b",
				`create listenerAddress m/b address="b" listener="multiAddress/m" value=6`}},
		{name: "a listener of several keys is replaced with them", want: []Entity{with(multiListener, "port", "9002"), firstKey},
			have: []Entity{multiListener, firstKey, secondKey}, requests: []string{
				"delete listenerAddress m/b",
				"delete listenerAddress m/a",
				"delete tcpListener multiAddress/m",
				`create tcpListener multiAddress/m host="0.0.0.0" multiAddressStrategy="weighted" port="9002"`,
				`create listenerAddress m/a address="a" value=0 listener="multiAddress/m"`}},
		{name: "its observer alone is not", want: []Entity{with(multiListener, "observer", "none"), firstKey}, have: []Entity{multiListener, firstKey},
			requests: []string{`update tcpListener multiAddress/m observer="none"`}},
		{name: "another cost", want: []Entity{profile, with(linkOut, "cost", 2)}, have: []Entity{profile, linkOut}, requests: []string{
			"delete connector west",
			`create connector west role="inter-router" host="h" port="55671" sslProfile="x" cost=2`}},
		{name: "a link in and out, with their profile", want: []Entity{linkIn, linkOut, profile}, requests: []string{
			`create sslProfile x certFile="/x/tls.crt" privateKeyFile="/x/tls.key" caCertFile="/x/ca.crt"`,
			`create listener ra-edge role="edge" port="45671" sslProfile="x" saslMechanisms="EXTERNAL" authenticatePeer=true`,
			`create connector west role="inter-router" host="h" port="55671" cost=1 sslProfile="x"`}},
		{name: "all goes, users first", have: []Entity{profile, proxy, linkIn, linkOut, service, multiListener, firstKey}, requests: []string{
			"delete listenerAddress m/a", "delete tcpConnector connector/db@db", "delete tcpListener multiAddress/m", "delete connector west",
			"delete listener ra-edge", "delete sslProfile x", "delete proxyProfile prox"}},
		{name: "other files under the same names", want: []Entity{profile}, have: []Entity{with(profile, "ordinal", 4, "oldestValidOrdinal", 3)},
			rotate: []string{"x", "y"}, requests: []string{"update sslProfile x ordinal=5"}},
		{name: "a profile loses its certificate", want: []Entity{with(profile, "certFile", nil, "privateKeyFile", nil)}, have: []Entity{profile},
			requests: []string{"update sslProfile x certFile=<nil> privateKeyFile=<nil> ordinal=1"}},
		{name: "a profile that is new is not rotated", want: []Entity{with(profile, "certFile", nil, "privateKeyFile", nil)}, rotate: []string{"x"},
			requests: []string{`create sslProfile x caCertFile="/x/ca.crt"`}},
		{name: "another proxy", want: []Entity{with(proxy, "host", "q")}, have: []Entity{proxy}, requests: []string{
			"delete proxyProfile prox",
			`create proxyProfile prox port="3128" host="q"`}},
		{name: "another password of the proxy", want: []Entity{proxy}, have: []Entity{proxy}, rotate: []string{"prox"}, requests: []string{
			"delete proxyProfile prox",
			`create proxyProfile prox host="p" port="3128"`}},
		{name: "another distribution", want: []Entity{multicast}, have: []Entity{entity("address", "address/0", "prefix", "mc", "distribution", "closest")},
			requests: []string{"delete address address/0", `create address "mc" prefix="mc" distribution="multicast"`}},
		{name: "an address less", have: []Entity{entity("address", "address/1", "prefix", "old", "distribution", "closest")},
			requests: []string{"delete address address/1"}},
		{name: "a log level", want: []Entity{coreLog}, have: []Entity{entity("log", "log/ROUTER_CORE", "module", "ROUTER_CORE")},
			requests: []string{`update log log/ROUTER_CORE enable="error+"`}},
		{name: "a log that was not reported", want: []Entity{coreLog}, requests: []string{`update log log/ROUTER_CORE enable="error+"`}},
		{name: "log levels no more", have: []Entity{coreLog, entity("log", "log/DEFAULT", "module", "DEFAULT", "enable", "debug+"),
			entity("log", "log/HTTP", "module", "HTTP"), entity("log", "log/POLICY", "module", "POLICY", "enable", "default")},
			requests: []string{`update log log/DEFAULT enable="info+"`, `update log log/ROUTER_CORE enable="default"`}},
		{name: "what others made", have: []Entity{
			entity("connector", "auto-mesh-2", "role", "inter-router", "host", "h", "sslProfile", "x"), profile,
			entity("listener", "@9090", "port", "9090"), entity("listener", "amqp", "port", "5672"), entity("listener", "amqps", "port", "5671"),
			entity("listener", localListener, "port", "5671"),
			entity("vhost", "v"), entity("router", "r", "id", "r"), entity("site", "s"), entity("connection", "c")}},
		{name: "the listener that requests come in by", want: []Entity{entity("listener", localListener, "port", 5672, "sslProfile", "y")},
			have: []Entity{entity("listener", localListener, "port", "5671", "sslProfile", "x"), profile}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := shown(Diff(test.want, test.have, test.rotate))
			if diff := cmp.Diff(append([]string{}, test.requests...), got); diff != "" {
				t.Errorf("requests differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSame has pairs that a router takes as one, so that a second run asks nothing.
func TestSame(t *testing.T) {
	tests := []struct {
		name       string
		want, have Entity
		differ     bool
	}{
		{name: "port as a number", want: linkIn, have: with(linkIn, "port", "45671")},
		{name: "no host and all addresses", want: linkIn, have: with(linkIn, "host", "0.0.0.0")},
		{name: "all addresses and an empty host", want: with(plainListener, "host", "::"), have: with(plainListener, "host", "")},
		{name: "IPv4 and IPv6", want: with(plainListener, "host", "::"), have: with(plainListener, "host", "0.0.0.0"), differ: true},
		{name: "no host and loopback", want: linkIn, have: with(linkIn, "host", "127.0.0.1"), differ: true},
		{name: "a connector to all addresses is none to itself", want: with(service, "host", nil), have: with(service, "host", "0.0.0.0"), differ: true},
		{name: "no cost", want: with(linkOut, "cost", nil), have: linkOut},
		{name: "a cost of before", want: with(linkOut, "cost", nil), have: with(linkOut, "cost", 3), differ: true},
		{name: "verifyHostname", want: with(service, "verifyHostname", nil), have: service},
		{name: "verifyHostname of before", want: with(service, "verifyHostname", nil), have: with(service, "verifyHostname", false), differ: true},
		{name: "verifyHostname of a link", want: linkOut, have: with(linkOut, "verifyHostname", true)},
		{name: "observer", want: plainListener, have: with(plainListener, "observer", "auto")},
		{name: "an empty observer", want: with(plainListener, "observer", ""), have: with(plainListener, "observer", "auto")},
		{name: "strategy and authentication", want: plainListener, have: with(plainListener, "multiAddressStrategy", "none", "authenticatePeer", false)},
		{name: "authentication of before", want: multiListener, have: with(multiListener, "authenticatePeer", true), differ: true},
		{name: "a boolean as text", want: linkIn, have: with(linkIn, "authenticatePeer", "true")},
		{name: "what a router tells of itself", want: plainListener, have: with(plainListener, "siteId", "s", "operStatus", "down", "backlog", 0)},
		{name: "what is set but not usual", want: with(plainListener, "siteId", "s"), have: with(plainListener, "siteId", "other"), differ: true},
		{name: "the ordinal", want: profile, have: with(profile, "ordinal", 9)},
		{name: "a certificate of before", want: with(profile, "certFile", nil), have: profile, differ: true},
		{name: "a user name of before", want: proxy, have: with(proxy, "username", "u"), differ: true},
		{name: "the value 0", want: firstKey, have: with(firstKey, "value", "0")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			requests := Diff([]Entity{test.want}, []Entity{test.have}, nil)
			if (len(requests) > 0) != test.differ {
				t.Errorf("requests: %q", shown(requests))
			}
		})
	}
}

// TestDiffTellsNoName has a request for an entity without a name in words all the same.
func TestDiffTellsNoName(t *testing.T) {
	if got := (Request{Create, multicast}).String(); got != `create address "mc"` {
		t.Error(got)
	}
}

func TestNeedsRestart(t *testing.T) {
	config := Config(parsed(t, "testdata/02-listener-connector/input.yaml"))
	m, err := start(config)
	if err != nil {
		t.Fatal(err)
	}
	change := func(t, attribute string, value any) []Entity {
		changed := slices.Clone(config)
		for i, e := range changed {
			if e.Type == t {
				changed[i] = with(e, attribute, value)
			}
		}
		return changed
	}
	renamed := slices.Clone(config)
	for i, e := range renamed {
		if e.Type == "site" {
			renamed[i].Name = "t"
		}
	}
	tests := []struct {
		name  string
		want  []Entity
		names string
	}{
		{"the same", config, ""},
		{"a listener more", append(slices.Clone(config), plainListener), ""},
		{"edge", change("router", "mode", "edge"), "router.mode"},
		{"id", change("router", "id", "t"), "router.id"},
		{"version", change("site", "version", "2"), "site.version"},
		{"no version", change("site", "version", nil), "site.version"},
		{"threads", change("router", "workerThreads", 8), "router.workerThreads"},
		{"the same number of threads", change("router", "workerThreads", "4"), ""},
		{"site name", renamed, "site.name"},
		{"local port", change("listener", "port", 5672), "skupper-local-normal.port"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(NeedsRestart(test.want, m.report()), " "); got != test.names {
				t.Errorf("got %q, want %q", got, test.names)
			}
		})
	}
}
