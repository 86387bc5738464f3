package links

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/test/golden"
)

// serverCert makes the certificate of a server as upstream does, where an address is also a DNS name.
func serverCert(t *testing.T, hosts ...string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: hosts}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func access(name, bind string, names []string, roles ...site.Role) site.RouterAccess {
	return site.RouterAccess{Resource: &site.Resource{Kind: "RouterAccess", Name: name}, Roles: roles, BindHost: bind, Names: names, TLSCredentials: name}
}

// loader serves a certificate for any server, and a client's that is known by its text.
func loader(server []byte) Loader {
	return func(name string) (pki.Bundle, []byte, error) {
		if strings.HasPrefix(name, "client-") {
			return pki.Bundle{CA: []byte("the CA"), Cert: []byte("the certificate"), Key: []byte("the key")}, []byte("{}\n"), nil
		}
		return pki.Bundle{Cert: server}, nil, nil
	}
}

func TestHosts(t *testing.T) {
	both := []site.Role{{Name: "edge", Port: 45671}, {Name: "inter-router", Port: 55671}}
	long := strings.Repeat("a", 200)
	for _, test := range []struct {
		name   string
		access site.RouterAccess
		server []string // hosts of its certificate
		want   []string // files
	}{
		{"recorded: 03 and 90", access("go-east", "127.0.0.1", nil, both...), []string{"east.example.com", "10.0.0.5", "127.0.0.1"},
			[]string{"link-go-east-127.0.0.1.yaml", "link-go-east-10.0.0.5.yaml", "link-go-east-east.example.com.yaml"}},
		{"recorded: 25", access("ra", "", nil, both...), []string{"127.0.0.1"}, []string{"link-ra-127.0.0.1.yaml"}},
		{"wildcards are no hosts (thread 31)", access("x", "0.0.0.0", nil, both...), []string{"0.0.0.0", "::", "127.0.0.1", "host"}, []string{"link-x-127.0.0.1.yaml", "link-x-host.yaml"}},
		{"IPv6", access("x", "::", nil, both...), []string{"2001:db8::5", "127.0.0.1"}, []string{"link-x-127.0.0.1.yaml", "link-x-2001:db8::5.yaml"}},
		{"one host in several forms", access("x", "2001:db8:0::5", nil, both...), []string{"2001:db8:0::5", "2001:DB8::5", "Host", "host"}, []string{"link-x-2001:db8:0::5.yaml", "link-x-Host.yaml"}},
		{"a user's certificate is not for the bind host", access("x", "10.0.0.1", []string{"ignored"}, both...), []string{"east"}, []string{"link-x-east.yaml"}},
		{"a user's certificate without names", access("x", "10.0.0.1", []string{"east"}, both...), nil, []string{"link-x-10.0.0.1.yaml", "link-x-east.yaml"}},
		{"names that are no hosts", access("x", "", nil, both...), []string{"*.example.com", "../../etc/x", "a/b", ".", "..", "fe80::1%eth0", "ok"}, []string{"link-x-ok.yaml"}},
		{"no ports yet", access("x", "", nil, site.Role{Name: "inter-router"}), []string{"127.0.0.1"}, nil},
		{"a name too long for a file", access(long, "", nil, both...), []string{strings.Repeat("b", 60) + ".example"}, []string{"link-" + long + "-" + strings.Repeat("b", 31) + "-dddb9748bd9d.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &site.Resources{RouterAccesses: []site.RouterAccess{test.access}}
			files, err := Static(r, loader(serverCert(t, test.server...)))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, f.Name)
				if len(f.Name) > 255 || filepath.Base(f.Name) != f.Name {
					t.Errorf("%q is no name for a file", f.Name)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestDocument: a static link is read by another site without a word, and is what was recorded of upstream.
func TestDocument(t *testing.T) {
	r := &site.Resources{RouterAccesses: []site.RouterAccess{
		access("go-east", "::1", nil, site.Role{Name: "edge", Port: 45671}, site.Role{Name: "inter-router", Port: 55671}),
		access("only-edge", "", nil, site.Role{Name: "edge", Port: 45672}),
	}}
	files, err := Static(r, loader(serverCert(t, "::1", "127.0.0.1")))
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		golden.File(t, filepath.Join("testdata", strings.ReplaceAll(f.Name, ":", "_")), string(f.Data))
		there := site.Parse("west", []source.File{{Path: f.Name, Data: f.Data}}, site.Env{})
		if found := there.Findings(); len(found) > 0 || len(there.Links) != 1 || len(there.Secrets) != 1 {
			t.Fatalf("%s: %v, %d links, %d secrets", f.Name, found, len(there.Links), len(there.Secrets))
		}
		link, secret := there.Links[0], there.Secrets[0]
		if link.TLSCredentials != secret.Name || secret.Type != "kubernetes.io/tls" || string(secret.Get("tls.key")) != "the key" || link.Cost != 1 {
			t.Errorf("%s: %+v, %+v", f.Name, link, secret)
		}
		for _, e := range link.Endpoints {
			if e.Host != f.Host {
				t.Errorf("%s: host %q", f.Name, e.Host)
			}
		}
	}
}

func TestNoClient(t *testing.T) {
	r := &site.Resources{RouterAccesses: []site.RouterAccess{access("x", "", nil, site.Role{Name: "edge", Port: 1})}}
	for _, missing := range []string{"x", "client-x"} {
		load := func(name string) (pki.Bundle, []byte, error) {
			if name == missing {
				return pki.Bundle{}, nil, nil
			}
			return pki.Bundle{Cert: serverCert(t, "h")}, nil, nil
		}
		if files, err := Static(r, load); err != nil || len(files) != 0 {
			t.Errorf("without %s: %v, %v", missing, files, err)
		}
	}
	broken := errors.New("broken")
	if _, err := Static(r, func(string) (pki.Bundle, []byte, error) { return pki.Bundle{}, nil, broken }); err != broken {
		t.Errorf("got %v", err)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "links")
	files := []File{{Name: "link-a-h.yaml", Data: []byte("1")}, {Name: "link-b-h.yaml", Data: []byte("2")}}
	state := func() string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
			fmt.Fprintln(&b, e.Name(), info.Mode(), string(data), info.ModTime().UnixNano())
		}
		return b.String()
	}
	write := func(files []File) {
		t.Helper()
		if err := Write(dir, files); err != nil {
			t.Fatal(err)
		}
	}
	write(files)
	before := state()
	write(files)
	if after := state(); after != before || strings.Count(after, " -rw------- ") != 2 {
		t.Errorf("a second run wrote:\n%s%s", before, after)
	}
	for _, spoil := range []func() error{
		func() error { return os.Chmod(filepath.Join(dir, files[0].Name), 0o644) },
		func() error { return os.WriteFile(filepath.Join(dir, files[0].Name), []byte("other"), 0o600) },
		func() error { return os.WriteFile(filepath.Join(dir, ".left-by-a-crash"), nil, 0o600) },
		func() error {
			os.Remove(filepath.Join(dir, files[0].Name))
			return os.Symlink("/dev/null", filepath.Join(dir, files[0].Name))
		},
		func() error {
			os.Remove(filepath.Join(dir, files[0].Name))
			return os.MkdirAll(filepath.Join(dir, files[0].Name, "x"), 0o755)
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		write(files)
		if got := state(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "link-a-h.yaml -rw------- 1 ") || !strings.Contains(got, "link-b-h.yaml -rw------- 2 ") {
			t.Errorf("got\n%s", got)
		}
	}
	write(files[1:])
	if got := state(); strings.Count(got, "\n") != 1 {
		t.Errorf("got\n%s", got)
	}
	write(nil)
	if got := state(); got != "" {
		t.Errorf("got\n%s", got)
	}
}
