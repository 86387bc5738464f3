package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/source"
)

var (
	then = time.Date(2026, 11, 30, 7, 59, 13, 0, time.UTC)
	now  = then.Add(time.Hour)
)

// fullExample is the input that upstream's documents in testdata/status come from.
func fullExample(t *testing.T) *Resources {
	t.Helper()
	return Parse("east", readFiles(t, "testdata/90-full-example/input"), Env{})
}

func find(t *testing.T, rs *Resources, kind, name string) *Resource {
	t.Helper()
	for _, r := range rs.All {
		if r.Kind == kind && r.Name == name {
			return r
		}
	}
	t.Fatalf("no %s %s: %s", kind, name, findings(rs))
	return nil
}

// TestStatusAsUpstream wants the documents that upstream wrote, given what upstream knew. What differs is said below.
func TestStatusAsUpstream(t *testing.T) {
	rs := fullExample(t)
	endpoints := []Endpoint{{"go-east-inter-router", "127.0.0.1", "55671", "skupper-router"}, {"go-east-edge", "127.0.0.1", "45671", "skupper-router"}}
	for _, c := range []struct {
		kind, name string
		status     Status
	}{
		{"Link", "link-go-west", Status{Now: then}},
		{"RouterAccess", "go-east", Status{Conditions: []Condition{{Type: Resolved, True: true}}, Endpoints: endpoints, Now: then}},
		{"Site", "east", Status{Conditions: []Condition{{Type: Running, True: true}, {Type: Resolved, True: true}}, Endpoints: endpoints, Now: then,
			UID: "8dcf5c2b-21a0-421d-94a9-5fcedc5009d3"}},
	} {
		got := string(find(t, rs, c.kind, c.name).WithStatus(c.status))
		want, err := os.ReadFile(filepath.Join("testdata/status", c.kind+"-"+c.name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		// Upstream writes empty fields as well, and fewer quotes.
		text := strings.NewReplacer("  creationTimestamp: null\n", "", "spec: {}\n", "", "8dcf5c2b-21a0-421d-94a9-5fcedc5009d3", `"8dcf5c2b-21a0-421d-94a9-5fcedc5009d3"`).Replace(string(want))
		if c.kind == "RouterAccess" {
			text = strings.Replace(text, "  tlsCredentials: go-east\n", "", 1) // upstream writes the default into the resource
		}
		if got != text {
			t.Errorf("%s %s\n got: %s\nwant: %s", c.kind, c.name, got, text)
		}
		if again := OldConditions([]byte(got)); len(again) < 2 {
			t.Errorf("read back %+v", again)
		}
	}
}

// TestReady has what makes each kind ready, and what its status says otherwise.
func TestReady(t *testing.T) {
	yes := func(name string) Condition { return Condition{Type: name, True: true} }
	no := func(name string) Condition { return Condition{Type: name} }
	ca := "spec:\n  url: https://h\n  code: c\n  ca: " + testCA
	for _, c := range []struct {
		kind, spec string
		conditions []Condition
		want       string // status, message and what only the kind has
	}{
		{"Listener", "spec: {host: h, port: 1, routingKey: k}", nil, "Pending, Not Matched"},
		{"Listener", "spec: {host: h, port: 1, routingKey: k}", []Condition{no(Matched)}, "Pending, Pending"},
		{"Listener", "spec: {host: h, port: 1, routingKey: k}", []Condition{yes(Matched)}, "Ready, OK, hasMatchingConnector"},
		{"Listener", "spec: {host: h, port: 1, routingKey: k}", []Condition{Failed(Configured, "Address already in use"), yes(Matched)}, "Error, Address already in use, hasMatchingConnector"},
		{"Listener", "spec: {host: h, port: 0, routingKey: k}", []Condition{yes(Configured), yes(Matched)},
			"Error, f.yaml:4:23: spec.port: must be at least 1, not 0. Write a number from 1 to 65535., hasMatchingConnector"},
		{"Listener", "spec: {host: h, port: 0, rotingKey: k}", nil,
			"Error, f.yaml:4:23: spec.port: must be at least 1, not 0. Write a number from 1 to 65535. And 1 more."},
		{"Connector", "spec: {host: h, port: 1, routingKey: k}", []Condition{yes(Matched)}, "Ready, OK, hasMatchingListener"},
		{"MultiKeyListener", "spec: {host: h, port: 1, strategy: {priority: {routingKeys: [a, b]}}}", []Condition{yes(Operational)}, "Ready, OK, hasDestination"},
		{"Link", "spec: {tlsCredentials: c, endpoints: [{name: inter-router, host: h, port: '1'}]}", []Condition{yes(Operational)}, "Ready, OK"},
		{"RouterAccess", "spec: {roles: [{name: edge}]}", nil, "Pending, Not Resolved"},
		{"RouterAccess", "spec: {roles: [{name: edge}]}", []Condition{yes(Resolved)}, "Ready, OK"},
		{"AccessToken", ca, nil, "Pending, Not Redeemed"},
		{"AccessToken", ca, []Condition{Failed(Redeemed, "404 No such claim")}, "Error, 404 No such claim"},
		{"AccessToken", ca, []Condition{yes(Redeemed)}, "Ready, OK, redeemed"},
		{"Certificate", "spec: {subject: x, signing: true}", nil, "Ready, OK"},
		{"AttachedConnector", "", nil, ", AttachedConnector has no effect outside Kubernetes"},
	} {
		rs := parse(resourceText(c.kind, c.spec), Env{Certs: []string{"c"}})
		r := find(t, rs, c.kind, "x")
		text := r.WithStatus(Status{Conditions: c.conditions, Now: now})
		root, _, bad := chunk{data: text, high: len(text)}.parse()
		if bad != nil {
			t.Fatalf("%s: %v", text, bad)
		}
		status := root.get("status")
		got := status.get("status").str() + ", " + status.get("message").str()
		for _, key := range []string{"hasMatchingConnector", "hasMatchingListener", "hasDestination", "redeemed"} {
			if status.get(key).flag() {
				got += ", " + key
			}
		}
		if got != c.want {
			t.Errorf("%s %s %v\n got: %s\nwant: %s", c.kind, c.spec, c.conditions, got, c.want)
		}
		for _, condition := range OldConditions(text) {
			if condition.Type == Ready && (condition.Message != status.get("message").str() || condition.True != (condition.Reason == "Ready")) {
				t.Errorf("%s: %+v", c.kind, condition)
			}
		}
	}
}

// TestSiteReady has a Site that is ready only when links can come, if they are to.
func TestSiteReady(t *testing.T) {
	for spec, want := range map[string]string{"": "Ready", "spec: {linkAccess: none}": "Ready", "spec: {linkAccess: default}": "Pending", "spec: {linkAccess: default, edge: true}": "Ready"} {
		rs := Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(resourceText("Site", spec))}}, Env{})
		text := rs.Site.WithStatus(Status{Conditions: []Condition{{Type: Running, True: true}}, Now: now})
		if !strings.HasSuffix(string(text), "\n  status: "+want+"\n") {
			t.Errorf("%s: %s", spec, text)
		}
	}
}

