package pki

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/site"
)

// show lists wants, one a line, without the authorities and certificates that each site has.
func show(wants []Want) string {
	var b strings.Builder
	for _, w := range wants {
		if slices.Contains([]string{LocalCA, LocalServer, LocalClient, SiteCA, ServiceCA}, w.Name) && !w.Hold && w.Given == nil {
			continue
		}
		source := w.Issuer
		if w.Given != nil {
			source = w.From
		}
		if w.Hold {
			source = "held"
		}
		fmt.Fprintf(&b, "%s %s %q %v %s\n", []string{"identity", "trust", "authority"}[w.Kind], w.Name, w.Subject, w.Hosts, source)
	}
	return b.String()
}

// said lists what was found, a line each.
func said(r *site.Resources) string {
	var b strings.Builder
	for _, d := range r.Findings() {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

func listener(name, host, credentials string) site.Listener {
	return site.Listener{Resource: resource("Listener", name), Host: host, Port: 1, TLSCredentials: credentials}
}

func connector(name, host, credentials string, client bool) site.Connector {
	return site.Connector{Resource: resource("Connector", name), Host: host, Port: 1, TLSCredentials: credentials, UseClientCert: client}
}

func link(name, credentials string) site.Link {
	return site.Link{Resource: resource("Link", name), TLSCredentials: credentials, Cost: 1}
}

func certificate(name, ca string, hosts ...string) site.Certificate {
	return site.Certificate{Resource: resource("Certificate", name), CA: ca, Subject: name + "-cn", Hosts: hosts, Server: true}
}

func TestWanted(t *testing.T) {
	ca, other := testCA(t, "corp", now), testCA(t, "other", now)
	leaf := testLeaf(t, "x", ca, now, "x.example")
	client := testLeaf(t, "client-x", ca, now)
	expired := testLeaf(t, "x", ca, now.Add(-6*year))
	strange := Bundle{CA: other.CA, Cert: leaf.Cert, Key: leaf.Key}
	only := Bundle{CA: ca.CA}
	for _, test := range []struct {
		name  string
		build func(r *site.Resources, in *Input)
		wants string
		said  string
	}{
		{"RouterAccess", func(r *site.Resources, in *Input) {
			a := access("x", "a.example", "10.0.0.5")
			a.BindHost, a.Issuer, a.TLSCredentials = "192.0.2.1", "my-ca", "creds"
			r.RouterAccesses = append(r.RouterAccesses, a)
		}, `authority my-ca "my-ca" [] 
identity creds "x" [a.example 10.0.0.5 192.0.2.1] my-ca
identity client-creds "client-creds" [] my-ca
`, ""},
		{"RouterAccess on all addresses is reached at the loopback", func(r *site.Resources, in *Input) {
			a := access("x", "::")
			a.BindHost = "0.0.0.0"
			r.RouterAccesses = append(r.RouterAccesses, a)
		}, `identity x "x" [:: 127.0.0.1] skupper-site-ca
identity client-x "client-x" [] skupper-site-ca
`, ""},
		{"one certificate for two", func(r *site.Resources, in *Input) {
			r.Listeners = append(r.Listeners, listener("l", "10.0.0.1", "x"))
			r.Connectors = append(r.Connectors, connector("c", "db", "x", true))
			r.MultiKeyListeners = append(r.MultiKeyListeners, site.MultiKeyListener{Resource: resource("MultiKeyListener", "m"), Host: "0.0.0.0", TLSCredentials: "x"})
		}, `identity x "10.0.0.1" [10.0.0.1 db 0.0.0.0] skupper-service-ca
`, ""},
		{"a Listener with the certificate of a RouterAccess", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x", "a"))
			r.Listeners = append(r.Listeners, listener("l", "b", "x"))
		}, `identity x "x" [a 127.0.0.1 b] skupper-site-ca
identity client-x "client-x" [] skupper-site-ca
`, ""},
		{"a Certificate decides for a RouterAccess and its client", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x", "a"))
			signing := certificate("my-ca", "")
			signing.Server, signing.Signing = false, true
			r.Certificates = append(r.Certificates, signing, certificate("x", "my-ca", "c"))
		}, `authority my-ca "my-ca-cn" [] 
identity x "x-cn" [c a 127.0.0.1] my-ca
identity client-x "client-x" [] my-ca
`, ""},
		{"two that name different CAs", func(r *site.Resources, in *Input) {
			a, b := access("a"), access("b")
			a.Issuer, b.Issuer, b.TLSCredentials = "ca-a", "ca-b", "a"
			r.RouterAccesses = append(r.RouterAccesses, a, b)
		}, `authority ca-a "ca-a" [] 
identity a "a" [127.0.0.1] ca-a
identity client-a "client-a" [] ca-a
`, `input/resources/b.yaml:3:9: spec.tlsCredentials: the certificate "a" comes from the CA "ca-a" for another resource, and from "ca-b" for this one. Choose another name for one of them.
`},
		{"a Certificate without its CA", func(r *site.Resources, in *Input) {
			r.Certificates = append(r.Certificates, certificate("x", "none"))
		}, `identity x "" [] held
`, `input/resources/x.yaml:3:9: spec.ca: there is no CA "none". Add a Certificate of that name with signing: true, or put the CA into input/issuers/none.
`},
		{"a Certificate of a CA in input/issuers", func(r *site.Resources, in *Input) {
			r.Certificates = append(r.Certificates, certificate("x", "corp", "h"))
			in.Issuers = []Given{{Name: "corp", Dir: "input/issuers/corp", Bundle: ca}}
		}, `authority corp "corp" [] input/issuers/corp
identity x "x-cn" [h] corp
`, ""},
		{"the site's own certificate under another's name", func(r *site.Resources, in *Input) {
			r.Listeners = append(r.Listeners, listener("l", "h", LocalServer))
		}, "", `input/resources/l.yaml:3:9: spec.tlsCredentials: the certificate "skupper-local-server" is that of the site, which needs another one under this name. Choose another name for one of them.
`},
		{"CA for a Connector", func(r *site.Resources, in *Input) {
			r.Connectors = append(r.Connectors, connector("c", "db", "x", false))
		}, `identity x "db" [db] skupper-service-ca
trust x-profile "" [] skupper-service-ca
`, ""},
		{"the user's CA for a Connector is enough", func(r *site.Resources, in *Input) {
			r.Connectors = append(r.Connectors, connector("c", "db", "x", false))
			r.Secrets = append(r.Secrets, secret("x", only))
		}, `identity x "" [] the Secret "x"
trust x-profile "" [] the Secret "x"
`, ""},
		{"the user's CA is not enough for a Listener", func(r *site.Resources, in *Input) {
			r.Connectors = append(r.Connectors, connector("c", "db", "x", false))
			r.Listeners = append(r.Listeners, listener("l", "h", "x"))
			r.Secrets = append(r.Secrets, secret("x", only))
		}, `identity x "" [] the Secret "x"
trust x-profile "" [] the Secret "x"
`, `input/resources/x.yaml:3:9: data["tls.crt"]: is missing; the Listener "l" needs it. Put it there, in PEM form.
`},
		{"a Listener needs no CA", func(r *site.Resources, in *Input) {
			r.Listeners = append(r.Listeners, listener("l", "h", "x"))
			r.Secrets = append(r.Secrets, secret("x", Bundle{Cert: leaf.Cert, Key: leaf.Key}))
		}, `identity x "" [] the Secret "x"
`, ""},
		{"Link and Connector with one Secret", func(r *site.Resources, in *Input) {
			r.Links = append(r.Links, link("l", "x"))
			r.Connectors = append(r.Connectors, connector("c", "db", "x", false))
			r.Secrets = append(r.Secrets, secret("x", leaf))
		}, `identity x "" [] the Secret "x"
identity x-profile "" [] the Secret "x"
`, ""},
		{"a directory goes before a Secret", func(r *site.Resources, in *Input) {
			r.Links = append(r.Links, link("l", "x"))
			r.Secrets = append(r.Secrets, secret("x", expired))
			in.Certs = []Given{given("x", leaf)}
		}, `identity x-profile "" [] input/certs/x
`, ""},
		{"a Link without its certificate", func(r *site.Resources, in *Input) {
			r.Links = append(r.Links, link("l", "x"))
		}, `identity x-profile "" [] held
`, `input/resources/l.yaml:3:9: spec.tlsCredentials: the certificate "x" is not there, and none is made for it. Put ca.crt, tls.crt and tls.key into input/certs/x, or add a Secret of that name.
`},
		{"a bad Secret for a Link", func(r *site.Resources, in *Input) {
			r.Links = append(r.Links, link("l", "x"), link("m", "x"))
			r.Secrets = append(r.Secrets, secret("x", Bundle{Cert: leaf.Cert, Key: leaf.Key}))
		}, `identity x-profile "" [] held
`, `input/resources/x.yaml:3:9: data["ca.crt"]: is missing; the Link "l" needs it. Put it there, in PEM form.
input/resources/x.yaml:3:9: data["ca.crt"]: is missing; the Link "m" needs it. Put it there, in PEM form.
`},
		{"each end of a link with a CA of its own", func(r *site.Resources, in *Input) {
			r.Links = append(r.Links, link("l", "y"))
			r.Secrets = append(r.Secrets, secret("y", strange))
			a := access("x")
			a.Given = true
			r.RouterAccesses = append(r.RouterAccesses, a)
			in.Certs = []Given{given("client-x", client), given("x", strange)}
		}, `identity x "" [] input/certs/x
identity client-x "" [] input/certs/client-x
identity y-profile "" [] the Secret "y"
`, `input/certs/x/tls.crt: warning: does not come from an authority in ca.crt, as it would where one CA is for both ends of a link. Where one is, put its certificate into ca.crt.
input/resources/y.yaml:3:9: warning: data["tls.crt"]: does not come from an authority in ca.crt, as it would where one CA is for both ends of a link. Where one is, put its certificate into ca.crt.
`},
		{"a RouterAccess whose certificate is the user's (thread 29)", func(r *site.Resources, in *Input) {
			a := access("x", "ignored")
			a.Given = true
			r.RouterAccesses = append(r.RouterAccesses, a)
			in.Certs = []Given{given("client-x", client), given("x", leaf)}
		}, `identity x "" [] input/certs/x
identity client-x "" [] input/certs/client-x
`, ""},
		{"a RouterAccess whose certificate is to be the user's", func(r *site.Resources, in *Input) {
			a := access("x")
			a.Given = true
			r.RouterAccesses = append(r.RouterAccesses, a)
		}, `identity x "" [] held
identity client-x "" [] held
`, `input/resources/x.yaml:3:9: spec.tlsCredentials: the certificate "x" is not there, and none is made for it. Put ca.crt, tls.crt and tls.key into input/certs/x, or add a Secret of that name.
`},
		{"a RouterAccess with the user's certificate and no client's", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x"))
			in.Certs = []Given{given("x", leaf)}
		}, `identity x "" [] input/certs/x
identity client-x "" [] held
`, `input/resources/x.yaml:3:9: warning: spec.tlsCredentials: there are no static links, as the user's certificate "x" has another CA than the "skupper-site-ca" that would sign a client's. Put a client's certificate into input/certs/client-x.
`},
		{"a RouterAccess with the user's certificate and its CA", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x"))
			in.Certs = []Given{given("x", leaf)}
			in.Issuers = []Given{{Name: SiteCA, Dir: "input/issuers/" + SiteCA, Bundle: ca}}
		}, `authority skupper-site-ca "skupper-site-ca" [] input/issuers/skupper-site-ca
identity x "" [] input/certs/x
identity client-x "client-x" [] skupper-site-ca
`, ""},
		{"a bad certificate of a client costs only the links", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x", "a"))
			in.Certs = []Given{given("client-x", expired)}
		}, `identity x "x" [a 127.0.0.1] skupper-site-ca
identity client-x "" [] held
`, `input/certs/client-x/tls.crt: warning: expired on 2025-`},
		{"a bad CA", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x", "a"))
			r.Listeners = append(r.Listeners, listener("l", "h", "y"))
			in.Issuers = []Given{{Name: SiteCA, Dir: "input/issuers/" + SiteCA, Bundle: leaf}}
		}, `authority skupper-site-ca "skupper-site-ca" [] held
identity x "" [] held
identity client-x "" [] held
identity y "h" [h] skupper-service-ca
`, `input/issuers/skupper-site-ca/tls.crt: is not the certificate of a CA; the RouterAccess "x" needs it. Make it with basicConstraints CA:TRUE and keyUsage keyCertSign.
`},
		{"a bad CA that nobody needs", func(r *site.Resources, in *Input) {
			in.Issuers = []Given{{Name: ServiceCA, Dir: "input/issuers/" + ServiceCA, Bundle: only}}
		}, `authority skupper-service-ca "skupper-service-ca" [] held
`, `input/issuers/skupper-service-ca/tls.crt: warning: is missing. Put it there, in PEM form.
`},
		{"a bad CA of the site's own endpoint", func(r *site.Resources, in *Input) {
			in.Issuers = []Given{{Name: LocalCA, Dir: "input/issuers/" + LocalCA, Bundle: only}}
		}, `authority skupper-local-ca "skupper-local-ca" [] held
identity skupper-local-server "" [] held
identity skupper-local-client "" [] held
`, `input/issuers/skupper-local-ca/tls.crt: is missing; the site needs it. Put it there, in PEM form.
`},
		{"the CA in use goes before a Secret", func(r *site.Resources, in *Input) {
			r.Secrets = append(r.Secrets, secret(SiteCA, other))
			in.Have = []Given{{Name: SiteCA, Dir: "runtime/issuers/" + SiteCA, Bundle: ca}}
		}, "", ""},
		{"a Secret for a CA (thread 30)", func(r *site.Resources, in *Input) {
			r.Secrets = append(r.Secrets, secret(SiteCA, Bundle{Cert: ca.Cert, Key: ca.Key}))
		}, `authority skupper-site-ca "skupper-site-ca" [] the Secret "skupper-site-ca"
`, ""},
		{"a CA in use that is damaged (W7)", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x"))
			in.Have = []Given{{Name: SiteCA, Dir: "runtime/issuers/" + SiteCA, Bundle: only}}
		}, `authority skupper-site-ca "skupper-site-ca" [] held
identity x "" [] held
identity client-x "" [] held
`, "runtime/issuers/skupper-site-ca: is no longer a CA: tls.crt holds no certificate in PEM form; the RouterAccess"},
		{"a user's CA in use that has expired", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x"))
			in.Have = []Given{{Name: SiteCA, Dir: "runtime/issuers/" + SiteCA, Bundle: testCA(t, "corp", now.Add(-6*year))}}
		}, `authority skupper-site-ca "skupper-site-ca" [] held
identity x "" [] held
identity client-x "" [] held
`, "runtime/issuers/skupper-site-ca: is the directory of a CA whose certificate expired on 2025-"},
		{"names that collide", func(r *site.Resources, in *Input) {
			r.Listeners = append(r.Listeners, listener("l", "h", "x-profile"))
			r.Connectors = append(r.Connectors, connector("c", "db", "x", false))
		}, `identity x-profile "h" [h] skupper-service-ca
identity x "" [] held
`, `input/resources/c.yaml:3:9: spec.tlsCredentials: the certificate "x-profile" is that of the Listener "l", which needs another one under this name. Choose another name for one of them.
`},
		{"an empty Secret (W8)", func(r *site.Resources, in *Input) {
			r.RouterAccesses = append(r.RouterAccesses, access("x", "a"))
			r.Secrets = append(r.Secrets, secret("client-x", Bundle{}))
		}, `identity x "x" [a 127.0.0.1] skupper-site-ca
identity client-x "" [] held
`, `input/resources/client-x.yaml:3:9: warning: data["ca.crt"]: is missing; the RouterAccess "x" needs it`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, in := bare(), Input{}
			test.build(r, &in)
			all(r)
			got := show(Wanted(r, in, now))
			if got != test.wants {
				t.Errorf("wants\n%s\nwant\n%s", got, test.wants)
			}
			if found := said(r); (test.said == "" || strings.HasSuffix(test.said, "\n")) && found != test.said || !strings.Contains(found, test.said) {
				t.Errorf("found\n%s\nwant\n%s", found, test.said)
			}
			for _, res := range r.All {
				if res.Quarantined() && res != r.All[0] && holds(r, res) {
					t.Errorf("%s %s is bad and in use", res.Kind, res.Name)
				}
			}
		})
	}
}

