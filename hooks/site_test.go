package hooks

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/build"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/test/standin/certs"
)

// TestNothingMoves has everything happen that must not move a site's identity, ports and certificates: another version of sitelet
// (skupperproject/skupper#2155, #2143), restored and rewritten input, and resources that go and come back. Ports are those of a
// real host (#1186, #2127, #2460): what listens on them by then is the router.
func TestNothingMoves(t *testing.T) {
	h := siteHooks(t)
	seed(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "east", "linkAccess: default"))
	put(t, h, "resources/access.yaml", resourceText("RouterAccess", "ra", "roles: [{name: inter-router}, {name: edge}]"))
	refresh(t, h)
	before, record := untouched(h), mustRecord(t, h)
	for _, p := range record.Ports {
		if l, err := net.Listen("tcp", fmt.Sprintf(":%d", p.Port)); err == nil {
			defer l.Close()
		}
	}
	same := func(what string) {
		t.Helper()
		if s := refresh(t, h); s.Resources.Findings().HasErrors() {
			t.Error(said(s))
		}
		if diff := cmp.Diff(before, untouched(h)); diff != "" {
			t.Errorf("%s moves something (-before +after):\n%s", what, diff)
		}
		if diff := cmp.Diff(record, mustRecord(t, h)); diff != "" {
			t.Errorf("%s changes the state (-before +after):\n%s", what, diff)
		}
	}
	same("nothing")
	defer func(version string) { build.Version = version }(build.Version)
	build.Version = "9.9.9"
	same("another version")

	input, backup := filepath.Join(h.home("ns1"), "input"), filepath.Join(t.TempDir(), "input")
	if err := errors.Join(os.Rename(input, backup), os.CopyFS(input, os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}
	same("a restored backup of the input")

	text, _ := os.ReadFile(filepath.Join(input, "resources/access.yaml"))
	unput(t, h, "resources/access.yaml")
	if refresh(t, h); entity(t, h, "ra-edge") != nil {
		t.Error("what is gone is still there")
	}
	put(t, h, "resources/access.yaml", string(text))
	refresh(t, h)
	if diff := cmp.Diff(record.Ports, mustRecord(t, h).Ports); diff != "" || entity(t, h, "ra-edge").Get("port") != int(record.Port("ra/edge")) {
		t.Errorf("a resource that comes back has other ports: %s", diff)
	}
}