// TestSince keeps the time of what did not change, so that the same state is the same bytes.
func TestSince(t *testing.T) {
	r := find(t, fullExample(t), "Listener", "backend")
	first := r.WithStatus(Status{Conditions: []Condition{{Type: Matched, Message: "No matching connectors"}}, Now: then})
	again := r.WithStatus(Status{Conditions: []Condition{{Type: Matched, Message: "No matching connectors"}}, Before: OldConditions(first), Now: now})
	if string(first) != string(again) {
		t.Errorf("%s\n%s", first, again)
	}
	changed := OldConditions(r.WithStatus(Status{Conditions: []Condition{{Type: Matched, True: true}}, Before: OldConditions(again), Now: now}))
	for _, c := range changed {
		if want := c.Type != Configured; c.Since.Equal(now) != want {
			t.Errorf("%+v", c)
		}
	}
	for _, text := range []string{"not: [YAML", ""} {
		if old := OldConditions([]byte(text)); old != nil {
			t.Errorf("%q: %+v", text, old)
		}
	}
}

// TestStatusHasNoSecrets looks for every secret of an input in the documents of runtime/resources.
func TestStatusHasNoSecrets(t *testing.T) {
	rs := parse("apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {x: y, "+lastApplied+": hunter2}}\ntype: Opaque\ndata: {tls.key: aHVudGVyMg==}\nstringData: {b: hunter2}\n---\n"+
		resourceText("AccessToken", "spec:\n  url: https://h\n  code: hunter2\n  ca: "+testCA)+"---\n"+
		"apiVersion: v1\nkind: Secret\nmetadata: {name: b}\nstringData: {b: [hunter2]}\ndata: {c: hunter2}\n---\n"+
		"apiVersion: v1\nkind: Secret\nmetadata: {name: c}\nData: {c: hunter2}\n---\n"+
		"apiVersion: v1\nkind: secret\nmetadata: {name: d}\ndata: {c: hunter2}\n---\n"+
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\ndata: {c: hunter2}\n---\n"+
		resourceText("AccesToken", "spec: {code: hunter2}")+"---\n"+
		resourceText("AccessGrant", "spec: {code: hunter2}\nstatus: {code: hunter2}")+"---\n"+
		strings.Replace(resourceText("AccessToken", "spec: {url: x, Code: hunter2}"), "name: x", "name: y", 1), Env{})
	if len(rs.All) != 10 {
		t.Fatal(len(rs.All), rs.Findings())
	}
	for _, r := range rs.All {
		text := string(r.WithStatus(Status{Now: now}))
		if strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVyMg") || !strings.Contains(text, "namespace: ns1") {
			t.Errorf("%s", text)
		}
	}
	if s := rs.Secrets[0]; string(s.Get("b")) != "hunter2" || string(s.Get("tls.key")) != "hunter2" || strings.Contains(string(s.Document), lastApplied) {
		t.Errorf("%v %s", s.Data, s.Document)
	}
}

