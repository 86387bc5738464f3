package site

import (
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/source"
)

// TestThreads has what users of skupperproject/skupper ran into, by the number of the issue or pull request, as far as it is about
// which resources are read and used. want is what is used then, found what is said, without files and places.
func TestThreads(t *testing.T) {
	secret := func(name, data string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\n" + data + "\n---\n"
	}
	const pems = "data: {ca.crt: Y2E=, tls.crt: Y3J0, tls.key: a2V5}"
	link := func(name, host, spec string) string {
		return "apiVersion: skupper.io/v2alpha1\nkind: Link\nmetadata: {name: " + name + "}\nspec: {tlsCredentials: t, endpoints: [{name: inter-router, host: " + host +
			", port: '55671'}]" + spec + "}\n---\n"
	}
	for _, c := range []struct{ thread, file, text, want, found string }{
		{"1999: a token without a namespace, in another namespace's directory", "token.yaml",
			resourceText("AccessToken", "spec:\n  url: https://10.0.0.1:9090/u\n  code: c\n  ca: "+testCA), `AccessToken x: https://10.0.0.1:9090/u code "c" cost 0`, ""},
		{"2431, 2462: any name of a file, Secret and Link in one", "downloads/link (1).yaml", secret("t", pems) + link("west", "h", ""),
			"Link west: [{inter-router h 55671 }] tls \"t\" cost 1 proxy \"\"\nSecret t: \"\" [{\"ca.crt\" \"ca\"} {\"tls.crt\" \"crt\"} {\"tls.key\" \"key\"}]", ""},
		{"2145: a RouterAccess without roles", "a.yaml", resourceText("RouterAccess", "spec: {tlsCredentials: x}"), "", "spec.roles: is missing"},
		{"2518, 2523: the type of a Secret does not matter", "a.yaml", secret("t", "type: kubernetes.io/tls\ndata: {}") + secret("u", "type: Opaque"),
			"Secret t: \"kubernetes.io/tls\" []\nSecret u: \"Opaque\" []", ""},
		{"2373, 2375: cost 0 is 1", "a.yaml", secret("t", "") + link("west", "h", ", cost: 0"), "Link west: [{inter-router h 55671 }] tls \"t\" cost 1 proxy \"\"\nSecret t: \"\" []", ""},
		{"2373, 2375: a cost below 0", "a.yaml", secret("t", "") + link("west", "h", ", cost: -1"), "Secret t: \"\" []", "spec.cost: must be at least 0, not -1"},
		{"1621: two Links of one token have hosts of their own", "a.yaml", secret("t", "") + link("podman-to-east-1", "172.18.255.201", "") + link("podman-to-east-2", "172.18.255.202", ""),
			"Link podman-to-east-1: [{inter-router 172.18.255.201 55671 }] tls \"t\" cost 1 proxy \"\"\n" +
				"Link podman-to-east-2: [{inter-router 172.18.255.202 55671 }] tls \"t\" cost 1 proxy \"\"\nSecret t: \"\" []", ""},
		{"2128, 2420: certificates as Secrets, as stringData too", "a.yaml", secret("t", "data: {ca.crt: Y2E=, tls.key: YQ==}\nstringData: {tls.key: key}"),
			"Secret t: \"\" [{\"ca.crt\" \"ca\"} {\"tls.key\" \"key\"}]", ""},
		{"2123: generateTlsCredentials: false waits for the user's certificate", "a.yaml",
			resourceText("RouterAccess", "spec: {roles: [{name: inter-router, port: 55671}], tlsCredentials: public-server-tls, generateTlsCredentials: false}"), "",
			`spec.tlsCredentials: is left out until there is a Secret "public-server-tls" or a directory input/certs/public-server-tls`},
		{"2360, 2393: a proxy is a Secret with a host and a port", "a.yaml", secret("t", "") + secret("prox", "stringData: {host: p.example, port: '3128', username: u, password: p}") +
			link("west", "h", ", settings: {proxy-configuration: prox}"),
			"Link west: [{inter-router h 55671 }] tls \"t\" cost 1 proxy \"prox\"\n" +
				"Secret prox: \"\" [{\"host\" \"p.example\"} {\"password\" \"p\"} {\"port\" \"3128\"} {\"username\" \"u\"}]\nSecret t: \"\" []", ""},
		{"2360, 2393: a proxy without a port", "a.yaml", secret("t", "") + secret("prox", "stringData: {host: p.example}") + link("west", "h", ", settings: {proxy-configuration: prox}"),
			"Secret prox: \"\" [{\"host\" \"p.example\"}]\nSecret t: \"\" []", `spec.settings.proxy-configuration: the Secret "prox" has no port that can be used`},
		{"2360, 2393: a proxy without a host", "a.yaml", secret("t", "") + secret("prox", "stringData: {port: '1'}") + link("west", "h", ", settings: {proxy-configuration: prox}"),
			"Secret prox: \"\" [{\"port\" \"1\"}]\nSecret t: \"\" []", `spec.settings.proxy-configuration: the Secret "prox" has no host that can be used`},
		{"2433, 2449: a Link whose Secret is wrong waits for it, not the site", "a.yaml", secret("t", "data: {ca.crt: '!'}") + link("west", "h", ""), "",
			`data.ca.crt: is not base64` + "\n" + `spec.tlsCredentials: is left out until the Secret "t" is right`},
	} {
		t.Run(c.thread, func(t *testing.T) {
			rs := Parse("ns1", []source.File{{Path: c.file, Data: []byte(c.text)}, {Path: "site.yaml", Data: []byte("apiVersion: skupper.io/v2alpha1\nkind: Site\nmetadata: {name: s}\n")}}, Env{})
			_, got, _ := strings.Cut(describe(rs), "\n")
			if strings.TrimSpace(got) != c.want {
				t.Errorf(" got: %s\nwant: %s", got, c.want)
			}
			all, found := rs.Findings(), strings.Split(c.found, "\n")
			if c.found == "" {
				found = nil
			}
			if len(all) != len(found) {
				t.Fatalf("findings %s", findings(rs))
			}
			for i, d := range all {
				if !strings.Contains(d.String(), ": "+found[i]) || d.Line == 0 || d.File != c.file {
					t.Errorf(" got: %s\nwant: %s", d, found[i])
				}
			}
		})
	}
}

