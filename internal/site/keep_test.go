package site

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/source"
)

const keptSite = "apiVersion: skupper.io/v2alpha1\nkind: Site\nmetadata: {name: s}\n"

// lastOf returns what a set of files would have kept.
func lastOf(files []source.File) []Last {
	var last []Last
	for _, r := range Parse("ns1", files, Env{}).All {
		last = append(last, Last{r.Kind, r.Name, r.File, r.Document})
	}
	return last
}

func files(texts ...string) (all []source.File) {
	for i := 0; i < len(texts); i += 2 {
		all = append(all, source.File{Path: texts[i], Data: []byte(texts[i+1])})
	}
	return all
}

// TestKeep turns a good set of files into a bad one, and wants those Listeners to be used that are in want, as NAME:PORT.
func TestKeep(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {ca.crt: a}\n"
	typo := func(text string) string { return strings.Replace(text, "routingKey", "routngKey", 1) }
	for _, c := range []struct {
		name         string
		before, then []source.File
		unread       diag.List
		want, found  string
	}{
		{"a typo", files("a.yaml", listener("a", 1)), files("a.yaml", typo(listener("a", 2))), nil, "a:1",
			"a.yaml:4:26: spec.routngKey: is not a field. Did you mean routingKey? What ran before goes on."},
		{"a typo in what never ran", nil, files("a.yaml", typo(listener("a", 2))), nil, "", "a.yaml:4:26: spec.routngKey: is not a field. Did you mean routingKey?"},
		{"gone", files("a.yaml", listener("a", 1)), files(), nil, "", ""},
		{"gone from a file that is right", files("a.yaml", listener("a", 1)+"---\n"+listener("b", 2)), files("a.yaml", listener("b", 2)), nil, "b:2", ""},
		{"gone while another file is wrong", files("a.yaml", listener("a", 1), "b.yaml", listener("b", 2)), files("b.yaml", "{"), nil, "b:2",
			`b.yaml:1:1: the Listener "b" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"another document of the file is wrong in itself", files("a.yaml", listener("a", 1)+"---\n"+listener("b", 2)), files("a.yaml", typo(listener("b", 2))), nil, "b:2",
			"a.yaml:4:26: spec.routngKey: is not a field. Did you mean routingKey? What ran before goes on."},
		{"a syntax error", files("a.yaml", listener("a", 1)), files("a.yaml", strings.Replace(listener("a", 2), "}", "", 1)), nil, "a:1",
			`the Listener "a" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"a syntax error in one of two", files("a.yaml", listener("a", 1)+"---\n"+listener("b", 2)), files("a.yaml", "a: [\n---\n"+listener("b", 3)), nil, "a:1 b:3",
			`a.yaml:1:4: the Listener "a" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"the kind misspelt", files("a.yaml", listener("a", 1)), files("a.yaml", strings.Replace(listener("a", 2), "Listener", "Listner", 1)), nil, "a:1",
			`a.yaml:2:7: the Listener "a" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"the name misspelt", files("a.yaml", listener("a", 1)), files("a.yaml", listener("A_", 2)), nil, "a:1",
			`a.yaml:3:18: the Listener "a" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"no name at all", files("a.yaml", listener("a", 1)), files("a.yaml", strings.Replace(listener("a", 2), "name", "nmae", 1)), nil, "a:1",
			`a.yaml:3:12: the Listener "a" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"another namespace", files("a.yaml", listener("a", 1)), files("a.yaml", strings.Replace(listener("a", 2), "{name", "{namespace: ns2, name", 1)), nil, "a:1",
			"a.yaml:3:23: metadata.namespace: belongs to namespace \"ns2\", this directory is ns1's. Move the file, or remove the namespace. What ran before goes on."},
		{"renamed", files("a.yaml", listener("a", 1)), files("a.yaml", listener("b", 1)), nil, "b:1", ""},
		{"moved to another file", files("a.yaml", listener("a", 1)), files("b.yaml", listener("a", 2)), nil, "a:2", ""},
		{"the file cannot be read", files("d/a.yaml", listener("a", 1)), files(), diag.List{{File: "d/a.yaml", Message: "is not used"}}, "a:1",
			`d/a.yaml: the Listener "a" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"its directory cannot be read", files("d/a.yaml", listener("a", 1)), files(), diag.List{{File: "d", Message: "is not used"}}, "a:1",
			`d/a.yaml: the Listener "a" cannot be found for an error in this file. Correct it. What ran before goes on.`},
		{"it is not read any more", files("a.yaml", listener("a", 1)), files(), diag.List{{File: "a.yaml", Message: "is not read", Severity: diag.Warning}}, "", "a.yaml: warning: is not read."},
		{"twice, and once as before", files("b.yaml", listener("a", 1)), files("a.yaml", listener("a", 2), "b.yaml", listener("a", 1)), nil, "a:1",
			`b.yaml:3:18: metadata.name: there is another Listener "a" in a.yaml:3:18. Remove one of them. What ran before goes on.`},
		{"twice, and in neither file before", files("c.yaml", listener("a", 1)), files("a.yaml", listener("a", 2), "b.yaml", listener("a", 3)), nil, "a:1",
			`a.yaml:3:18: metadata.name: there is another Listener "a" in b.yaml:3:18. Remove one of them. What ran before goes on.`},
		{"a new one on the port of an old one", files("b.yaml", listener("b", 1)), files("a.yaml", listener("a", 1), "b.yaml", listener("b", 1)), nil, "b:1",
			`a.yaml:4:23: spec.port: the Listener "a" cannot listen on h:1, since h:1 belongs to the Listener "b" (b.yaml:3:18). Write another port, or an address that differs.`},
		{"an old one to the port of another", files("a.yaml", listener("a", 1), "b.yaml", listener("b", 2)), files("a.yaml", listener("a", 2), "b.yaml", listener("b", 2)), nil, "a:1 b:2",
			`a.yaml:4:23: spec.port: the Listener "a" cannot listen on h:2, since h:2 belongs to the Listener "b" (b.yaml:3:18). Write another port, or an address that differs. What ran before goes on.`},
		{"and a new one on the port that it left", files("a.yaml", listener("a", 1), "c.yaml", listener("c", 2)),
			files("a.yaml", listener("a", 2), "b.yaml", listener("b", 1), "c.yaml", listener("c", 2)), nil, "a:1 c:2",
			`b.yaml:4:23: spec.port: the Listener "b" cannot listen on h:1, since h:1 belongs to the Listener "a" (a.yaml:3:18). Write another port, or an address that differs.`},
		{"to the port of the router", files("a.yaml", listener("a", 1)), files("a.yaml", strings.Replace(listener("a", 5671), "host: h", "host: 0.0.0.0", 1)), nil, "a:1",
			`belongs to the router. Write another port, or an address that differs. What ran before goes on.`},
		{"its old port is the router's now", files("a.yaml", strings.Replace(listener("a", 5671), "host: h", "host: 0.0.0.0", 1)),
			files("a.yaml", typo(strings.Replace(listener("a", 5671), "host: h", "host: 0.0.0.0", 1))), nil, "",
			"a.yaml:4:35: spec.routngKey: is not a field. Did you mean routingKey?"},
		{"two change places", files("a.yaml", listener("a", 1), "b.yaml", listener("b", 2)), files("a.yaml", listener("a", 2), "b.yaml", listener("b", 1)), nil, "a:2 b:1", ""},
		{"a Secret that turns bad", files("x.yaml", secret, "l.yaml", strings.Replace(listener("a", 1), "port", "tlsCredentials: x, port", 1)),
			files("x.yaml", strings.Replace(secret, "stringData", "strngData", 1), "l.yaml", strings.Replace(listener("a", 1), "port", "tlsCredentials: x, port", 1)), nil, "a:1",
			"x.yaml:4:1: strngData: is not a field. Did you mean stringData? What ran before goes on."},
	} {
		t.Run(c.name, func(t *testing.T) {
			site := source.File{Path: "site.yaml", Data: []byte(keptSite)}
			rs := Parse("ns1", append(c.then, site), Env{Last: lastOf(append(c.before, site)), Unread: c.unread})
			for before := -1; before != rs.Fallbacks(); {
				before = rs.Fallbacks()
				rs.CheckPorts([]Socket{{Addr: netip.MustParseAddr("127.0.0.1"), Port: 5671, Owner: "the router"}})
			}
			var got []string
			for _, l := range rs.Listeners {
				got = append(got, fmt.Sprintf("%s:%d", l.Name, l.Port))
				if !slices.Contains(rs.All, l.Resource) || l.Quarantined() {
					t.Errorf("%s is not a resource of the set", l.Name)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if all := findings(rs); c.found == "" && all != "" || !strings.Contains(all, c.found) {
				t.Errorf("said\n%s\nwant\n%s", all, c.found)
			}
			if all := findings(rs); strings.Count(all, "goes on") > 0 && c.want == "" {
				t.Errorf("said of what does not go on:\n%s", all)
			}
			if !slices.IsSortedFunc(rs.All, compareResources) || rs.Site == nil {
				t.Error("the set is not in order")
			}
		})
	}
}

// TestKeepKinds has a mistake in each kind, and its last good version stand in.
func TestKeepKinds(t *testing.T) {
	specs := map[string]string{
		"Connector":        "spec: {routingKey: k, host: h, port: 1}",
		"MultiKeyListener": "spec: {host: h, port: 1, strategy: {priority: {routingKeys: [a, b]}}}",
		"RouterAccess":     "spec: {roles: [{name: edge}]}",
		"Certificate":      "spec: {subject: s, signing: true}",
		"AccessToken":      "spec:\n  url: https://h/x\n  code: c\n  ca: " + testCA,
	}
	for kind, spec := range specs {
		good := files("s.yaml", keptSite, "a.yaml", resourceText(kind, spec))
		bad := files("s.yaml", keptSite, "a.yaml", resourceText(kind, spec+"\nwrong: 1"))
		want := describe(Parse("ns1", good, Env{}))
		rs := Parse("ns1", bad, Env{Last: lastOf(good)})
		if got := describe(rs); got != want || !strings.Contains(findings(rs), goesOn) {
			t.Errorf("%s: got %s, want %s\n%s", kind, got, want, findings(rs))
		}
		if got := describe(Parse("ns1", bad, Env{})); got == want {
			t.Errorf("%s: the mistake is none", kind)
		}
	}
}

// TestKeepSite leaves a site with a mistake in its Site alone as a whole.
func TestKeepSite(t *testing.T) {
	good := files("s.yaml", keptSite, "a.yaml", listener("a", 1))
	for _, text := range []string{keptSite + "spec: {egde: true}\n", keptSite + "---\n" + strings.Replace(keptSite, "s}", "r}", 1), "{"} {
		rs := Parse("ns1", files("s.yaml", text, "a.yaml", listener("a", 1)), Env{Last: lastOf(good)})
		if rs.Site != nil || !rs.SiteErr || strings.Contains(findings(rs), goesOn) {
			t.Errorf("%s: %s", text, findings(rs))
		}
	}
}

// TestKeepLink has the Secret of a running Link turn bad, which goes on, and go, which is for whoever has its certificate to say.
func TestKeepLink(t *testing.T) {
	secret := resourceText("Secret", "stringData: {ca.crt: a}")
	secret = strings.Replace(secret, "skupper.io/v2alpha1", "v1", 1)
	link := resourceText("Link", "spec: {tlsCredentials: x, endpoints: [{name: inter-router, host: h, port: '1'}]}")
	last := lastOf(files("s.yaml", keptSite, "x.yaml", secret, "l.yaml", link))
	for name, x := range map[string]string{"typo": strings.Replace(secret, "stringData", "strngData", 1), "gone": "", "unreadable": "{"} {
		rs := Parse("ns1", files("s.yaml", keptSite, "x.yaml", x, "l.yaml", link), Env{Last: last})
		if len(rs.Links) != 1 || (len(rs.Secrets) == 1) != (name != "gone") || rs.Links[0].Problems != nil {
			t.Errorf("%s: %s\n%s", name, describe(rs), findings(rs))
		}
	}
	if rs := Parse("ns1", files("s.yaml", keptSite, "l.yaml", link), Env{}); len(rs.Links) != 0 {
		t.Error("a Link that never ran is used without its Secret")
	}
}

// TestKeepProxy has the directory of a Link's proxy turn bad while the router has the proxy, and while not.
func TestKeepProxy(t *testing.T) {
	set := files("s.yaml", keptSite, "l.yaml", resourceText("Link", "spec: {tlsCredentials: c, endpoints: [{name: inter-router, host: h, port: '1'}], settings: {proxy-configuration: p}}"))
	env := Env{Certs: []string{"c"}, Proxies: []Proxy{{"p", "input/proxies/p", "", "1"}}, Last: lastOf(set)}
	if rs := Parse("ns1", set, env); len(rs.Links) != 0 {
		t.Error(findings(rs))
	}
	env.Routed = []string{"p"}
	const want = "l.yaml:4:114: spec.settings.proxy-configuration: input/proxies/p has no host that can be used. " +
		"Write host, port and, if the proxy wants them, username and password into files of this directory. What ran before goes on."
	if rs := Parse("ns1", set, env); len(rs.Links) != 1 || findings(rs) != want {
		t.Error(findings(rs))
	}
}

// TestKeepForeign has last versions that are not, or no longer, good.
func TestKeepForeign(t *testing.T) {
	bad := files("s.yaml", keptSite, "a.yaml", "{")
	for _, document := range []string{"", "{", "null", listener("b", 1), keptSite, "a: b", listener("a", 1) + "x: y\n"} {
		rs := Parse("ns1", bad, Env{Last: []Last{{"Listener", "a", "a.yaml", []byte(document)}}})
		if len(rs.Listeners) != 0 || len(rs.All) != 1 {
			t.Errorf("%q: %s", document, describe(rs))
		}
	}
}
