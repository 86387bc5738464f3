package router

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/test/golden"
)

// better are the cases in which upstream is not to be followed, and what is right instead. They have a right.json.
var better = map[string]string{
	"09-link-cost-zero-and-negative":   "a Link with a negative cost is left out",
	"14-link-secret-ca-only":           "a profile has only the files that there are",
	"15-link-proxy-setting":            "a Link to an unknown proxy is left out",
	"24-listener-overlap-wildcard":     "of two Listeners on one port the first stays",
	"25-listener-port-vs-routeraccess": "a RouterAccess goes before a Listener",
	"31-listener-same-name-twice":      "of two Listeners of one name neither is used",
	"60-edge-with-routeraccess":        "an edge router accepts no links",
}

// TestGolden renders recorded inputs and compares what comes out with what upstream made of them, entity for entity: upstream's order
// within a group is random, and the recordings have attributes sorted.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/[0-9]*/input.yaml")
	if err != nil || len(inputs) != 22 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	for _, input := range inputs {
		dir := filepath.Dir(input)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			got := Config(parsed(t, input))
			if _, err := start(got); err != nil {
				t.Errorf("the router would not start: %v", err)
			}
			expected := filepath.Join(dir, "upstream.json")
			if better[name] != "" {
				expected = filepath.Join(dir, "right.json")
				if *golden.Update {
					if err := os.WriteFile(expected, append(Marshal(got), '\n'), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			if diff := cmp.Diff(asSet(recorded(t, expected)), asSet(got)); diff != "" {
				t.Errorf("entities differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGoldenBytes holds the file of the full example against upstream's own, byte for byte but for the order within groups.
func TestGoldenBytes(t *testing.T) {
	const dir = "testdata/full-example/"
	upstream, err := os.ReadFile(dir + "upstream.json")
	if err != nil {
		t.Fatal(err)
	}
	r, _, profiles, proxies := parsed(t, dir+"input.yaml")
	id := testID
	id.RouterID, id.SiteID, id.Namespace = "east-1796025553-584115535", "8dcf5c2b-21a0-421d-94a9-5fcedc5009d3", "east"
	entities, err := Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(entities, Compare)
	want := Marshal(entities)
	if diff := cmp.Diff(string(want), string(Marshal(Config(r, id, profiles, proxies)))); diff != "" {
		t.Errorf("the file differs (-want +got):\n%s", diff)
	}
	lines := func(text []byte) []string { return slices.Sorted(strings.Lines(string(text) + "\n")) }
	if diff := cmp.Diff(lines(upstream), lines(want)); diff != "" {
		t.Errorf("Marshal(Parse()) loses something (-upstream +marshalled):\n%s", diff)
	}
}

// parsed reads an input the way the whole is read. Certificates are taken to be made where pki would make them; the placeholders of
// the recorded Secrets stand for real ones.
func parsed(t *testing.T, input string) (*site.Resources, Identity, []Profile, []Proxy) {
	t.Helper()
	data, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	r := site.Parse("ns1", []source.File{{Path: input, Data: data}}, site.Env{})
	r.CheckPorts(nil)
	profiles := []Profile{{localServer, true, true, true}}
	full := func(name string) {
		if name != "" {
			profiles = append(profiles, Profile{name, true, true, true})
		}
	}
	for _, a := range r.RouterAccesses {
		full(a.TLSCredentials)
	}
	for _, l := range r.Listeners {
		full(l.TLSCredentials)
	}
	for _, c := range r.Connectors {
		full(c.TLSCredentials)
		profiles = append(profiles, Profile{Name: c.TLSCredentials + "-profile", CA: true})
	}
	for _, s := range r.Secrets {
		profiles = append(profiles, Profile{s.Name + "-profile", s.Get("ca.crt") != nil, s.Get("tls.crt") != nil, s.Get("tls.key") != nil})
	}
	return r, testID, profiles, nil
}

// recorded reads a file of entities, with the masks of a recording filled in.
func recorded(t *testing.T, file string) []Entity {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("<STAMP>", "1", "<SITE_ID>", testID.SiteID).Replace(string(data))
	entities, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return entities
}

// asSet sorts entities, and their attributes by name.
func asSet(entities []Entity) []Entity {
	sorted := slices.Clone(entities)
	for i, e := range sorted {
		sorted[i].Attributes = slices.SortedFunc(slices.Values(e.Attributes), func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	}
	slices.SortStableFunc(sorted, Compare)
	return sorted
}
