package site

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/source"
)

// FuzzParse wants every text to be taken or refused with findings that have a place in it, nothing quarantined to be used, and the
// document of a resource to mean the resource.
func FuzzParse(f *testing.F) {
	err := filepath.WalkDir("testdata", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, "/input/") {
			return err
		}
		data, err := os.ReadFile(path)
		f.Add(data)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range awkward {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		rs := Parse("ns1", []source.File{{Path: "f.yaml", Data: data}}, Env{})
		rs.CheckPorts([]Socket{{Port: 5671, Owner: "somebody"}})
		if !bytes.Equal(kept, data) {
			t.Fatal("the text was changed")
		}
		checkPlaces(t, data, rs.Findings())
		checkUsed(t, rs)
		again := Parse("ns1", []source.File{{Path: "f.yaml", Data: data}}, Env{})
		again.CheckPorts([]Socket{{Port: 5671, Owner: "somebody"}})
		if describe(rs) != describe(again) || !reflect.DeepEqual(rs.Findings(), again.Findings()) {
			t.Fatal("the same text means two things")
		}
		checkDocuments(t, rs)
	})
}

// awkward are texts that YAML parsers stumble over.
var awkward = []string{
	"", "---", "...\n---\n# c\n", "a: b\rc: d\r", "\ufeffkind: Site", "a: \"\\x00\"", "a: &x [*x, *x]", "? [a]\n: b", "!!binary a", "- - - -",
	"a: |\n  b\n ---\n--- # c\n--- |\n x\n", "{\"a\": \"\\ud83d\\ude00\", \"a\": [1, {}]}", "%YAML 1.2\n---\na: b", "<<: [{a: b}, c]", "a: >2-\n   b\n\n\tc",
	"kind: List\nitems: [{kind: List, items: [null, {kind: Site}]}]", "\"\t\": 'a\n\n b'\n", "a: !!str\nb: !x {c: d}", "[{a: b}, c: d]", "a:\n- b\n -c",
}

func checkPlaces(t *testing.T, data []byte, l diag.List) {
	t.Helper()
	lines := bytes.Split(data, []byte("\n"))
	for _, d := range l {
		if d.Message == "" || strings.HasSuffix(d.Message, ".") || d.Hint == "" && d.Severity == diag.Error {
			t.Fatalf("message %q, hint %q", d.Message, d.Hint)
		}
		if d.Line > len(lines) || d.Line > 0 && (d.Column < 1 || d.Column > len(lines[d.Line-1])+1) {
			t.Fatalf("%v is outside the file", d)
		}
		if strings.ContainsFunc(d.String(), unicode.IsControl) {
			t.Fatalf("a control character is printed: %q", d.String())
		}
	}
}

// used returns the resources in the slices.
func used(rs *Resources) (all []*Resource) {
	if rs.Site != nil {
		all = append(all, rs.Site.Resource)
	}
	for _, v := range rs.Listeners {
		all = append(all, v.Resource)
	}
	for _, v := range rs.Connectors {
		all = append(all, v.Resource)
	}
	for _, v := range rs.MultiKeyListeners {
		all = append(all, v.Resource)
	}
	for _, v := range rs.Links {
		all = append(all, v.Resource)
	}
	for _, v := range rs.RouterAccesses {
		all = append(all, v.Resource)
	}
	for _, v := range rs.AccessTokens {
		all = append(all, v.Resource)
	}
	for _, v := range rs.Certificates {
		all = append(all, v.Resource)
	}
	for _, v := range rs.Secrets {
		all = append(all, v.Resource)
	}
	return all
}

// checkUsed wants what is used to be good, and what goes to the router to be harmless.
func checkUsed(t *testing.T, rs *Resources) {
	t.Helper()
	for _, r := range used(rs) {
		if r.Quarantined() || !slices.Contains(rs.All, r) || r.Name == "" || len(r.Name) > maxName {
			t.Fatalf("%s %s is used", r.Kind, r.Name)
		}
	}
	if rs.SiteErr && rs.Site != nil {
		t.Fatal("a Site with an error is used")
	}
	var words []string
	for _, l := range rs.Listeners {
		words = append(words, l.RoutingKey, l.Host, l.TLSCredentials)
	}
	for _, c := range rs.Connectors {
		words = append(words, c.RoutingKey, c.Host, c.TLSCredentials)
	}
	for _, m := range rs.MultiKeyListeners {
		words = append(words, m.Host)
		for _, k := range m.Keys {
			words = append(words, k.Key)
		}
	}
	for _, a := range rs.RouterAccesses {
		words = append(append(words, a.BindHost, a.TLSCredentials, a.Issuer), a.Names...)
	}
	for _, w := range words {
		if len(w) > 253 || strings.ContainsFunc(w, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			t.Fatalf("%q is used", w)
		}
	}
	for _, r := range rs.All {
		if strings.ContainsAny(r.Kind+r.Name, "/\x00") || strings.HasPrefix(r.Name, ".") {
			t.Fatalf("%q %q cannot be a file's name", r.Kind, r.Name)
		}
	}
}

// checkDocuments reads back the documents of resources.
func checkDocuments(t *testing.T, rs *Resources) {
	t.Helper()
	for _, r := range rs.All {
		text := r.WithStatus(Status{})
		if _, _, bad := (chunk{data: text, high: len(text)}).parse(); bad != nil {
			t.Fatalf("%q: %v", text, bad)
		}
	}
	for _, r := range used(rs) {
		text := r.WithStatus(Status{})
		if r.Kind == "Secret" || r.Kind == "AccessToken" {
			text = r.Document
		}
		back := Parse("ns1", []source.File{{Path: "g.yaml", Data: text}}, Env{})
		if len(back.All) != 1 || !bytes.Equal(back.All[0].Document, r.Document) {
			t.Fatalf("read back %v %q from %q", back.Findings(), describe(back), text)
		}
	}
}
