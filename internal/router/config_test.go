package router

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// sited returns a site with what add puts into it.
func sited(add func(*site.Resources)) *site.Resources {
	r := &site.Resources{Site: &site.Site{Resource: resource("Site", "s")}}
	add(r)
	return r
}

// made has the names of the entities that a site comes to beyond those of every site.
func made(entities []Entity) []string {
	names := []string{}
	for _, e := range entities {
		if !slices.Contains([]string{"router", "site", "address", "log"}, e.Type) && !slices.Contains([]string{localServer, localListener}, e.Name) {
			names = append(names, e.Type+" "+e.Name)
		}
	}
	return names
}

var endpoints = []site.Endpoint{{Name: "inter-router", Host: "h", Port: "55671"}}

func TestConfigProfiles(t *testing.T) {
	full := func(name string) Profile { return Profile{name, true, true, true} }
	tests := []struct {
		name     string
		add      func(*site.Resources)
		profiles []Profile
		want     []string
	}{
		{"a Listener with its certificate", func(r *site.Resources) {
			r.Listeners = []site.Listener{{Resource: resource("Listener", "l"), TLSCredentials: "x"}}
		}, []Profile{full("x"), full("unused")}, []string{"sslProfile x", "tcpListener listener/l"}},
		{"a Listener without", func(r *site.Resources) {
			r.Listeners = []site.Listener{{Resource: resource("Listener", "l"), TLSCredentials: "x"}, {Resource: resource("Listener", "m")}}
		}, nil, []string{"tcpListener listener/m"}},
		{"a Listener needs no CA", func(r *site.Resources) {
			r.Listeners = []site.Listener{{Resource: resource("Listener", "l"), TLSCredentials: "x"}}
		}, []Profile{{"x", false, true, true}}, []string{"sslProfile x", "tcpListener listener/l"}},
		{"a Listener needs its key", func(r *site.Resources) {
			r.Listeners = []site.Listener{{Resource: resource("Listener", "l"), TLSCredentials: "x"}}
		}, []Profile{{"x", true, true, false}}, []string{}},
		{"client certificates need a CA", func(r *site.Resources) {
			r.MultiKeyListeners = []site.MultiKeyListener{{Resource: resource("MultiKeyListener", "m"), TLSCredentials: "x", RequireClientCert: true,
				Keys: []site.KeyValue{{Key: "k"}}}}
		}, []Profile{{"x", false, true, true}}, []string{}},
		{"and without them none", func(r *site.Resources) {
			r.MultiKeyListeners = []site.MultiKeyListener{{Resource: resource("MultiKeyListener", "m"), TLSCredentials: "x",
				Keys: []site.KeyValue{{Key: "k"}}}}
		}, []Profile{{"x", false, true, true}}, []string{"sslProfile x", "tcpListener multiAddress/m", "listenerAddress m/k"}},
		{"a Connector shows a certificate", func(r *site.Resources) {
			r.Connectors = []site.Connector{{Resource: resource("Connector", "c"), Host: "h", TLSCredentials: "x", UseClientCert: true}}
		}, []Profile{full("x"), full("x-profile")}, []string{"sslProfile x", "tcpConnector connector/c@h"}},
		{"a Connector shows none", func(r *site.Resources) {
			r.Connectors = []site.Connector{{Resource: resource("Connector", "c"), Host: "h", TLSCredentials: "x"}}
		}, []Profile{full("x"), {Name: "x-profile", CA: true}}, []string{"sslProfile x-profile", "tcpConnector connector/c@h"}},
		{"a Link before its Secret", func(r *site.Resources) {
			r.Links = []site.Link{{Resource: resource("Link", "w"), TLSCredentials: "x", Endpoints: endpoints}}
		}, []Profile{full("x")}, []string{}},
		{"a Link needs a CA", func(r *site.Resources) {
			r.Links = []site.Link{{Resource: resource("Link", "w"), TLSCredentials: "x", Endpoints: endpoints}}
		}, []Profile{{"x-profile", false, true, true}}, []string{}},
		{"a Link to an unknown proxy", func(r *site.Resources) {
			r.Links = []site.Link{{Resource: resource("Link", "w"), TLSCredentials: "x", Endpoints: endpoints, Proxy: "q"}}
		}, []Profile{full("x-profile")}, []string{}},
		{"two Links by one proxy", func(r *site.Resources) {
			r.Links = []site.Link{{Resource: resource("Link", "v"), TLSCredentials: "x", Endpoints: endpoints, Proxy: "prox"},
				{Resource: resource("Link", "w"), TLSCredentials: "x", Endpoints: endpoints, Proxy: "prox"}}
		}, []Profile{full("x-profile")}, []string{"sslProfile x-profile", "proxyProfile prox", "connector v", "connector w"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := Config(sited(test.add), testID, append(test.profiles, Profile{localServer, true, true, true}), []Proxy{{Name: "prox"}})
			if diff := cmp.Diff(test.want, made(config)); diff != "" {
				t.Errorf("entities differ (-want +got):\n%s", diff)
			}
			if _, err := start(config); err != nil {
				t.Errorf("the router would not start: %v", err)
			}
		})
	}
}

