package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/site"
)

// TestNames has names that would lead out of the directory be refused before anything is read or written.
func TestNames(t *testing.T) {
	h := siteHooks(t)
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc", "A", "-a", "a-", strings.Repeat("a", 64), "a\n"} {
		_, lookErr := h.lookAtSite(name)
		_, refreshErr := h.refreshSite(t.Context(), name)
		_, _, linkErr := h.GenerateLink(name, "", "")
		if lookErr == nil || refreshErr == nil || linkErr == nil || h.SyncSite(t.Context(), name) == nil || h.RemoveSite(t.Context(), name, true) == nil {
			t.Errorf("%q is taken", name)
		}
	}
	os.MkdirAll(filepath.Join(h.Paths.NamespacesDir, "My_Space"), 0o755)
	os.MkdirAll(filepath.Join(h.Paths.NamespacesDir, "fine"), 0o755)
	if names, found := h.Namespaces(); !slices.Equal(names, []string{"fine"}) || len(found) != 1 {
		t.Errorf("%v %v", names, found)
	}
}

// TestGenerateLink prints links as another site, or Kubernetes, takes them (skupperproject/skupper#2518, #1595).
func TestGenerateLink(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/access.yaml", resourceText("RouterAccess", "ra", "roles: [{name: inter-router}, {name: edge}], subjectAlternativeNames: [east.example, 10.0.0.5]"))
	if _, _, err := h.GenerateLink("ns1", "", ""); err == nil || !strings.HasSuffix(err.Error(), "has not been deployed yet; run `sitelet reload ns1`") {
		t.Errorf("before the first refresh: %v", err)
	}
	if _, _, err := h.GenerateLink("west", "", ""); err == nil || !strings.HasPrefix(err.Error(), "there is no namespace west; ") {
		t.Errorf("of a namespace that there is not: %v", err)
	}
	refresh(t, h)
	for _, c := range []struct{ host, name, wantHost, wantName string }{
		{"", "", "127.0.0.1", "link-ra"},
		{"east.example", "", "east.example", "link-ra"},
		{"10.0.0.5", "to-east", "10.0.0.5", "to-east"},
	} {
		text, _, err := h.GenerateLink("ns1", c.host, c.name)
		if err != nil {
			t.Fatal(err)
		}
		r := parseSite("other", string(text))
		if len(r.Links) != 1 || len(r.Secrets) != 1 || r.Findings() != nil {
			t.Fatalf("%s\n%v", text, r.Findings())
		}
		l, s := r.Links[0], r.Secrets[0]
		want := []site.Endpoint{{Name: "inter-router", Host: c.wantHost, Port: "55671"}, {Name: "edge", Host: c.wantHost, Port: "45671"}}
		if l.Name != c.wantName || l.TLSCredentials != c.wantName || s.Name != c.wantName || s.Type != "kubernetes.io/tls" || !slices.Equal(l.Endpoints, want) {
			t.Errorf("%s", text)
		}
	}
	if text, hosts, err := h.GenerateLink("ns1", "west.example", ""); err != nil || text != nil || !slices.Equal(hosts, []string{"127.0.0.1", "10.0.0.5", "east.example"}) {
		t.Errorf("a host that there is not: %s %v %v", text, hosts, err)
	}
	if _, _, err := h.GenerateLink("ns1", "", "../x"); err == nil {
		t.Error("a name that is none is taken")
	}
	put(t, h, "resources/site.yaml", "{")
	if _, _, err := h.GenerateLink("ns1", "", ""); err == nil || !strings.Contains(err.Error(), "sitelet check") {
		t.Errorf("of an impossible site: %v", err)
	}
}

// TestRemoveSite removes what was made and, only if asked to, the input.
func TestRemoveSite(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	refreshed, err := h.refreshSite(t.Context(), "ns2")
	if err != nil || refreshed.Entities != nil {
		t.Fatal(err)
	}
	input := tree(filepath.Join(h.home("ns1"), "input"))
	if err := h.RemoveSite(t.Context(), "ns1", false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(input, tree(filepath.Join(h.home("ns1"), "input"))); diff != "" {
		t.Errorf("the input changed: %s", diff)
	}
	if left := tree(h.home("ns1")); len(left) != len(input) {
		t.Errorf("left: %d files", len(left))
	}
	if _, err := h.store().ReadSite("ns1"); err == nil {
		t.Error("the state is left")
	}
	if table, err := h.registry().Look("ns2"); err != nil || len(table.Taken) != 0 {
		t.Errorf("ports are left: %v", table.Taken)
	}
	// The input alone makes a new site, and nothing of the old one stands in.
	put(t, h, "resources/listener.yaml", "{")
	seed(t, h, "ns1")
	if refresh(t, h); entity(t, h, "listener/web") != nil {
		t.Error("the removed site stands in")
	}
	if err := h.RemoveSite(t.Context(), "ns1", true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(h.home("ns1")); err == nil {
		t.Error("the input is left")
	}
	if err := h.RemoveSite(t.Context(), "ns1", true); err == nil || !strings.Contains(err.Error(), "there is no namespace ns1") {
		t.Errorf("what is gone: %v", err)
	}
}
