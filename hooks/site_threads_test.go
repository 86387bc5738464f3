package hooks

import (
	"strings"
	"testing"
)

// TestThreads has what users of skupperproject/skupper ran into, by the number of the issue or pull request, as far as it is about
// what is rendered and is not in a test that names it elsewhere: internal/site has those about which resources are used. with are
// the names of entities that the router must have, without of those that it must not.
func TestThreads(t *testing.T) {
	const web = "host: 0.0.0.0, port: 8443, routingKey: k, tlsCredentials: web"
	link := func(spec string) string {
		return secretText("x") + "---\n" + resourceText("Link", "west", `tlsCredentials: x, endpoints: [{name: inter-router, host: h.example, port: "55671"}]`+spec)
	}
	for _, c := range []struct {
		thread, text  string
		with, without string
		found         string // part of what is said; empty where nothing is
	}{
		{"2195: a profile that cannot be rendered takes its listener along, not the router", resourceText("Listener", "a", "host: 0.0.0.0, port: 8080, routingKey: k") +
			resourceText("Listener", "web", web) + strings.Replace(secretText("web"), "tls.key: a2V5", "tls.key: bm8=", 1), "listener/a", "listener/web web", "holds no private key in PEM form"},
		{"1716: a Secret without ca.crt", resourceText("Connector", "db", "host: h, port: 1, routingKey: k, tlsCredentials: web") +
			strings.Replace(secretText("web"), "ca.crt: Y2E=, ", "", 1), "", "connector/db@h web-profile", `data["ca.crt"]: is missing`},
		{"2433, 2449: a Secret that is missing", resourceText("RouterAccess", "ra", "roles: [{name: edge}], tlsCredentials: public, generateTlsCredentials: false"),
			"", "ra-edge public", `until there is a Secret "public"`},
		{"2123: a certificate that is not to be made is not", resourceText("RouterAccess", "ra", "roles: [{name: edge}], tlsCredentials: public, generateTlsCredentials: false") +
			secretText("public"), "ra-edge public", "", "no static links"},
		{"2128, 2420: the user's certificate as a Secret", resourceText("Listener", "web", web) + secretText("web"), "listener/web web", "", ""},
		{"2373, 2375: a cost of 0", link(", cost: 0"), "west x-profile", "", ""},
		{"1621: two links of one token have their own hosts", link("") + resourceText("Link", "west-2", `tlsCredentials: x, endpoints: [{name: inter-router, host: i.example, port: "55671"}]`),
			"west west-2", "", ""},
		{"2058: names of one kind do not meet those of another", resourceText("Listener", "x", "host: 0.0.0.0, port: 8080, routingKey: k") + resourceText("Connector", "x", "host: h, port: 1, routingKey: k") +
			resourceText("MultiKeyListener", "x", "host: 0.0.0.0, port: 8081, strategy: {priority: {routingKeys: [x]}}"), "listener/x connector/x@h multiAddress/x x/x", "", ""},
		{"2145: a RouterAccess without roles", resourceText("RouterAccess", "ra", "tlsCredentials: x") + resourceText("Listener", "a", "host: 0.0.0.0, port: 8080, routingKey: k"),
			"listener/a", "ra", "spec.roles: is missing"},
		{"2379: two listeners on one port", resourceText("Listener", "listener-1", "host: listener, port: 8080, routingKey: key-1") +
			resourceText("Listener", "listener-2", "host: listener, port: 8080, routingKey: key-2"), "listener/listener-1", "listener/listener-2", `belongs to the Listener "listener-1"`},
		{"1798: a listener on the port of the router itself", resourceText("Listener", "a", "host: 0.0.0.0, port: 5671, routingKey: k"), "", "listener/a", "belongs to the router's own endpoint"},
		{"1798: and on its address", resourceText("Listener", "a", "host: 127.0.0.1, port: 5671, routingKey: k"), "", "listener/a", "belongs to the router's own endpoint"},
		{"1797: linkAccess that nobody knows", strings.Replace(resourceText("Site", "s", "linkAccess: rocket"), "---\n", "", 1), "s-edge s-inter-router", "", "is taken for default"},
		{"1999: a file without a namespace", "apiVersion: skupper.io/v2alpha1\nkind: Listener\nmetadata: {name: a, namespace: ''}\nspec: {host: 0.0.0.0, port: 8080, routingKey: k}\n", "listener/a", "", ""},
		{"2360, 2393, 2391: a proxy", link(", settings: {proxy-configuration: prox}") + "apiVersion: v1\nkind: Secret\nmetadata: {name: prox}\nstringData: {host: p.example, port: '3128'}\n",
			"west prox", "", ""},
	} {
		t.Run(c.thread, func(t *testing.T) {
			h := siteHooks(t)
			begin(t, h, "ns1")
			certificates := realCerts(t)
			if !strings.Contains(c.text, "kind: Site") {
				put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
			}
			put(t, h, "resources/all.yaml", string(certificates([]byte(c.text))))
			s := refresh(t, h)
			if text := said(s); !strings.Contains(text, c.found) || c.found == "" && text != "" {
				t.Errorf("said: %s", text)
			}
			for _, name := range strings.Fields(c.with) {
				if entity(t, h, name) == nil {
					t.Errorf("there is no %s", name)
				}
			}
			for _, name := range strings.Fields(c.without) {
				if e := entity(t, h, name); e != nil {
					t.Errorf("there is %v", e)
				}
			}
		})
	}
}

// TestCostChanges has the cost of a link change (skupperproject/skupper#2070), and nothing else.
func TestCostChanges(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/secret.yaml", string(realCerts(t)([]byte(secretText("x")))))
	link := func(cost string) Site {
		put(t, h, "resources/link.yaml", resourceText("Link", "west", `tlsCredentials: x, cost: `+cost+`, endpoints: [{name: inter-router, host: h.example, port: "55671"}]`))
		return refresh(t, h)
	}
	changes := entityChanges(link("1").Entities, link("7").Entities)
	if len(changes) != 1 || changes[0].Field != "connector west" || entity(t, h, "west").Get("cost") != 7 {
		t.Errorf("%v", changes)
	}
}