// TestThread1409 has the names of sites and namespaces (also 2207): one with a blank crashed the router.
func TestThread1409(t *testing.T) {
	for _, name := range []string{"On Prem", "on_prem", "on.prem", "-on", "ON"} {
		rs := Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(strings.Replace(resourceText("Site", ""), "x}", "'"+name+"'}", 1))}}, Env{})
		if rs.Site != nil || !rs.SiteErr || CheckName(name) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestThread2267 has resources before their Site, and 2441 without one.
func TestThread2267(t *testing.T) {
	listener := resourceText("Listener", "spec: {host: h, port: 1, routingKey: k}")
	keys := resourceText("MultiKeyListener", "spec: {host: h, port: 2, strategy: {priority: {routingKeys: [a]}}}")
	rs := Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(listener + "---\n" + keys + "---\n" + resourceText("Site", ""))}}, Env{})
	if rs.Site == nil || len(rs.Listeners) != 1 || len(rs.MultiKeyListeners) != 1 || len(rs.Findings()) != 0 {
		t.Error(describe(rs), findings(rs))
	}
	rs = Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(keys)}}, Env{})
	if rs.CheckPorts(nil); rs.Site != nil || rs.SiteErr || len(rs.Findings()) != 0 {
		t.Error(describe(rs), findings(rs))
	}
}

// TestThread1797 has a value of linkAccess that nobody knows: it is used, as upstream does, and said.
func TestThread1797(t *testing.T) {
	rs := Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(resourceText("Site", "spec: {linkAccess: rocket}"))}}, Env{})
	if !rs.Site.TakesLinks() || findings(rs) != `f.yaml:4:20: warning: spec.linkAccess: "rocket" is not known, and is taken for default. Write default.` {
		t.Error(findings(rs))
	}
}