// TestDetails writes what only some kinds have, or only some resources.
func TestDetails(t *testing.T) {
	rs := parse(resourceText("Listener", "spec: {host: h, port: 1, routingKey: k}")+"---\n"+
		strings.Replace(resourceText("Listener", "spec: {host: h, port: 2, routingKey: k}"), "x}", "y, generation: 7}", 1)+"---\n"+
		resourceText("Certificate", "spec: {subject: x, signing: true}"), Env{})
	for _, name := range []string{"x", "y"} {
		text := find(t, rs, "Listener", name).WithStatus(Status{Now: now})
		if strings.Contains(string(text), "observedGeneration: 7\n") != (name == "y") {
			t.Errorf("%s", text)
		}
	}
	text := rs.Certificates[0].WithStatus(Status{Expiration: now, Now: now})
	if !strings.Contains(string(text), "\n  expiration: \"2026-11-30T08:59:13Z\"\n") {
		t.Errorf("%s", text)
	}
}

// TestDocument writes what YAML 1.1, which Kubernetes reads, and YAML 1.2 take for something else without quotes.
func TestDocument(t *testing.T) {
	text := `{"kind": "Listener", "apiVersion": "skupper.io/v2alpha1", "spec": {"routingKey": "k", "port": 1, "host": "h"},
		"status": {"a": 1}, "metadata": {"name": "x", "managedFields": [{"a": "b"}], "annotations": {
		"a": "yes", "b": "1", "c": "1e3", "d": "~", "e": "a: b", "f": "x #y", "g": "", "h": "tab\there", "i": "line\nline\n", "j": "line\n line", "k": " x", "l": "\u0085\ud83d\ude00\\\"",
		"m": "0x1", "n": "- a", "o": "on", "p": "2001-01-01", "q": "12:30", "r": "=", "s": "x:", "t": "*a", "u": "line\n\n\n", "true": "v", "w": "null", "x y": "z" },
		"labels": {}, "finalizers": [], "ownerReferences": [{"a": [[1, 2], []], "b": {"c": null}}, "x\ny", {}]}}`
	want := `apiVersion: skupper.io/v2alpha1
kind: Listener
metadata:
  annotations:
    a: "yes"
    b: "1"
    c: "1e3"
    d: "~"
    e: "a: b"
    f: "x #y"
    g: ""
    h: "tab\u0009here"
    i: |
      line
      line
    j: |-
      line
       line
    k: " x"
    l: "\u0085😀\\\""
    m: "0x1"
    "n": "- a"
    o: "on"
    p: "2001-01-01"
    q: "12:30"
    r: "="
    s: "x:"
    t: "*a"
    "true": v
    u: "line\n\n\n"
    w: "null"
    x y: z
  finalizers: []
  labels: {}
  name: x
  namespace: ns1
  ownerReferences:
  - a:
    -
      - 1
      - 2
    - []
    b:
      c: null
  - |-
    x
    y
  - {}
spec:
  host: h
  port: 1
  routingKey: k
`
	rs := parse(text, Env{})
	if len(rs.Listeners) != 1 {
		t.Fatal(findings(rs))
	}
	if got := string(rs.Listeners[0].Document); got != want {
		t.Errorf("got\n%s", got)
	}
	back := parse(want, Env{})
	if got := string(back.Listeners[0].Document); got != want {
		t.Errorf("read back\n%s", got)
	}
}
