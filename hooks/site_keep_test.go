package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// running is a site with one of each kind, in files named after the kinds.
func running(t *testing.T, h Hooks) {
	t.Helper()
	certificates := realCerts(t)
	begin(t, h, "ns1")
	for name, text := range runningFiles {
		put(t, h, name, string(certificates([]byte(text))))
	}
	if s := refresh(t, h); s.Resources.Findings() != nil {
		t.Fatal(said(s))
	}
	refresh(t, h)
}

func secretText(name string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\ndata: {ca.crt: Y2E=, tls.crt: Y3J0, tls.key: a2V5}\n"
}

var runningFiles = map[string]string{
	"resources/site.yaml":     resourceText("Site", "s", ""),
	"resources/listener.yaml": resourceText("Listener", "web", "host: 0.0.0.0, port: 8080, routingKey: k, tlsCredentials: web"),
	"resources/connector.yaml": resourceText("Connector", "db", "host: 127.0.0.1, port: 5432, routingKey: db, tlsCredentials: x, useClientCert: true") +
		resourceText("Connector", "trusting", "host: 127.0.0.1, port: 5433, routingKey: db, tlsCredentials: web"),
	"resources/keys.yaml":   resourceText("MultiKeyListener", "m", "host: 0.0.0.0, port: 8081, strategy: {weighted: {routingKeys: {a: 1}}}"),
	"resources/access.yaml": resourceText("RouterAccess", "ra", "roles: [{name: inter-router}, {name: edge}]"),
	"resources/link.yaml":   resourceText("Link", "west", `tlsCredentials: z, endpoints: [{name: inter-router, host: h.example, port: "55671"}], settings: {proxy-configuration: corp}`),
	"resources/given.yaml":  resourceText("Link", "east", `tlsCredentials: y, endpoints: [{name: inter-router, host: h.example, port: "55671"}]`),
	"resources/secret.yaml": secretText("x"),
	"resources/other.yaml":  secretText("z"),
	"certs/web/ca.crt":      "Y2E=\n",
	"certs/web/tls.crt":     "Y3J0\n",
	"certs/web/tls.key":     "a2V5\n",
	"certs/y/ca.crt":        "Y2E=\n",
	"certs/y/tls.crt":       "Y3J0\n",
	"certs/y/tls.key":       "a2V5\n",
	"proxies/corp/host":     "proxy.example\n",
	"proxies/corp/port":     "3128\n",
	"proxies/corp/password": "hunter2\n",
}

// untouched is all of a namespace that a mistake must not change: everything but its input, what is kept of it and what is said of it.
func untouched(h Hooks) map[string]string {
	all := stamps(h.home("ns1"))
	for path := range all {
		name, _ := filepath.Rel(h.home("ns1"), path)
		if strings.HasPrefix(name, "input") || strings.HasPrefix(name, "runtime/resources") || strings.HasPrefix(name, "internal") || name == "." {
			delete(all, path)
		}
	}
	return all
}

