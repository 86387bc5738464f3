package pki

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

func storeBundle(t *testing.T, dir string, b Bundle) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range b.files() {
		if *f.data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), *f.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRead(t *testing.T) {
	namespace := t.TempDir()
	ca := testCA(t, "corp", now)
	leaf := testLeaf(t, "x", ca, now)
	storeBundle(t, namespace+"/input/certs/x", leaf)
	storeBundle(t, namespace+"/input/certs/partial", Bundle{Cert: leaf.Cert})
	storeBundle(t, namespace+"/input/certs/.hidden", leaf)
	storeBundle(t, namespace+"/input/certs/loose", leaf)
	storeBundle(t, namespace+"/input/issuers/corp", ca)
	storeBundle(t, namespace+"/runtime/issuers/"+SiteCA, ca)
	storeBundle(t, namespace+"/runtime/issuers/.new", ca)
	for _, err := range []error{
		os.Mkdir(namespace+"/input/certs/empty", 0o755),
		os.WriteFile(namespace+"/input/certs/README", nil, 0o644),
		os.Symlink("x", namespace+"/input/certs/renamed"),
		os.Chmod(namespace+"/input/certs/loose/tls.key", 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	in := Read(source.Reader{Root: namespace, Trusted: true}, namespace)
	if got := in.Names(); !slices.Equal(got, []string{"loose", "partial", "renamed", "x"}) {
		t.Errorf("certs %q", got)
	}
	if len(in.Issuers) != 1 || len(in.Have) != 1 || in.Have[0].Name != SiteCA || !in.Issuers[0].Bundle.equal(ca) || !find(in.Certs, "x").Bundle.equal(leaf) {
		t.Errorf("issuers %v and %v", in.Issuers, in.Have)
	}

	r := bare()
	r.Listeners = []site.Listener{listener("good", "h", "renamed"), listener("half", "h", "partial"), listener("open", "h", "loose")}
	all(r)
	wants := Wanted(r, in, now)
	if len(r.Listeners) != 1 || r.Listeners[0].Name != "good" {
		t.Errorf("left %v\n%s", r.Listeners, show(wants))
	}
	found := said(r)
	for _, want := range []string{"/input/certs/partial/tls.key: is missing", "/input/certs/loose/tls.key: is not used"} {
		if !strings.Contains(found, want) {
			t.Errorf("found\n%s\nwant %s", found, want)
		}
	}
}

func TestReadNothing(t *testing.T) {
	if in := Read(source.Reader{Root: "/"}, filepath.Join(t.TempDir(), "none")); in.Certs != nil || in.Issuers != nil || in.Have != nil {
		t.Errorf("read %v", in)
	}
}
