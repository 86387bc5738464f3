package pki

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// better says where the files differ from those that upstream made, and why.
var better = map[string]struct {
	why  string
	more []string
	less string // the directory that is not made
}{
	"11-link-edge-site-no-edge-endpoint": {why: "the Link is left out", less: "runtime/certs/x-profile/"},
	"15-link-proxy-setting":              {why: "the Link is left out, as its proxy is unknown", less: "runtime/certs/x-profile/"},
	"40-connector-tls-ca-only":           {why: "the router is told to read it", more: []string{"runtime/certs/ctls-profile/ca.crt"}},
	"60-edge-with-routeraccess":          {why: "the RouterAccess is left out", less: "runtime/certs/ra/"},
}

// TestFiles makes the certificates of recorded inputs and compares the files with those that upstream made of them.
func TestFiles(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input/in.yaml")
	if err != nil || len(inputs) < 23 {
		t.Fatalf("%d cases, %v", len(inputs), err)
	}
	for _, input := range inputs {
		name := filepath.Base(filepath.Dir(filepath.Dir(input)))
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := os.ReadFile(filepath.Join("testdata", name, "expected", "files.txt"))
			if err != nil {
				t.Fatal(err)
			}
			r := site.Parse("ns1", []source.File{{Path: "in.yaml", Data: withCertificates(t, data)}}, site.Env{})
			dir := t.TempDir()
			wants := Wanted(r, Input{LocalPort: 5671}, now)
			ensureAt(t, filepath.Join(dir, "runtime"), wants, now)
			if have := stored(t, filepath.Join(dir, "runtime"), wants); !slices.Equal(have, Profiles(wants)) {
				t.Errorf("profiles %v, foretold %v", have, Profiles(wants))
			}
			want := strings.Fields(string(recorded))
			but := better[name]
			want = append(slices.DeleteFunc(want, func(f string) bool {
				client := strings.Replace(but.less, "/certs/", "/certs/client-", 1)
				return but.less != "" && (strings.HasPrefix(f, but.less) || strings.HasPrefix(f, client))
			}), but.more...)
			slices.Sort(want)
			if got := filesBelow(t, dir); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant (%s)\n%s", strings.Join(got, "\n"), but.why, strings.Join(want, "\n"))
			}
		})
	}
}

// withCertificates puts certificates in the place of the recorded inputs' placeholders, with which no router would start.
func withCertificates(t *testing.T, data []byte) []byte {
	t.Helper()
	ca := testCA(t, "other-site-ca", now)
	b := testLeaf(t, "client", ca, now)
	text := string(data)
	for _, f := range b.files() {
		for _, placeholder := range []string{"Y2E=", "Y3J0", "a2V5"} {
			text = strings.ReplaceAll(text, f.name+": "+placeholder, f.name+": "+base64.StdEncoding.EncodeToString(*f.data))
		}
	}
	return []byte(text)
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}