// TestBadResources has a mistake in a resource of each kind, and in what lies beside them. The router and its certificates stay as
// they are, the resource's status has the error, and when the mistake is taken away nothing is written either.
func TestBadResources(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	replace := func(old, with string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, old, with) }
	}
	to := func(with string) func(string) string { return func(string) string { return with } }
	for _, c := range []struct {
		name, file string
		change     func(string) string
		resource   string // whose status has the error
		want       string // in the error
	}{
		{"listener's field", "resources/listener.yaml", replace("routingKey", "routngKey"), "Listener-web", "Did you mean routingKey?"},
		{"listener's port", "resources/listener.yaml", replace("8080", "8081"), "Listener-web", "belongs to the MultiKeyListener"},
		{"listener's port is the router's", "resources/listener.yaml", replace("8080", "5671"), "Listener-web", "belongs to the router's own endpoint"},
		{"listener's certificate", "resources/listener.yaml", replace("tlsCredentials: web", "tlsCredentials: '/'"), "Listener-web", "is not a name"},
		{"listener's syntax", "resources/listener.yaml", replace("}", ""), "Listener-web", "cannot be found for an error in this file"},
		{"another listener with its port", "resources/new.yaml", to(listenerText("a", 8080)), "Listener-a", "belongs to the Listener"},
		{"another listener of its name", "resources/new.yaml", to(listenerText("web", 8080)), "Listener-web", "there is another Listener"},
		{"connector", "resources/connector.yaml", replace("5432", "'5432'"), "Connector-db", "must be a whole number"},
		{"connector's kind", "resources/connector.yaml", replace("Connector", "Conector"), "Connector-db", "cannot be found for an error in this file"},
		{"multi-key listener", "resources/keys.yaml", replace("a: 1", "a: 0"), "MultiKeyListener-m", "must be at least 1"},
		{"router access", "resources/access.yaml", replace("inter-router", "inter"), "RouterAccess-ra", "is not a role"},
		{"router access without roles", "resources/access.yaml", replace("[{name: inter-router}, {name: edge}]", "[]"), "RouterAccess-ra", "is empty"},
		{"link", "resources/link.yaml", replace("55671", "556711"), "Link-west", "is not a port"},
		{"link's cost", "resources/link.yaml", replace("tlsCredentials", "cost: -1, tlsCredentials"), "Link-west", "must be at least 0"},
		{"link's proxy", "resources/link.yaml", replace("corp", "crop"), "Link-west", "or a directory input/proxies/crop"},
		{"secret's form", "resources/secret.yaml", replace("tls.key: ", "tls.key: a!"), "Secret-x", "is not base64"},
		{"secret's contents", "resources/secret.yaml", replace("tls.key: ", "tls.key: AAAA"), "Connector-db", "holds a damaged PEM block"},
		{"link's secret's contents", "resources/other.yaml", replace("tls.key: ", "tls.key: AAAA"), "Link-west", "holds a damaged PEM block"},
		{"link's secret gone", "resources/other.yaml", to(""), "Link-west", "is not there, and none is made for it"},
		{"user's certificate", "certs/web/tls.key", to("nonsense\n"), "Listener-web", "holds no private key in PEM form"},
		{"user's certificate for a connector", "certs/web/ca.crt", to("nonsense\n"), "Connector-trusting", "holds no certificate in PEM form"},
		{"user's certificate for a link", "certs/y/tls.crt", to("nonsense\n"), "Link-east", "holds no certificate in PEM form"},
		{"user's certificate for a link gone", "certs/y/tls.crt", to(""), "Link-east", ""},
		{"user's CA", "issuers/skupper-site-ca/tls.crt", to("nonsense\n"), "RouterAccess-ra", "is missing"},
		{"user's CA for the router's own endpoint", "issuers/skupper-local-ca/tls.crt", to("nonsense\n"), "Site-s", "is missing"},
		{"user's certificate for the router's own endpoint", "certs/skupper-local-server/tls.crt", to("nonsense\n"), "Site-s", "is missing"},
		{"proxy", "proxies/corp/port", to("http\n"), "Link-west", "has no port that can be used"},
		{"junk", "resources/junk.yaml", to("\x00"), "", ""},
		{"other kind", "resources/junk.yaml", to("apiVersion: v1\nkind: Deployment\nmetadata: {name: d}\n"), "Deployment-d", "is not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(h.home("ns1"), "input", c.file)
			good, err := os.ReadFile(path)
			before, statuses := untouched(h), tree(filepath.Join(h.home("ns1"), "runtime/resources"))
			put(t, h, c.file, c.change(string(good)))
			s := refresh(t, h)
			if diff := cmp.Diff(before, untouched(h)); diff != "" {
				t.Errorf("what ran was changed (-before +after):\n%s\nsaid: %s", diff, said(s))
			}
			if !s.Resources.Findings().HasErrors() {
				t.Error("nothing is said")
			}
			if text := status(h, c.resource); c.resource != "" && (!strings.Contains(text, c.want) || !strings.Contains(text, "status: Error")) {
				t.Errorf("the status is\n%s", text)
			}
			again := stamps(h.home("ns1"))
			refresh(t, h)
			if diff := cmp.Diff(again, stamps(h.home("ns1"))); diff != "" {
				t.Errorf("a second refresh writes (-before +after):\n%s", diff)
			}
			if put(t, h, c.file, string(good)); err != nil {
				unput(t, h, c.file)
				unput(t, h, filepath.Dir(c.file)+"/none")
				if strings.HasPrefix(c.file, "issuers/") || strings.HasPrefix(c.file, "certs/skupper") {
					unput(t, h, filepath.Dir(c.file))
				}
			}
			if s := refresh(t, h); s.Resources.Findings() != nil {
				t.Errorf("when it is right again: %s", said(s))
			}
			if diff := cmp.Diff(before, untouched(h)); diff != "" {
				t.Errorf("taking the mistake away changes something (-before +after):\n%s", diff)
			}
			for name, text := range tree(filepath.Join(h.home("ns1"), "runtime/resources")) {
				if diff := cmp.Diff(mask(h, statuses[name]), mask(h, text)); diff != "" {
					t.Errorf("%s (-before +after):\n%s", name, diff)
				}
			}
		})
	}
}

