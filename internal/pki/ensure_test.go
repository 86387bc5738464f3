package pki

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/site"
)

const year = 365 * 24 * time.Hour

func siteWants(in Input) []Want {
	r := bare()
	r.RouterAccesses = []site.RouterAccess{access("go-east", "east.example.com", "10.0.0.5")}
	return Wanted(r, in, now)
}

// tree lists what is below a directory: each path with its mode, time and content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		name, _ := filepath.Rel(dir, path)
		files[name] = fmt.Sprint(info.Mode(), info.ModTime(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestEnsure(t *testing.T) {
	dir := t.TempDir()
	wants := siteWants(Input{LocalPort: 5671})
	changed := ensureAt(t, dir, wants, now)
	if want := []string{"client-go-east", "go-east", LocalClient, LocalServer}; !slices.Equal(changed, want) {
		t.Errorf("changed %q, want %q", changed, want)
	}
	if have := stored(t, dir, wants); !slices.Equal(have, Profiles(wants)) {
		t.Errorf("profiles %v, foretold %v", have, Profiles(wants))
	}
	for path, mode := range map[string]fs.FileMode{
		"certs": 0o755, "issuers": 0o755, "certs/go-east": 0o755, "certs/go-east/ca.crt": 0o644, "certs/go-east/tls.crt": 0o644,
		"certs/go-east/tls.key": 0o600, "issuers/skupper-site-ca/tls.key": 0o600, "certs/skupper-local-client/connect.json": 0o644,
	} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	serve(t, load(t, dir, "certs/go-east"), load(t, dir, "certs/client-go-east"), "east.example.com", now)
	serve(t, load(t, dir, "certs/go-east"), load(t, dir, "certs/client-go-east"), "127.0.0.1", now)
	serve(t, load(t, dir, "certs/skupper-local-server"), load(t, dir, "certs/skupper-local-client"), "localhost", now)

	bundle, connect, err := Load(dir, LocalClient)
	if err != nil || !bundle.equal(load(t, dir, "certs/"+LocalClient)) || !strings.Contains(string(connect), "5671") {
		t.Errorf("loaded %v, %s, %v", bundle.profile(LocalClient), connect, err)
	}

	before := tree(t, dir)
	if again := ensureAt(t, dir, wants, now.Add(year)); len(again) > 0 {
		t.Errorf("a second run changed %q", again)
	}
	if after := tree(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("a second run wrote")
	}
}

// serve does a handshake with client certificates on both ends, as routers do.
func serve(t *testing.T, server, client Bundle, host string, at time.Time) {
	t.Helper()
	config := func(b Bundle) *tls.Config {
		pair, err := tls.X509KeyPair(b.Cert, b.Key)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(b.CA)
		return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert, ServerName: host, Time: func() time.Time { return at }}
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config(server))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	done := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			err = conn.(*tls.Conn).Handshake()
		}
		done <- err
	}()
	conn, err := tls.Dial("tcp", listener.Addr().String(), config(client))
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	defer conn.Close()
	if err := <-done; err != nil {
		t.Fatalf("%s: %v", host, err)
	}
}

