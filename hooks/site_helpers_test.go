package hooks

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/test/standin/certs"
)

const (
	siteID     = "8dcf5c2b-21a0-421d-94a9-5fcedc5009d3"
	siteSuffix = "0123456789"
)

// siteHooks returns hooks for sites below a directory of the test.
func siteHooks(t *testing.T) Hooks {
	t.Helper()
	return newHooks(t, &memory{})
}

// resourceText is a document in short.
func resourceText(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: skupper.io/v2alpha1\nkind: %s\nmetadata: {name: %s}\nspec: {%s}\n---\n", kind, name, spec)
}

func listenerText(name string, port int) string {
	return resourceText("Listener", name, fmt.Sprintf("host: 0.0.0.0, port: %d, routingKey: k", port))
}

// put writes a file below the input of namespace ns1.
func put(t *testing.T, h Hooks, name, text string) {
	t.Helper()
	path := filepath.Join(h.home("ns1"), "input", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func unput(t *testing.T, h Hooks, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(h.home("ns1"), "input", name)); err != nil {
		t.Fatal(err)
	}
}

// refresh is refreshSite of ns1.
func refresh(t *testing.T, h Hooks) Site {
	t.Helper()
	s, err := h.refreshSite(t.Context(), "ns1")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// begin gives namespaces an identity, the ports that a site would get on a host where all are free, and certificates, of which each
// costs time.
func begin(t *testing.T, h Hooks, namespaces ...string) {
	t.Helper()
	for _, ns := range namespaces {
		record := state.Site{Namespace: ns, ID: siteID, Suffix: siteSuffix, Hosts: []string{"host.example", "192.0.2.1"},
			Ports: []state.Port{{Name: state.LocalPort, Port: 5671}, {Name: "ra/inter-router", Port: 55671}, {Name: "ra/edge", Port: 45671},
				{Name: "east/inter-router", Port: 55671}, {Name: "east/edge", Port: 45671}}}
		if err := errors.Join(os.MkdirAll(h.Paths.StateDir, 0o755), h.store().WriteSite(record)); err != nil {
			t.Fatal(err)
		}
		seed(t, h, ns)
	}
}

// seeds are the certificates of a site without anything, as files below its runtime directory.
var seeds = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "seeds")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	set := parseSite("ns1", resourceText("Site", "s", ""))
	if _, err := pki.Ensure(dir, pki.Wanted(set, pki.Input{LocalPort: 5671}, time.Now()), time.Now(), rand.Reader); err != nil {
		return nil, err
	}
	return tree(dir), nil
})

func seed(t *testing.T, h Hooks, namespace string) {
	t.Helper()
	files, err := seeds()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		path, mode := filepath.Join(h.home(namespace), "runtime", name), fs.FileMode(0o644)
		if strings.HasSuffix(name, ".key") {
			mode = 0o600
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, mode)); err != nil {
			t.Fatal(err)
		}
	}
}

// tree returns the files below a directory.
func tree(dir string) map[string][]byte {
	files := map[string][]byte{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files[name], err = os.ReadFile(path)
		}
		return err
	})
	return files
}

// stamps returns what changes with each write below a directory: inode and time of each file and directory.
func stamps(dir string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil {
			all[path] = fmt.Sprint(info.ModTime().UnixNano(), info.Mode(), inode(info))
		}
		return err
	})
	return all
}

// realCerts are certificates for the placeholders "Y2E=", "Y3J0" and "a2V5" of inputs, with which no router would start.
func realCerts(t *testing.T) func(text []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	certs.New(t).Issue(t, dir)
	var pairs, encoded []string
	placeholders := []string{"Y2E=", "Y3J0", "a2V5"}
	for i, file := range []string{"ca.crt", "tls.crt", "tls.key"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, placeholders[i]+"\n", string(data))
		for _, placeholder := range placeholders {
			encoded = append(encoded, file+": "+placeholder, file+": "+base64.StdEncoding.EncodeToString(data))
		}
	}
	inYAML, inFile := strings.NewReplacer(encoded...), strings.NewReplacer(pairs...)
	return func(text []byte) []byte {
		if bytes.Contains(text, []byte("kind:")) {
			return []byte(inYAML.Replace(string(text)))
		}
		return []byte(inFile.Replace(string(text)))
	}
}

// entity returns what the router of ns1 is to have of a name, by the file that it reads.
func entity(t *testing.T, h Hooks, name string) *router.Entity {
	t.Helper()
	entities, err := router.Parse(configText(t, h))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(entities, func(e router.Entity) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &entities[i]
}

func configText(t *testing.T, h Hooks) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.home("ns1"), "runtime/router/skrouterd.json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// status returns the text of a file of runtime/resources of ns1; none where there is none.
func status(h Hooks, name string) string {
	data, _ := os.ReadFile(filepath.Join(h.home("ns1"), "runtime/resources", name+".yaml"))
	return string(data)
}

// said is what a site's resources have against them.
func said(s Site) string {
	var b strings.Builder
	for _, d := range s.Resources.Findings() {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}
