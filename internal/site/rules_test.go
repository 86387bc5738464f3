package site

import (
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/source"
)

// parse reads one file, with a Site named s before it in another.
func parse(text string, env Env) *Resources {
	const s = "apiVersion: skupper.io/v2alpha1\nkind: Site\nmetadata: {name: s}\n"
	return Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(text)}, {Path: "site.yaml", Data: []byte(s)}}, env)
}

// resourceText is a Skupper resource named x, from its line 4 on.
func resourceText(kind, spec string) string {
	return "apiVersion: skupper.io/v2alpha1\nkind: " + kind + "\nmetadata: {name: x}\n" + spec + "\n"
}

func findings(rs *Resources) string {
	var lines []string
	for _, d := range rs.Findings() {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

const testCA = "|\n    -----BEGIN CERTIFICATE-----\n    MIIB\n    -----END CERTIFICATE-----\n"

// TestRules wants a resource to be used where want is empty, and left out with exactly these findings otherwise. A finding that
// begins with a * is a warning.
func TestRules(t *testing.T) {
	env := Env{Certs: []string{"c"}, Proxies: []Proxy{{"p", "input/proxies/p", "h", "1"}}}
	for _, c := range []struct{ kind, spec, want string }{
		{"Listener", "spec: {routingKey: k, host: localhost, port: 1}", ""},
		{"Listener", "spec: {routingKey: k, host: '::1', port: 65535, type: tcp, observer: none}", ""},
		{"Listener", "spec: {routingKey: k, host: h, port: 1, type: '', observer: '', tlsCredentials: ''}", ""},
		{"RouterAccess", "spec: {roles: [{name: edge}], bindHost: '', issuer: '', tlsCredentials: '', accessType: ''}", ""},
		{"Link", "spec: {tlsCredentials: c, endpoints: [{name: inter-router, host: h, port: '1', group: ''}], settings: {proxy-configuration: ''}}", ""},
		{"Listener", "", "1:1: spec: is missing. Write routingKey, host and port below spec."},
		{"Listener", "spec:", "1:1: spec: is missing. Write routingKey, host and port below spec."},
		{"Listener", "spec: text", "4:7: spec: must be an object, not a string. Its fields are routingKey, host, port, tlsCredentials, type, observer, exposePodsByName, settings."},
		{"Listener", "spec: {routingKey: k, host: h, port: 0}", "4:38: spec.port: must be at least 1, not 0. Write a number from 1 to 65535."},
		{"Listener", "spec: {routingKey: k, host: h, port: 65536}", "4:38: spec.port: must be at most 65535, not 65536. Write a number from 1 to 65535."},
		{"Listener", "spec: {routingKey: k, host: h, port: 99999999999999999999}", "4:38: spec.port: must be at most 65535, not 99999999999999999999. Write a number from 1 to 65535."},
		{"Listener", "spec: {routingKey: k, host: h, port: 010}", `4:38: spec.port: "010" is not a decimal number. Write digits only, without a 0 before them.`},
		{"Listener", "spec: {routingKey: k, host: h, port: 08080}", `4:38: spec.port: "08080" is not a decimal number. Write digits only, without a 0 before them.`},
		{"Listener", "spec: {routingKey: k, host: h, port: 1.5}", "4:38: spec.port: must be a whole number, not a number with a fraction. Write a whole number."},
		{"Listener", "spec: {routingKey: k, host: h, port: yes}", "4:38: spec.port: must be a whole number, not a string. Write a whole number."},
		{"Listener", "spec: {routingKey: k, host: h, port: null}", "4:38: spec.port: is empty. Write a number from 1 to 65535."},
		{"Listener", "spec: {routingKey: 5, host: h, port: 1}", "4:20: spec.routingKey: must be a string, not a whole number. Put it in quotes."},
		{"Listener", "spec: {routingKey: 'a b', host: h, port: 1}", `4:20: spec.routingKey: "a b" is not a routing key. Write a word without blanks.`},
		{"Listener", `spec: {routingKey: "a\u0007", host: h, port: 1}`, "4:20: spec.routingKey: holds the character U+0007. Remove it."},
		{"Listener", `spec: {routingKey: k, host: "h\n", port: 1}`, "4:29: spec.host: holds the character U+000A. Remove it."},
		{"Listener", `spec: {routingKey: k, host: "h\u202e", port: 1}`, `4:29: spec.host: "h\u202e" is neither an IP address nor a DNS name. Write an IP address or a DNS name.`},
		{"Listener", "spec: {routingKey: k, host: h, port: 1, observer: http}", `4:51: spec.observer: "http" is not supported. Did you mean http1?`},
		{"Listener", "spec: {routingKey: k, host: h, port: 1, tlsCredentials: ../x}", `4:57: spec.tlsCredentials: "../x" is not a name. Write letters and digits, with -, . and _ between them.`},
		{"Listener", "spec: {routingKey: k, host: h, port: 1, exposePodsByName: false, settings: {}}", ""},
		{"Listener", "spec: {routingKey: k, host: h, port: 1, exposePodsByName: true, settings: {a: b}}",
			"*4:41: warning: spec.exposePodsByName: has no effect outside Kubernetes. " + idleHint + "\n4:65: warning: spec.settings: has no effect outside Kubernetes. " + idleHint},
		{"Listener", "spec: {routingKey: k, host: h, port: 1, port: 2}", "4:41: spec.port: is given twice. Keep one of the two; the first is in line 4, column 32."},
		{"Listener", "spec: {routingkey: k, hst: h, port: 1}", "4:8: spec.routingkey: is not a field. Did you mean routingKey?\n4:23: spec.hst: is not a field. Did you mean host?"},
		{"Listener", "spec: {routingKey: k, host: h, port: 1}\nsepc: {}", "5:1: sepc: is not a field. Did you mean spec?"},
		{"Listener", "spec: {routingKey: k, host: h, port: 1, wibble: 1}", "4:41: spec.wibble: is not a field. The fields here are routingKey, host, port, tlsCredentials, type, observer, exposePodsByName, settings."},
		{"Listener", "spec: {routingKey: !x k, host: h, port: 1}", `4:20: spec.routingKey: the tag "!x" is not supported. Remove it.`},
		{"Listener", "spec: {routingKey: !!str 5, host: h, port: 1}", ""},
		{"Listener", "spec: {routingKey: &k y, host: *k, port: 1}", ""},
		{"Listener", "spec: {routingKey: *k, host: h, port: 1}", `4:20: spec.routingKey: there is no anchor "k" before this. Write the value itself.`},
		{"Listener", "spec:\n  <<: {host: h, port: 5}\n  routingKey: k\n  port: 6", ""},

		{"Connector", "spec: {routingKey: k, host: db, port: 1, useClientCert: true, verifyHostname: true, tlsCredentials: c}", ""},
		{"Connector", "spec: {routingKey: k, host: db, port: 1, type: udp}", `4:48: spec.type: "udp" is not supported. Write tcp.`},
		{"Connector", "spec: {routingKey: k, host: db, port: 1, useClientCert: true}", "*4:42: warning: spec.useClientCert: has no effect without tlsCredentials. Write tlsCredentials, or remove it."},
		{"Connector", "spec: {routingKey: k, host: db, port: 1, useClientCert: 'true'}", "4:57: spec.useClientCert: must be true or false, not a string. Write it without quotes."},
		{"Connector", "spec: {routingKey: k, port: 1}", "4:1: spec.host: is missing. Write the host to connect to."},

		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {weighted: {routingKeys: {b: 2, a: 1}}}}", ""},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {weighted: {routingKeys: {b: two}}}}", "4:65: spec.strategy.weighted.routingKeys.b: must be a whole number, not a string. Write a whole number."},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {weighted: {routingKeys: {}}}}", "4:61: spec.strategy.weighted.routingKeys: is empty. Write an object of routing keys with their weights."},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {weighted: {routingKeys: [a]}}}", "4:61: spec.strategy.weighted.routingKeys: must be an object of whole numbers, not a list. Write an object of whole numbers."},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {priority: {}}}", "4:37: spec.strategy.priority.routingKeys: is missing. Write a list of routing keys, the first choice first."},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {priority: {routingKeys: [a, b, a]}}}", `4:68: spec.strategy.priority.routingKeys[2]: "a" is in the list already. Remove one of them.`},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {priority: {routingKeys: [a, '']}}}", `4:65: spec.strategy.priority.routingKeys[1]: "" is not a routing key. Write a word without blanks.`},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {prio: {routingKeys: [a]}}}", "4:37: spec.strategy.prio: is not a field. The fields here are priority, weighted."},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {priority: {routingKeys: [a]}}, requireClientCert: true}",
			"4:68: spec.requireClientCert: needs tlsCredentials. Write tlsCredentials, which say whose certificates are taken."},

		{"Link", "spec: {tlsCredentials: c, cost: 3, endpoints: [{name: inter-router, host: h, port: '1'}]}", ""},
		{"Link", "spec: {tlsCredentials: c, endpoints: []}", "4:38: spec.endpoints: is empty. Write a list of name, host and port."},
		{"Link", "spec: {tlsCredentials: c, endpoints: [{name: inter-router, host: h, port: 55671}]}", "4:75: spec.endpoints[0].port: must be a string, not a whole number. Put it in quotes."},
		{"Link", "spec: {tlsCredentials: c, endpoints: [{name: inter-router, host: h, port: '70000'}]}", `4:75: spec.endpoints[0].port: "70000" is not a port. Write a number from 1 to 65535, in quotes.`},
		{"Link", "spec: {tlsCredentials: c, endpoints: [{name: inter-router, host: h}]}", "4:39: spec.endpoints[0].port: is missing. Write a port as a string, such as \"55671\"."},
		{"Link", "spec: {tlsCredentials: c, endpoints: [{name: inter_router, host: h, port: '1'}]}",
			"4:38: spec.endpoints: has no usable endpoint: this site's router links to one called inter-router. Add an endpoint of that name.\n" +
				`4:46: warning: spec.endpoints[0].name: no router links to an endpoint "inter_router". Did you mean inter-router?`},
		{"Link", "spec: {endpoints: [{name: inter-router, host: h, port: '1'}]}", "4:1: spec.tlsCredentials: is missing. Write the name of a Secret, or of a directory below input/certs, with ca.crt, tls.crt and tls.key."},
		{"Link", "spec: {tlsCredentials: c, cost: 2147483648, endpoints: [{name: inter-router, host: h, port: '1'}]}", "4:33: spec.cost: must be at most 2147483647, not 2147483648. Write a number from 0 to 2147483647."},
		{"Link", "spec: {tlsCredentials: c, settings: {proxy-configuration: p}, endpoints: [{name: inter-router, host: h, port: '1'}]}", ""},
		{"Link", "spec: {tlsCredentials: c, settings: {proxy-config: p}, endpoints: [{name: inter-router, host: h, port: '1'}]}",
			"*4:38: warning: spec.settings.proxy-config: has no effect outside Kubernetes. " + idleHint},

		{"RouterAccess", "spec: {roles: [{name: edge, port: 1}, {name: inter-router}], bindHost: '::', subjectAlternativeNames: ['*.example.com', 10.0.0.1], issuer: my.ca, generateTlsCredentials: true}", ""},
		{"RouterAccess", "spec: {roles: []}", "4:15: spec.roles: is empty. Write a list of roles, such as - name: inter-router."},
		{"RouterAccess", "spec: {roles: {name: edge}}", "4:15: spec.roles: must be a list of objects, not an object. Write each item in a line of its own, after a - and a blank."},
		{"RouterAccess", "spec: {roles: [{name: inter-ruter}]}", `4:23: spec.roles[0].name: "inter-ruter" is not a role. Did you mean inter-router?`},
		{"RouterAccess", "spec: {roles: [{name: edge}, {name: edge}]}", "4:37: spec.roles[1].name: the role edge is given twice. Remove one of them."},
		{"RouterAccess", "spec: {roles: [{name: edge, port: 5}, {name: inter-router, port: 5}]}", "4:66: spec.roles[1].port: is the port of another role. Write another port."},
		{"RouterAccess", "spec: {roles: [{name: edge, port: -1}]}", "4:35: spec.roles[0].port: must be at least 0, not -1. Write a number from 0 to 65535."},
		{"RouterAccess", "spec: {roles: [{name: edge}], bindHost: 1.2.3}", `4:41: spec.bindHost: "1.2.3" is neither an IP address nor a DNS name. Write an IP address or a DNS name.`},
		{"RouterAccess", "spec: {roles: [{name: edge}], subjectAlternativeNames: [a_b]}", `4:57: spec.subjectAlternativeNames[0]: "a_b" is neither an IP address nor a DNS name. Write an IP address or a DNS name.`},
		{"RouterAccess", "spec: {roles: [{name: edge}], tlsCredentials: a.b}", `4:47: spec.tlsCredentials: "a.b" is not a name. Write lower-case letters and digits, with - between them.`},
		{"RouterAccess", "spec: {roles: [{name: edge}], accessType: route}", "*4:31: warning: spec.accessType: has no effect outside Kubernetes. " + idleHint},
		{"RouterAccess", "spec: {roles: [{name: edge}], generateTlsCredentials: false, tlsCredentials: c}", ""},

		{"AccessToken", "spec:\n  url: https://h:1/x\n  code: c\n  linkCost: 2\n  ca: " + testCA, ""},
		{"AccessToken", "spec:\n  url: ftp://h\n  code: c\n  ca: " + testCA, "5:8: spec.url: is not an https URL. Write the URL of the grant, which begins with https://."},
		{"AccessToken", "spec:\n  url: https://h\n  ca: x", "4:1: spec.code: is missing. Write the code of the grant.\n6:7: spec.ca: is not a certificate in PEM form. Write the grant's status.ca, from its BEGIN to its END line."},

		{"Certificate", "spec: {ca: skupper-site-ca, subject: x, server: true, hosts: [a.example]}", ""},
		{"Certificate", "spec: {subject: my-ca, signing: true}", ""},
		{"Certificate", "spec: {subject: x, server: true}", "4:1: spec.ca: is missing. Write the name of the CA that signs it, such as skupper-site-ca."},
		{"Certificate", "spec: {ca: a/b, subject: x, server: true}", `4:12: spec.ca: "a/b" is not a name. Write letters and digits, with -, . and _ between them.`},
		{"Certificate", "spec: {ca: a, subject: x}", "*4:7: warning: spec: asks for a certificate that is for nothing, so none is made. Write client, server or signing: true."},

		{"AttachedConnector", "spec: {anything: 1}", "*2:7: warning: kind: AttachedConnector has no effect outside Kubernetes. " + idleHint},
		{"AttachedConnectorBinding", "spec: {anything: 1}", "*2:7: warning: kind: AttachedConnectorBinding has no effect outside Kubernetes. " + idleHint},
	} {
		rs := parse(resourceText(c.kind, c.spec), env)
		want, warned := strings.CutPrefix(c.want, "*")
		want = prefixLines("f.yaml:", want)
		if got := findings(rs); got != want {
			t.Errorf("%s %s\n got: %s\nwant: %s", c.kind, c.spec, got, want)
		}
		left := len(used(rs)) - 1
		if idle := strings.HasPrefix(c.kind, "Attached"); !idle && (want == "" || warned) != (left == 1) {
			t.Errorf("%s %s: %d left to be used", c.kind, c.spec, left)
		}
	}
}

