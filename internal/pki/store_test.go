package pki

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// errCut is what a crash is in these tests.
var errCut = errors.New("cut")

// cutAt runs Ensure until the nth change on disk, and tells whether it came to that.
func cutAt(dir string, wants []Want, at time.Time, n int) (crashed bool, err error) {
	defer func() {
		if p := recover(); p == errCut {
			crashed = true
		} else if p != nil {
			panic(p)
		}
	}()
	step := func() {
		if n--; n < 0 {
			panic(errCut)
		}
	}
	_, err = ensuring{store: store{dir: dir, step: step}, maker: makerAt(at)}.run(wants)
	return false, err
}

// TestCrash: a crash before any change on disk leaves keys that fit their certificates and CAs that keep their keys, and the
// next run ends as one without a crash would have.
func TestCrash(t *testing.T) {
	mine := testCA(t, "corp", now)
	user := testLeaf(t, "u", mine, now)
	newer := testLeaf(t, "u", mine, now)
	first := []Want{{Kind: Authority, Name: "ca", Subject: "ca"}, {Name: "x", Subject: "x", Hosts: []string{"a"}, Issuer: "ca", Connect: []byte("1")}, {Name: "u", Given: &user}}
	second := []Want{{Kind: Authority, Name: "ca", Subject: "ca"}, {Name: "x", Subject: "x", Hosts: []string{"a", "b"}, Issuer: "ca", Connect: []byte("2")}, {Name: "u", Given: &newer},
		{Kind: Trust, Name: "x-profile", Issuer: "ca"}}
	later := now.Add(4 * year)
	made := t.TempDir()
	ensureAt(t, made, first, now)
	for n := 0; ; n++ {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
		parent, err := os.Stat(dir + "/certs")
		if err != nil {
			t.Fatal(err)
		}
		crashed, err := cutAt(dir, second, later, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"certs/x", "certs/u", "issuers/ca"} {
			if b := load(t, dir, name); !fits(parseKeyOf(t, b), parseOne(t, b.Cert)) {
				t.Fatalf("step %d: the key of %s does not fit", n, name)
			}
		}
		ensureAt(t, dir, second, later)
		if string(load(t, dir, "issuers/ca").Key) != string(load(t, made, "issuers/ca").Key) {
			t.Fatalf("step %d: another CA", n)
		}
		if got := names(t, dir+"/certs"); !slices.Equal(got, []string{"u", "x", "x-profile"}) {
			t.Fatalf("step %d: left %q", n, got)
		}
		if after, err := os.Stat(dir + "/certs"); err != nil || !os.SameFile(parent, after) {
			t.Fatalf("step %d: certs is another directory", n)
		}
		if again := ensureAt(t, dir, second, later); len(again) > 0 {
			t.Fatalf("step %d: not finished: %q", n, again)
		}
		if !crashed {
			if n < 20 {
				t.Errorf("only %d steps: the test does not see them all", n)
			}
			return
		}
	}
}

// TestCrashFromNothing: the same for the first run.
func TestCrashFromNothing(t *testing.T) {
	wants := []Want{{Kind: Authority, Name: SiteCA, Subject: SiteCA}, {Name: "x", Subject: "x", Issuer: SiteCA, Connect: []byte("1")}}
	for n := 0; ; n++ {
		dir := filepath.Join(t.TempDir(), "runtime")
		crashed, err := cutAt(dir, wants, now, n)
		if err != nil {
			t.Fatal(err)
		}
		key := load(t, dir, "issuers/"+SiteCA).Key
		ensureAt(t, dir, wants, now)
		if key != nil && string(load(t, dir, "issuers/"+SiteCA).Key) != string(key) {
			t.Fatalf("step %d: another CA", n)
		}
		if again := ensureAt(t, dir, wants, now); len(again) > 0 || slices.Contains(names(t, dir+"/certs"), staged) {
			t.Fatalf("step %d: not finished: %q", n, again)
		}
		if !crashed {
			return
		}
	}
}

// TestReaders: a directory that is open shows one pair and never a mixture, however often the certificate is made anew.
func TestReaders(t *testing.T) {
	dir := t.TempDir()
	wants := []Want{{Kind: Authority, Name: "ca", Subject: "ca"}, {Name: "x", Subject: "0", Issuer: "ca"}}
	ensureAt(t, dir, wants, now)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 30 {
			wants := []Want{wants[0], {Name: "x", Subject: fmt.Sprint(i), Issuer: "ca"}}
			if _, err := (ensuring{store: store{dir: dir}, maker: makerAt(now)}).run(wants); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
		}
		open, err := os.OpenRoot(dir + "/certs/x")
		if err != nil {
			t.Fatalf("there is a moment without the directory: %v", err)
		}
		cert, certErr := open.ReadFile("tls.crt")
		key, keyErr := open.ReadFile("tls.key")
		open.Close()
		if certErr != nil || keyErr != nil {
			continue // the old directory has been cleared away meanwhile
		}
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMove: where two directories cannot change places, the files come one by one, and a cut is healed.
func TestMove(t *testing.T) {
	ca := testCA(t, "ca", now)
	old, want := testLeaf(t, "x", ca, now), testLeaf(t, "y", ca, now)
	for n := 0; ; n++ {
		s := store{dir: t.TempDir()}
		if err := s.prepare(certs); err != nil {
			t.Fatal(err)
		}
		if _, err := s.put(certs, "x", content{}, content{Bundle: old, connect: []byte("1")}); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(s.dir, certs, "x", "other"), nil, 0o600)
		if err := s.stage(certs, content{Bundle: want}); err != nil {
			t.Fatal(err)
		}
		crashed := func() (crashed bool) {
			defer func() { crashed = recover() != nil }()
			left := n
			cutting := store{dir: s.dir, step: func() {
				if left--; left < 0 {
					panic(errCut)
				}
			}}
			if err := cutting.move(filepath.Join(s.dir, certs, staged), filepath.Join(s.dir, certs, "x")); err != nil {
				t.Error(err)
			}
			return false
		}()
		ensureAt(t, s.dir, []Want{{Name: "x", Given: &want}}, now)
		if got := names(t, filepath.Join(s.dir, certs, "x")); !slices.Equal(got, []string{"ca.crt", "tls.crt", "tls.key"}) || !load(t, s.dir, "certs/x").equal(want) {
			t.Fatalf("step %d: %q", n, got)
		}
		if !crashed {
			return
		}
	}
}

func parseKeyOf(t *testing.T, b Bundle) crypto.Signer {
	t.Helper()
	key, err := parseKey(b.Key)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