// TestReissue: what makes a certificate anew, and what does not.
func TestReissue(t *testing.T) {
	base := func() []Want {
		return []Want{{Kind: Authority, Name: "ca", Subject: "ca"}, {Kind: Authority, Name: "ca2", Subject: "ca2"}, {Name: "x", Subject: "x", Hosts: []string{"a", "b"}, Issuer: "ca"}}
	}
	for _, test := range []struct {
		name   string
		at     time.Duration
		change func(dir string, wants []Want)
		want   bool
	}{
		{"nothing", 0, func(string, []Want) {}, false},
		{"order of hosts", 0, func(_ string, w []Want) { w[2].Hosts = []string{"b", "a"} }, false},
		{"a host more", 0, func(_ string, w []Want) { w[2].Hosts = []string{"a", "b", "c"} }, true},
		{"a host less", 0, func(_ string, w []Want) { w[2].Hosts = []string{"a"} }, true},
		{"subject", 0, func(_ string, w []Want) { w[2].Subject = "y" }, true},
		{"issuer", 0, func(_ string, w []Want) { w[2].Issuer = "ca2" }, true},
		{"another CA from the user", 0, func(_ string, w []Want) { b := testCA(t, "ca", now); w[0].Given = &b }, true},
		{"connect.json", 0, func(_ string, w []Want) { w[2].Connect = []byte("{}") }, true},
		{"before a third is left", 5 * year / 100 * 65, func(string, []Want) {}, false},
		{"a third is left", 5 * year / 100 * 67, func(string, []Want) {}, true},
		{"expired", 6 * year, func(string, []Want) {}, true},
		{"clock an hour back", -time.Hour, func(string, []Want) {}, false},
		{"clock was a year ahead", -year, func(string, []Want) {}, true},
		{"held", 6 * year, func(_ string, w []Want) { w[2] = Want{Name: "x", Hold: true} }, false},
		{"key of another", 0, func(dir string, _ []Want) { os.WriteFile(dir+"/certs/x/tls.key", encodeKey(pool()[0]), 0o600) }, true},
		{"key gone", 0, func(dir string, _ []Want) { os.Remove(dir + "/certs/x/tls.key") }, true},
		{"key empty", 0, func(dir string, _ []Want) { os.Truncate(dir+"/certs/x/tls.key", 0) }, true},
		{"all gone", 0, func(dir string, _ []Want) { os.RemoveAll(dir + "/certs") }, true},
		{"a file too many", 0, func(dir string, _ []Want) { os.WriteFile(dir+"/certs/x/other", nil, 0o600) }, true},
		{"a file in its place", 0, func(dir string, _ []Want) { os.RemoveAll(dir + "/certs/x"); os.WriteFile(dir+"/certs/x", nil, 0o600) }, true},
		{"a link in its place", 0, func(dir string, _ []Want) { os.Rename(dir+"/certs/x", dir+"/y"); os.Symlink("../y", dir+"/certs/x") }, true},
		{"modes", 0, func(dir string, _ []Want) { os.Chmod(dir+"/certs/x/tls.key", 0o644); os.Chmod(dir+"/certs/x", 0o700) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, wants := t.TempDir(), base()
			ensureAt(t, dir, wants, now)
			test.change(dir, wants)
			if changed := slices.Contains(ensureAt(t, dir, wants, now.Add(test.at)), "x"); changed != test.want {
				t.Errorf("changed %v, want %v", changed, test.want)
			}
			if flaw := load(t, dir, "certs/x").Check(Need{CA: true, Cert: true, Chain: true}, now.Add(max(test.at, 0))); flaw != nil && test.name != "held" {
				t.Errorf("made %+v", flaw)
			}
			info, err := os.Stat(dir + "/certs/x/tls.key")
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("the key: %v, %v", info, err)
			}
			if again := ensureAt(t, dir, wants, now.Add(test.at)); len(again) > 0 {
				t.Errorf("once more changes %q", again)
			}
		})
	}
}

// TestAuthorityStays: a CA keeps its key for ever, so that a link made long ago still trusts what is made today, and is trusted.
func TestAuthorityStays(t *testing.T) {
	dir, wants := t.TempDir(), siteWants(Input{})
	ensureAt(t, dir, wants, now)
	ca := load(t, dir, "issuers/"+SiteCA)
	link := load(t, dir, "certs/client-go-east")

	later := now.Add(4 * year)
	changed := ensureAt(t, dir, wants, later)
	renewed := load(t, dir, "issuers/"+SiteCA)
	if string(renewed.Key) != string(ca.Key) || string(renewed.Cert) == string(ca.Cert) {
		t.Fatal("the CA was not renewed with its key")
	}
	if len(changed) != 4 {
		t.Errorf("changed %q", changed)
	}
	server := load(t, dir, "certs/go-east")
	if !comesFrom([]*x509.Certificate{parseOne(t, server.Cert)}, []*x509.Certificate{parseOne(t, link.CA)}, later) {
		t.Error("an old link does not trust the new server certificate")
	}
	if !comesFrom([]*x509.Certificate{parseOne(t, link.Cert)}, []*x509.Certificate{parseOne(t, server.CA)}, later) {
		t.Error("the new server certificate's CA does not trust an old link")
	}
	serve(t, server, load(t, dir, "certs/client-go-east"), "10.0.0.5", later)
}