func prefixLines(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
}

func TestSiteRules(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", ""},
		{"spec: {linkAccess: default, ha: false}", ""},
		{"spec: {linkAccess: 5}", "4:20: spec.linkAccess: must be a string, not a whole number. Put it in quotes."},
		{"spec: {linkAccess: laodbalancer}", `*4:20: warning: spec.linkAccess: "laodbalancer" is not known, and is taken for default. Did you mean loadbalancer?`},
		{"spec: {edge: true, linkAccess: default}", "*4:32: warning: spec.linkAccess: an edge router accepts no links, so nothing is done. Remove it, or edge: true."},
		{"spec: {ha: true}", "*4:8: warning: spec.ha: has no effect outside Kubernetes. " + idleHint},
		{"spec: {serviceAccount: x, defaultIssuer: y}", "*4:8: warning: spec.serviceAccount: has no effect outside Kubernetes. " + idleHint +
			"\n4:27: warning: spec.defaultIssuer: has no effect outside Kubernetes. " + idleHint},
		{"spec: {settings: {router-logging: 'info+, ROUTER_CORE:debug'}}", ""},
		{"spec: {settings: {router-logging: 'ROUTER_COR:info'}}", `4:35: spec.settings.router-logging: "ROUTER_COR" is not a module of the router's log. Did you mean ROUTER_CORE?`},
		{"spec: {settings: {router-logging: 'AUTHSERVICE:debug'}}", `*4:35: warning: spec.settings.router-logging: "AUTHSERVICE" is not a module of the router's log any more. Take it out, it has no effect.`},
		{"spec: {settings: {router-logging: loud}}", `4:35: spec.settings.router-logging: "loud" is not a level of the router's log. Write trace, debug, info, notice, warning, error or critical.`},
		{"spec: {settings: {router-loging: info}}", "*4:19: warning: spec.settings.router-loging: has no effect outside Kubernetes. Did you mean router-logging?"},
		{"spec: {settings: {router-data-connection-count: '2'}}", "*4:19: warning: spec.settings.router-data-connection-count: has no effect outside Kubernetes. " + idleHint},
	} {
		rs := Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(resourceText("Site", c.spec))}}, Env{})
		want, warned := strings.CutPrefix(c.want, "*")
		if got := findings(rs); got != prefixLines("f.yaml:", want) {
			t.Errorf("%s\n got: %s\nwant: %s", c.spec, got, want)
		}
		if good := want == "" || warned; good != (rs.Site != nil) || good == rs.SiteErr {
			t.Errorf("%s: site %v, error %t", c.spec, rs.Site, rs.SiteErr)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "a-b1": true, "1": true, "": false, "-a": false, "a-": false, "A": false, "a.b": false, "a_b": false,
		"ä": false, "a/b": false, strings.Repeat("a", 200): true, strings.Repeat("a", 201): false} {
		if got := CheckName(name) == nil; got != want {
			t.Errorf("namespace %q: %t", name, got)
		}
	}
	for name, want := range map[string]bool{"a": true, "A_b.c-1": true, ".a": false, "..": false, "a/": false, "a b": false, "": false, "a.": false} {
		if got := fileProblem(name).message == ""; got != want {
			t.Errorf("file %q: %t", name, got)
		}
	}
	for host, want := range map[string]bool{"h": true, "H.Example": true, "1a": true, "127.0.0.1": true, "::": true, "::ffff:1.2.3.4": true, "a-b.c": true,
		"": false, "a_b": false, "a..b": false, "a.": false, "-a": false, "256.1.1.1": false, "1.2.3": false, "12": false, "0x7f.1": false, "a.0x1": false,
		"[::1]": false, "fe80::1%eth0": false, "a b": false, "a\n": false, "ä": false, strings.Repeat("a", 64): false, strings.Repeat("a.", 127) + "a": false,
		strings.Repeat("a.", 126) + "a": true} {
		if got := hostProblem(host).message == ""; got != want {
			t.Errorf("host %q: %t", host, got)
		}
	}
	for key, want := range map[string]bool{"k": true, "K/x.y:1": true, "日本": true, "": false, " k": false, "a\tb": false, "a\u200b": false, strings.Repeat("k", 254): false} {
		if got := keyProblem(key).message == ""; got != want {
			t.Errorf("key %q: %t", key, got)
		}
	}
	for port, want := range map[string]bool{"1": true, "65535": true, "0": false, "65536": false, "01": false, "": false, "+1": false, "1 ": false, "100000": false} {
		if got := portText(port); got != want {
			t.Errorf("port %q: %t", port, got)
		}
	}
}