func mustRecord(t *testing.T, h Hooks) state.Site {
	t.Helper()
	record, err := h.store().ReadSite("ns1")
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// TestRelease has the version that a router reports change with the router alone.
func TestRelease(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	defer func(version string) { build.Version = version }(build.Version)
	build.Version = "1.0"
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	refresh(t, h)
	build.Version = "2.0"
	refresh(t, h)
	if r := mustRecord(t, h).Router; r.Release != "1.0" {
		t.Errorf("the version is %s, and the router the same", r.Release)
	}
	put(t, h, "resources/site.yaml", resourceText("Site", "s", "edge: true"))
	refresh(t, h)
	if r := mustRecord(t, h).Router; r.Release != "2.0" || !r.Edge {
		t.Errorf("the router is another one, and its version %s", r.Release)
	}
}

// TestTenNamespaces refreshes ten at the same moment: no port comes twice (skupperproject/skupper#1966).
func TestTenNamespaces(t *testing.T) {
	h := siteHooks(t)
	ca := certs.New(t)
	var names []string
	for i := range 10 {
		name := fmt.Sprintf("myns-%d", i+1)
		names = append(names, name)
		seed(t, h, name)
		path := filepath.Join(h.home(name), "input/resources/all.yaml")
		text := resourceText("Site", "s", "") + resourceText("RouterAccess", "ra", "roles: [{name: inter-router}, {name: edge}]")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, certificate := range []string{"ra", "client-ra"} {
			ca.Issue(t, filepath.Join(h.home(name), "input/certs", certificate))
		}
	}
	var wait sync.WaitGroup
	for _, name := range names {
		wait.Go(func() {
			if _, err := h.refreshSite(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	owner := map[uint16]string{}
	ids := map[string]bool{}
	for _, name := range names {
		record, err := h.store().ReadSite(name)
		if err != nil || len(record.Ports) != 3 || ids[record.ID] {
			t.Fatalf("%+v, %v", record, err)
		}
		ids[record.ID] = true
		for _, p := range record.Ports {
			if other := owner[p.Port]; other != "" {
				t.Errorf("port %d is that of %s and of %s %s", p.Port, other, name, p.Name)
			}
			owner[p.Port] = name + " " + p.Name
		}
	}
	// A port that a resource names is not another namespace's either (#2573).
	h.writeInput(t, "myns-1", listenerText("l", int(mustSite(t, h, "myns-2").Port("ra/edge"))))
	s, err := h.refreshSite(t.Context(), "myns-1")
	if err != nil || !strings.Contains(said(s), `belongs to the RouterAccess "ra" of namespace "myns-2"`) {
		t.Errorf("%v\n%s", err, said(s))
	}
	// Another address of the host is.
	for i, name := range names[:2] {
		h.writeInput(t, name, resourceText("Listener", "l", fmt.Sprintf("host: 127.0.0.%d, port: 8080, routingKey: k", i+2)))
		if s, err := h.refreshSite(t.Context(), name); err != nil || said(s) != "" {
			t.Errorf("%v\n%s", err, said(s))
		}
	}
}

func (h Hooks) writeInput(t *testing.T, namespace, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.home(namespace), "input/resources/more.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustSite(t *testing.T, h Hooks, namespace string) state.Site {
	t.Helper()
	record, err := h.store().ReadSite(namespace)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// TestAllocation has ports of one site beside each other: those that are named are not given away.
func TestAllocation(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	record := mustRecord(t, h)
	record.Ports = record.Ports[:1]
	if err := h.store().WriteSite(record); err != nil {
		t.Fatal(err)
	}
	put(t, h, "resources/all.yaml", resourceText("Site", "s", "")+listenerText("l", 55671)+
		resourceText("RouterAccess", "ra", "roles: [{name: inter-router}]"))
	s := refresh(t, h)
	if port := s.record.Port("ra/inter-router"); port <= 55671 || s.Resources.Findings() != nil {
		t.Errorf("port %d\n%s", port, said(s))
	}
}

// TestLinkAccess has the RouterAccess that linkAccess stands for give way to one of that name, good or bad, and go with the wish.
func TestLinkAccess(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "east", "linkAccess: default"))
	refresh(t, h)
	if e := entity(t, h, "east-edge"); e == nil || e.Get("port") != 45671 || e.Get("host") != nil {
		t.Errorf("%v", e)
	}
	before := configText(t, h)
	put(t, h, "resources/access.yaml", resourceText("RouterAccess", "east", "roles: []"))
	if s := refresh(t, h); string(configText(t, h)) != string(before) || !strings.Contains(said(s), "What ran before goes on.") {
		t.Error(said(s))
	}
	put(t, h, "resources/access.yaml", resourceText("RouterAccess", "east", "roles: [{name: edge, port: 4711}]"))
	if refresh(t, h); entity(t, h, "east-edge").Get("port") != 4711 || entity(t, h, "east-inter-router") != nil {
		t.Errorf("%s", configText(t, h))
	}
	unput(t, h, "resources/access.yaml")
	if refresh(t, h); string(configText(t, h)) != string(before) {
		t.Errorf("%s", configText(t, h))
	}
	put(t, h, "resources/site.yaml", resourceText("Site", "east", "linkAccess: none"))
	if refresh(t, h); entity(t, h, "east-edge") != nil || status(h, "RouterAccess-east") != "" {
		t.Errorf("%s", configText(t, h))
	}
}

// TestSiteRenamed has the ports of linkAccess stay when the Site, after which their RouterAccess is called, gets another name: the links
// that others have say which they are.
func TestSiteRenamed(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	for _, name := range []string{"east", "west", "east"} {
		put(t, h, "resources/site.yaml", resourceText("Site", name, "linkAccess: default"))
		refresh(t, h)
		if e := entity(t, h, name+"-inter-router"); e == nil || e.Get("port") != 55671 {
			t.Errorf("of %s: %v", name, e)
		}
	}
	// A RouterAccess that was always there has its own.
	put(t, h, "resources/access.yaml", resourceText("RouterAccess", "east", "roles: [{name: edge}]"))
	refresh(t, h)
	put(t, h, "resources/site.yaml", resourceText("Site", "west", "linkAccess: default"))
	refresh(t, h)
	if kept, e := entity(t, h, "east-edge"), entity(t, h, "west-edge"); kept.Get("port") != 45671 || e.Get("port") == 45671 {
		t.Errorf("%v %v", kept, e)
	}
}

// TestSiteGoes deletes the Site, which stops the router and changes nothing else (skupperproject/skupper#2485), and brings it back.
func TestSiteGoes(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	before := untouched(h)
	text, _ := os.ReadFile(filepath.Join(h.home("ns1"), "input/resources/site.yaml"))
	unput(t, h, "resources/site.yaml")
	for range 2 {
		if s := refresh(t, h); s.Entities != nil || s.impossible() || mustRecord(t, h).Router != nil {
			t.Errorf("there is still a site: %s", said(s))
		}
		if diff := cmp.Diff(before, untouched(h)); diff != "" {
			t.Errorf("something is lost (-before +after):\n%s", diff)
		}
	}
	if status(h, "Site-s") != "" || status(h, "Listener-web") == "" {
		t.Error("the statuses are not those of what there is")
	}
	put(t, h, "resources/site.yaml", string(text))
	if s := refresh(t, h); s.Resources.Findings() != nil || mustRecord(t, h).Router == nil {
		t.Error(said(s))
	}
	if diff := cmp.Diff(before, untouched(h)); diff != "" {
		t.Errorf("it comes back as another (-before +after):\n%s", diff)
	}
}

// TestNoSite has nothing be done about a namespace without a Site (skupperproject/skupper#2441, #2267): whatever comes first waits.
func TestNoSite(t *testing.T) {
	h := siteHooks(t)
	put(t, h, "resources/listener.yaml", listenerText("a", 8080))
	if s := refresh(t, h); s.Entities != nil || s.impossible() || s.Resources.Findings() != nil {
		t.Error(said(s))
	}
	if _, err := h.store().ReadSite("ns1"); err == nil {
		t.Error("there is state")
	}
	seed(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	if refresh(t, h); entity(t, h, "listener/a") == nil {
		t.Error("the listener is forgotten")
	}
}

// TestImpossible has mistakes in what the whole site hangs on: what runs is left as it is, though other things change, and when the
// mistake is taken away nothing changes either.
func TestImpossible(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	site := resourceText("Site", "s", "")
	for name, text := range map[string]string{
		"two":       site + resourceText("Site", "t", ""),
		"twice":     site + site,
		"edge, ha":  resourceText("Site", "s", "edge: true, ha: true"),
		"name":      resourceText("Site", "My_Site", ""),
		"field":     resourceText("Site", "s", "egde: true"),
		"namespace": strings.Replace(site, "{name", "{namespace: other, name", 1),
		"syntax":    "{",
		"kind":      strings.Replace(site, "Site", "Stie", 1),
		"version":   strings.Replace(site, "v2alpha1", "v1", 1),
	} {
		t.Run(name, func(t *testing.T) {
			before, record := untouched(h), mustRecord(t, h)
			put(t, h, "resources/site.yaml", text)
			put(t, h, "resources/new.yaml", listenerText("new", 9999))
			s := refresh(t, h)
			if !s.impossible() || s.Entities != nil {
				t.Errorf("it is possible: %s", said(s))
			}
			if diff := cmp.Diff(before, untouched(h)); diff != "" {
				t.Errorf("something changes (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(record, mustRecord(t, h)); diff != "" {
				t.Errorf("the state changes (-before +after):\n%s", diff)
			}
			if looked, found := h.LookAtSites(); len(looked) != 1 || !found.HasErrors() || ReplaceSites([]state.Site{record}, looked)[0].Router == nil {
				t.Error("a plan would be made of it")
			}
			put(t, h, "resources/site.yaml", site)
			unput(t, h, "resources/new.yaml")
			if s := refresh(t, h); s.Resources.Findings() != nil {
				t.Error(said(s))
			}
			if diff := cmp.Diff(before, untouched(h)); diff != "" {
				t.Errorf("taking it away changes something (-before +after):\n%s", diff)
			}
		})
	}
}

// TestPlatform has a site keep the platform that it began with, while new ones get the configured one.
func TestPlatform(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1", "ns2")
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	refresh(t, h)
	if err := errors.Join(os.MkdirAll(filepath.Dir(h.Paths.ConfigFile), 0o755), os.WriteFile(h.Paths.ConfigFile, []byte("platform = \"linux\"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	const want = "warning: the site runs on podman and keeps that, though the platform is set to \"linux\". Run `sitelet site remove ns1` and `sitelet reload` to have it anew on linux."
	if s := refresh(t, h); !strings.Contains(said(s), want) || s.record.Platform != "podman" {
		t.Error(said(s))
	}
	os.CopyFS(filepath.Join(h.home("ns2"), "input"), os.DirFS(filepath.Join(h.home("ns1"), "input")))
	s, err := h.refreshSite(t.Context(), "ns2")
	if err != nil || s.record.Platform != "linux" || s.record.Router.Image != "" || s.Resources.Findings() != nil {
		t.Errorf("%v %s", err, said(s))
	}
	text, _ := os.ReadFile(filepath.Join(h.home("ns2"), "runtime/router/skrouterd.json"))
	if !strings.Contains(string(text), h.home("ns2")+"/runtime/certs/skupper-local-server/tls.crt") {
		t.Errorf("a router without a container reads\n%s", text)
	}
	// A namespace that is taken over keeps what it ran on.
	if err := h.store().RemoveSite("ns1"); err != nil {
		t.Fatal(err)
	}
	if s := refresh(t, h); s.record.Platform != "podman" || !strings.Contains(said(s), want) {
		t.Errorf("taken over, it is on %s\n%s", s.record.Platform, said(s))
	}
	t.Setenv("SKUPPER_PLATFORM", "kubernetes")
	if _, err := h.refreshSite(t.Context(), "ns1"); err == nil {
		t.Error("kubernetes is a platform here")
	}
	// A configuration that cannot be read stops changes, and nothing else.
	t.Setenv("SKUPPER_PLATFORM", "")
	before := untouched(h)
	os.WriteFile(h.Paths.ConfigFile, []byte("platform = 5\n"), 0o644)
	if _, err := h.refreshSite(t.Context(), "ns1"); err == nil || cmp.Diff(before, untouched(h)) != "" {
		t.Errorf("%v", err)
	}
}