// TestUsersAuthorityStays: neither age nor the end of its input changes a CA that is not of ours, and a damaged one is not
// replaced in silence.
func TestUsersAuthorityStays(t *testing.T) {
	dir := t.TempDir()
	mine := testCA(t, "corp", now)
	wants := []Want{{Kind: Authority, Name: "ca", Subject: "ca", Given: &mine}, {Name: "x", Subject: "x", Issuer: "ca"}}
	ensureAt(t, dir, wants, now)
	wants[0].Given = nil
	ensureAt(t, dir, wants, now.Add(4*year))
	if !load(t, dir, "issuers/ca").equal(mine) {
		t.Error("the user's CA was changed")
	}
	if err := os.Remove(dir + "/issuers/ca/tls.key"); err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(dir, wants, now, nil); err == nil || !strings.Contains(err.Error(), "issuers/ca") {
		t.Errorf("a CA without a key: %v", err)
	}
	if load(t, dir, "issuers/ca").Cert == nil {
		t.Error("the rest of the CA is gone")
	}
}

// TestGiven: the user's certificates are stored as they are, and only what the profile has.
func TestGiven(t *testing.T) {
	dir := t.TempDir()
	ca := testCA(t, "corp", now)
	leaf := testLeaf(t, "x", ca, now)
	only := Bundle{CA: ca.CA}
	wants := []Want{{Name: "x", Given: &leaf}, {Name: "y", Given: &only}, {Kind: Trust, Name: "z", Given: &only}}
	ensureAt(t, dir, wants, now)
	if want := []Profile{{"x", true, true, true}, {"y", true, false, false}, {"z", true, false, false}}; !slices.Equal(stored(t, dir, wants), want) || !slices.Equal(Profiles(wants), want) {
		t.Errorf("profiles %v and %v", stored(t, dir, wants), Profiles(wants))
	}
	wants[0].Given = &only
	if changed := ensureAt(t, dir, wants, now); !slices.Equal(changed, []string{"x"}) || !load(t, dir, "certs/x").equal(only) {
		t.Errorf("changed %v to %v", changed, load(t, dir, "certs/x").profile("x"))
	}
}

// TestPassword: a proxy's password lies by itself or beside a certificate of the same name.
func TestPassword(t *testing.T) {
	dir := t.TempDir()
	wants := WithPassword(WithPassword(siteWants(Input{}), "prox", []byte("1")), "go-east", []byte("2"))
	changed, have := ensureAt(t, dir, wants, now), stored(t, dir, wants)
	if !slices.Contains(changed, "prox") || !slices.Equal(have, Profiles(wants)) || len(have) != 4 {
		t.Errorf("changed %q, profiles %v", changed, have)
	}
	if again := ensureAt(t, dir, wants, now); len(again) > 0 {
		t.Errorf("a second run changed %q", again)
	}
	if err := Prune(dir, wants); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"prox": "1", "go-east": "2"} {
		path = filepath.Join(dir, "certs", path, "password.txt")
		info, err := os.Stat(path)
		if data, _ := os.ReadFile(path); err != nil || info.Mode() != 0o600 || string(data) != want {
			t.Errorf("%s: %q, %v, %v", path, data, info, err)
		}
	}
	if got := names(t, dir+"/certs/prox"); len(got) != 1 || len(names(t, dir+"/certs/go-east")) != 4 {
		t.Errorf("beside it are %q", got)
	}
	wants = WithPassword(wants, "prox", []byte("3"))
	if changed := ensureAt(t, dir, wants, now); !slices.Equal(changed, []string{"prox"}) {
		t.Errorf("changed %q", changed)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	wants := siteWants(Input{})
	ensureAt(t, dir, wants, now)
	less := Wanted(bare(), Input{}, now)
	if err := Prune(dir, nil); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir+"/certs"); len(got) != 4 {
		t.Errorf("without a site there are %q", got)
	}
	if err := Prune(dir, append(less, Want{Name: "client-go-east", Hold: true})); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir+"/certs"); !slices.Equal(got, []string{"client-go-east", LocalClient, LocalServer}) {
		t.Errorf("there are %q", got)
	}
	if got := names(t, dir+"/issuers"); len(got) != 3 {
		t.Errorf("of the CAs there are %q", got)
	}
	if err := Prune(t.TempDir(), less); err != nil {
		t.Error(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