// TestConfigSharesProfile has a Link and a Connector that come to one profile: the Link's certificate must not go for the Connector.
func TestConfigSharesProfile(t *testing.T) {
	r := sited(func(r *site.Resources) {
		r.Connectors = []site.Connector{{Resource: resource("Connector", "c"), Host: "h", TLSCredentials: "x"}}
	})
	profiles := []Profile{{"x-profile", true, true, true}}
	certificate := func() any { return Config(r, testID, profiles, nil)[1].Get("certFile") }
	if got := certificate(); got != nil {
		t.Errorf("a Connector that is to show no certificate has %v", got)
	}
	r.Links = []site.Link{{Resource: resource("Link", "w"), TLSCredentials: "x", Endpoints: endpoints}}
	if got := certificate(); got != BaseVariable+"/runtime/certs/x-profile/tls.crt" {
		t.Errorf("the Link's certificate is %v", got)
	}
}

func TestConfigProxy(t *testing.T) {
	r := sited(func(r *site.Resources) {
		r.Links = []site.Link{{Resource: resource("Link", "w"), Endpoints: endpoints, Proxy: "p"}}
	})
	id := testID
	id.Base = "/var/lib/skupper/namespaces/ns1"
	config := Config(r, id, nil, []Proxy{{"p", "proxy.example", "3128", "u", true}})
	want := entity("proxyProfile", "p", "host", "proxy.example", "port", "3128", "username", "u",
		"password", "file:/var/lib/skupper/namespaces/ns1/runtime/certs/p/password.txt")
	if !slices.ContainsFunc(config, want.Equal) {
		t.Errorf("%+v is not in %+v", want, config)
	}
}

