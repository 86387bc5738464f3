package site

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/test/golden"
)

// TestGolden reads the resources of testdata/*/input and compares what is found in them and what is left to be used. The first
// ones are inputs with recorded results of upstream; that their certificates are placeholders is nothing to this package.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input")
	if err != nil || len(inputs) < 46 {
		t.Fatalf("%d cases, %v", len(inputs), err)
	}
	for _, input := range inputs {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			rs := Parse("ns1", readFiles(t, input), Env{})
			rs.CheckPorts(nil)
			var findings strings.Builder
			for _, d := range rs.Findings() {
				fmt.Fprintln(&findings, d)
			}
			golden.File(t, filepath.Join(dir, "expected", "findings.txt"), findings.String())
			golden.File(t, filepath.Join(dir, "expected", "resources.txt"), describe(rs))
		})
	}
}

func readFiles(t testing.TB, dir string) (files []source.File) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files = append(files, source.File{Path: name, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// describe lists what can be used, a resource a line.
func describe(rs *Resources) string {
	var b strings.Builder
	line := func(r *Resource, format string, args ...any) {
		fmt.Fprintf(&b, "%s %s: %s\n", r.Kind, r.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case rs.SiteErr:
		b.WriteString("what runs is left as it is\n")
	case rs.Site == nil:
		b.WriteString("no site\n")
	default:
		line(rs.Site.Resource, "linkAccess %q edge %t log %q", rs.Site.LinkAccess, rs.Site.Edge, rs.Site.LogLevels)
	}
	for _, v := range rs.Listeners {
		line(v.Resource, "%s at %s %d tls %q observer %q", v.RoutingKey, v.Host, v.Port, v.TLSCredentials, v.Observer)
	}
	for _, v := range rs.Connectors {
		line(v.Resource, "%s at %s %d tls %q client certificate %t verify %t", v.RoutingKey, v.Host, v.Port, v.TLSCredentials, v.UseClientCert, v.VerifyHostname)
	}
	for _, v := range rs.MultiKeyListeners {
		line(v.Resource, "%s %v at %s %d tls %q client certificate %t observer %q", v.Strategy, v.Keys, v.Host, v.Port, v.TLSCredentials, v.RequireClientCert, v.Observer)
	}
	for _, v := range rs.Links {
		line(v.Resource, "%v tls %q cost %d proxy %q", v.Endpoints, v.TLSCredentials, v.Cost, v.Proxy)
	}
	for _, v := range rs.RouterAccesses {
		line(v.Resource, "%v at %q names %v tls %q issuer %q given %t", v.Roles, v.BindHost, v.Names, v.TLSCredentials, v.Issuer, v.Given)
	}
	for _, v := range rs.AccessTokens {
		line(v.Resource, "%s code %q cost %d", v.URL, v.Code, v.Cost)
	}
	for _, v := range rs.Certificates {
		line(v.Resource, "of %q for %q %v client %t server %t signing %t", v.CA, v.Subject, v.Hosts, v.Client, v.Server, v.Signing)
	}
	for _, v := range rs.Secrets {
		line(v.Resource, "%q %q", v.Type, v.Data)
	}
	return b.String()
}
