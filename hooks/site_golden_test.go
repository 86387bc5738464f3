package hooks

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/test/golden"
)

func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

func parseSite(namespace, text string) *site.Resources {
	return site.Parse(namespace, []source.File{{Path: "all.yaml", Data: []byte(text)}}, site.Env{})
}

// TestSites refreshes the namespaces of testdata/sites/*/input and compares what is written with expected, keys and times masked.
// The inputs up to 90 are recorded ones; where upstream.json is beside them, the router is to have what upstream gave it, entity
// for entity. A second refresh writes nothing.
func TestSites(t *testing.T) {
	inputs, err := filepath.Glob("testdata/sites/*/input")
	if err != nil || len(inputs) < 50 {
		t.Fatalf("%d cases, %v", len(inputs), err)
	}
	certificates := realCerts(t)
	for _, input := range inputs {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			h := siteHooks(t)
			begin(t, h, "ns1")
			for name, data := range tree(input) {
				put(t, h, name, string(certificates(data)))
			}
			s := refresh(t, h)
			got := written(h)
			got["findings.txt"] = mask(h, []byte(said(s)))
			golden.Tree(t, filepath.Join(dir, "expected"), got)
			compareUpstream(t, h, filepath.Join(dir, "upstream.json"))
			before := stamps(h.Paths.Root)
			again := refresh(t, h)
			if diff := cmp.Diff(before, stamps(h.Paths.Root)); diff != "" {
				t.Errorf("a second refresh writes (-before +after):\n%s", diff)
			}
			if said(again) != said(s) {
				t.Errorf("a second refresh says\n%s", said(again))
			}
			if looked, err := h.lookAtSite("ns1"); err != nil || string(router.Marshal(looked.Entities)) != string(router.Marshal(s.Entities)) {
				t.Errorf("a look sees another router: %v", err)
			}
		})
	}
}

// written returns what there is of ns1 besides its input and its keys, masked, and the list of all files with their modes.
func written(h Hooks) map[string]string {
	home := h.home("ns1")
	got := map[string]string{}
	var list []string
	for name, data := range tree(home) {
		if strings.HasPrefix(name, "input/") {
			continue
		}
		info, err := os.Lstat(filepath.Join(home, name))
		if err != nil {
			continue
		}
		list = append(list, fmt.Sprintf("%o %s\n", info.Mode(), name))
		if !strings.HasPrefix(name, "runtime/certs/") && !strings.HasPrefix(name, "runtime/issuers/") && !strings.HasPrefix(name, "internal/snapshot/") {
			got[name] = mask(h, data)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(a[4:], b[4:]) })
	got["files.txt"] = strings.Join(list, "")
	return got
}

var masks = []struct {
	is   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b(ca\.crt|tls\.crt|tls\.key|connect\.json): [A-Za-z0-9+/=]{9,}`), "$1: <$1>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "<TIME>"},
	{regexp.MustCompile(`(?m)[ \t]+$`), ""},
}

func mask(h Hooks, data []byte) string {
	text := strings.ReplaceAll(string(data), h.Paths.Root, "")
	for _, m := range masks {
		text = m.is.ReplaceAllString(text, m.with)
	}
	return text
}

// compareUpstream holds the router's configuration against that of upstream, but for what must be another: the id is stable, and
// version, platform and namespace are ours.
func compareUpstream(t *testing.T, h Hooks, recorded string) {
	t.Helper()
	upstream, err := os.ReadFile(recorded)
	if err != nil {
		return
	}
	set := func(text []byte) []router.Entity {
		entities, err := router.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range entities {
			e := &entities[i]
			e.Attributes = slices.SortedFunc(slices.Values(e.Attributes), func(a, b router.Attribute) int { return strings.Compare(a.Name, b.Name) })
			if e.Type == "router" || e.Type == "site" {
				e.Name = ""
				e.Attributes = slices.DeleteFunc(e.Attributes, func(a router.Attribute) bool {
					return slices.Contains([]string{"id", "metadata", "version", "namespace"}, a.Name)
				})
			}
		}
		slices.SortStableFunc(entities, router.Compare)
		return entities
	}
	if diff := cmp.Diff(set(upstream), set(configText(t, h))); diff != "" {
		t.Errorf("the router differs from upstream's (-upstream +ours):\n%s", diff)
	}
}