func TestConfigLogs(t *testing.T) {
	tests := []struct {
		levels []string
		want   string
	}{
		{nil, "ROUTER_CORE:error+"},
		{[]string{"info+"}, "DEFAULT:info+ ROUTER_CORE:error+"},
		{[]string{"info", "PROTOCOL:debug", "info+", "PROTOCOL:critical"}, "DEFAULT:info+ PROTOCOL:critical+ ROUTER_CORE:error+"},
		{[]string{"ROUTER_CORE:warning"}, "ROUTER_CORE:warning+"},
		{[]string{"trace", "POLICY:notice+"}, "DEFAULT:debug+ POLICY:info+ ROUTER_CORE:error+"},
		{[]string{"AUTHSERVICE:debug", "HTTP:loud", "", ":info"}, "ROUTER_CORE:error+"},
	}
	for _, test := range tests {
		r := sited(func(r *site.Resources) { r.Site.LogLevels = test.levels })
		var got []string
		for _, e := range Config(r, testID, nil, nil) {
			if e.Type == "log" {
				got = append(got, e.Get("module").(string)+":"+e.Get("enable").(string))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: got %q, want %q", test.levels, got, test.want)
		}
	}
}

// TestConfigEdge has an edge router, which takes no links and would not start if it were told to.
func TestConfigEdge(t *testing.T) {
	s, profiles, proxies := randomSite(rand.New(rand.NewPCG(1, 2)), true)
	if len(s.RouterAccesses) == 0 {
		t.Fatal("there is no RouterAccess")
	}
	if _, err := start(Config(s, testID, profiles, proxies)); err != nil {
		t.Error(err)
	}
}

func TestConfigWithoutSite(t *testing.T) {
	r := &site.Resources{Listeners: []site.Listener{{Resource: resource("Listener", "l")}}}
	if got := Config(r, testID, nil, nil); got != nil {
		t.Errorf("got %+v", got)
	}
}

// TestConfigIsOne has the same bytes from resources in any order, which a map in between would not give.
func TestConfigIsOne(t *testing.T) {
	for seed := range uint64(20) {
		s, profiles, proxies := randomSite(rand.New(rand.NewPCG(seed, 2)), false)
		first := Marshal(Config(s, testID, profiles, proxies))
		slices.Reverse(s.Listeners)
		slices.Reverse(s.Links)
		slices.Reverse(s.RouterAccesses)
		slices.Reverse(profiles)
		if diff := cmp.Diff(string(first), string(Marshal(Config(s, testID, profiles, proxies)))); diff != "" {
			t.Fatalf("seed %d: the files differ:\n%s", seed, diff)
		}
	}
}

const namesakes = `
apiVersion: skupper.io/v2alpha1
kind: Site
metadata: {name: s}
---
apiVersion: skupper.io/v2alpha1
kind: RouterAccess
metadata: {name: west}
spec: {roles: [{name: edge}]}
---
apiVersion: v1
kind: Secret
metadata: {name: x}
data: {ca.crt: Y2E=}
---
apiVersion: skupper.io/v2alpha1
kind: Link
metadata: {name: west}
spec: {tlsCredentials: x, endpoints: [{name: inter-router, host: h, port: "1"}]}
---
apiVersion: skupper.io/v2alpha1
kind: Link
metadata: {name: west-edge}
spec: {tlsCredentials: x, endpoints: [{name: inter-router, host: h, port: "1"}]}
---
apiVersion: skupper.io/v2alpha1
kind: Link
metadata: {name: east}
spec: {tlsCredentials: x, endpoints: [{name: inter-router, host: h, port: "1"}]}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: a}
spec: {host: 127.0.0.1, port: 80, routingKey: k}
---
apiVersion: skupper.io/v2alpha1
kind: MultiKeyListener
metadata: {name: listener}
spec: {host: 127.0.0.1, port: 81, strategy: {priority: {routingKeys: [a, b]}}}
`

// TestCheckNames has resources that a router would not start with, each fine by itself.
func TestCheckNames(t *testing.T) {
	r := site.Parse("ns1", []source.File{{Path: "names.yaml", Data: []byte(namesakes)}}, site.Env{})
	profiles := []Profile{{localServer, true, true, true}, {"west", true, true, true}, {Name: "x-profile", CA: true}}
	if _, err := start(Config(r, testID, profiles, nil)); err != nil {
		t.Errorf("unchecked, the router would not start: %v", err)
	}
	CheckNames(r, testID, profiles, nil)
	if _, err := start(Config(r, testID, profiles, nil)); err != nil {
		t.Errorf("the router would not start: %v", err)
	}
	want := []string{
		`names.yaml:18:18: metadata.name: the router would have a connector "west" beside its sslProfile of that name, and then not start. Give one of the two another name.`,
		`names.yaml:23:18: metadata.name: the router would have a connector "west-edge" beside its listener of that name, and then not start. Give one of the two another name.`,
		`names.yaml:38:18: metadata.name: the router would have a listenerAddress "listener/a" beside its tcpListener of that name, and then not start. Give one of the two another name.`,
	}
	var got []string
	for _, d := range r.Findings() {
		got = append(got, d.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings differ (-want +got):\n%s", diff)
	}
	left := []string{"sslProfile west", "sslProfile x-profile", "connector east", "listener west-edge", "tcpListener listener/a"}
	if diff := cmp.Diff(left, made(Config(r, testID, profiles, nil))); diff != "" {
		t.Errorf("entities differ (-want +got):\n%s", diff)
	}
}

func TestExpand(t *testing.T) {
	config := Config(parsed(t, "testdata/03-routeraccess-ports/input.yaml"))
	expanded := Expand(config, ContainerBase)
	if got := expanded[1].Get("caCertFile"); got != "/etc/skupper-router/runtime/certs/go-east/ca.crt" {
		t.Errorf("got %v", got)
	}
	if strings.Contains(string(Marshal(expanded)), "$") || !strings.Contains(string(Marshal(config)), BaseVariable) {
		t.Error("the variable is not where it should be")
	}
}

// TestLocalFirst has the local listener be the first of a router's, which ends if it cannot open that one.
func TestLocalFirst(t *testing.T) {
	all := []Entity{{Type: "listener", Name: "a-edge"}, {Type: "listener", Name: localListener}, {Type: "connector", Name: "z"}}
	slices.SortFunc(all, Compare)
	if all[0].Name != "z" || all[1].Name != localListener {
		t.Errorf("%v", all)
	}
}