// all fills All from the slices, the Site first.
func all(r *site.Resources) {
	r.All = append(r.All, r.Site.Resource)
	for _, v := range r.Certificates {
		r.All = append(r.All, v.Resource)
	}
	for _, v := range r.RouterAccesses {
		r.All = append(r.All, v.Resource)
	}
	for _, v := range r.Listeners {
		r.All = append(r.All, v.Resource)
	}
	for _, v := range r.Connectors {
		r.All = append(r.All, v.Resource)
	}
	for _, v := range r.Links {
		r.All = append(r.All, v.Resource)
	}
}

func holds(r *site.Resources, res *site.Resource) bool {
	return slices.ContainsFunc(r.Certificates, func(v site.Certificate) bool { return v.Resource == res }) ||
		slices.ContainsFunc(r.RouterAccesses, func(v site.RouterAccess) bool { return v.Resource == res }) ||
		slices.ContainsFunc(r.Listeners, func(v site.Listener) bool { return v.Resource == res }) ||
		slices.ContainsFunc(r.Connectors, func(v site.Connector) bool { return v.Resource == res }) ||
		slices.ContainsFunc(r.Links, func(v site.Link) bool { return v.Resource == res })
}

// TestWantedWithoutSite: no Site, nothing to do.
func TestWantedWithoutSite(t *testing.T) {
	if wants := Wanted(&site.Resources{}, Input{}, now); wants != nil {
		t.Errorf("wants %v", wants)
	}
}