// TestGone removes resources one by one, which takes all of each away, while another file has an error that has nothing to do
// with them.
func TestGone(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	put(t, h, "resources/junk.yaml", "{")
	for file, name := range map[string][2]string{"listener": {"Listener-web", "listener/web"}, "keys": {"MultiKeyListener-m", "multiAddress/m"}, "link": {"Link-west", "west"},
		"access": {"RouterAccess-ra", "ra-edge"}} {
		unput(t, h, "resources/"+file+".yaml")
		s := refresh(t, h)
		if e := entity(t, h, name[1]); e != nil || status(h, name[0]) != "" {
			t.Errorf("%s is still there: %v\n%s", name[0], e, said(s))
		}
		if _, err := os.Stat(filepath.Join(h.snapshotDir("ns1"), name[0]+".yaml")); err == nil {
			t.Errorf("%s is still remembered", name[0])
		}
	}
	// What comes back with a mistake has nothing to go on with.
	put(t, h, "resources/listener.yaml", resourceText("Listener", "web", "host: 0.0.0.0, port: '8080', routingKey: k"))
	if refresh(t, h); entity(t, h, "listener/web") != nil || !strings.Contains(status(h, "Listener-web"), "must be a whole number") {
		t.Error(status(h, "Listener-web"))
	}
}

// TestUntrusted has others be able to write a file of a site that root runs: it is not read, and what ran goes on.
func TestUntrusted(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	before := configText(t, h)
	for _, name := range []string{"resources/listener.yaml", "resources/secret.yaml", "certs/web/tls.key", "certs/y/tls.crt", "proxies/corp/host", "resources"} {
		path := filepath.Join(h.home("ns1"), "input", name)
		old, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o777)
		s := refresh(t, h)
		if string(configText(t, h)) != string(before) {
			t.Errorf("%s: the router changed; %s", name, said(s))
		}
		if !s.Resources.Findings().HasErrors() {
			t.Errorf("%s: nothing is said", name)
		}
		os.Chmod(path, old.Mode())
		if s := refresh(t, h); s.Resources.Findings() != nil {
			t.Error(said(s))
		}
	}
}

// TestSnapshotSecrets keeps secrets from others, and takes no documents from them.
func TestSnapshotSecrets(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	path := filepath.Join(h.snapshotDir("ns1"), "Listener-web.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if last := h.readSnapshot("ns1"); len(last) != 9 {
		t.Errorf("%d documents", len(last))
	}
	refresh(t, h)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// Upstream writes snapshots without saying where they come from.
	_, document, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, h, "resources/listener.yaml", "{")
	if refresh(t, h); entity(t, h, "listener/web") != nil {
		t.Error("a foreign snapshot is used")
	}
}

// TestNameClash has new resources come to names that the router has for what runs, in the kinds that would otherwise go first.
func TestNameClash(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	before := configText(t, h)
	for name, text := range map[string]string{
		"RouterAccess-west": resourceText("RouterAccess", "west", "roles: [{name: inter-router, port: 4711}]"),
		"Listener-l":        resourceText("Listener", "l", "host: 0.0.0.0, port: 4711, routingKey: k, tlsCredentials: west"),
	} {
		put(t, h, "resources/new.yaml", text)
		if refresh(t, h); string(configText(t, h)) != string(before) || !strings.Contains(status(h, name), `the router would have a sslProfile \"west\" beside its connector`) {
			t.Errorf("%s\n%s", status(h, name), configText(t, h))
		}
		unput(t, h, "resources/new.yaml")
		if s := refresh(t, h); s.Resources.Findings() != nil {
			t.Error(said(s))
		}
	}
}