// TestConnect: upstream's text, for clients only and not before the port is known.
func TestConnect(t *testing.T) {
	for _, w := range Wanted(bare(), Input{LocalPort: 5671}, now) {
		if has := w.Connect != nil; has != (w.Name == LocalClient) || has && !strings.Contains(string(w.Connect), "\n    \"port\": \"5671\",\n") {
			t.Errorf("%s: %s", w.Name, w.Connect)
		}
	}
	for _, w := range Wanted(bare(), Input{}, now) {
		if w.Connect != nil {
			t.Errorf("%s: %s", w.Name, w.Connect)
		}
	}
}

// TestBadCertificateIsNotCopied: what ran with the last good one keeps it until the new one is good, and then gets it.
func TestBadCertificateIsNotCopied(t *testing.T) {
	dir := t.TempDir()
	ca := testCA(t, "corp", now)
	first, next := testLeaf(t, "x", ca, now), testLeaf(t, "x", ca, now.Add(time.Minute))
	run := func(b Bundle) (changed []string, r *site.Resources) {
		r = bare()
		r.Listeners = append(r.Listeners, listener("l", "h", "x"))
		return ensureAt(t, dir, Wanted(r, Input{Certs: []Given{given("x", b)}}, now), now), r
	}
	run(first)
	bad := next
	bad.Key = first.Key
	changed, r := run(bad)
	if len(r.Listeners) != 0 || len(changed) != 0 || !load(t, dir, "certs/x").equal(first) {
		t.Errorf("changed %q, listeners %v", changed, r.Listeners)
	}
	changed, r = run(next)
	if len(r.Listeners) != 1 || !slices.Equal(changed, []string{"x"}) || !load(t, dir, "certs/x").equal(next) {
		t.Errorf("changed %q, listeners %v", changed, r.Listeners)
	}
}
