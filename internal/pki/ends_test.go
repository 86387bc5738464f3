package pki

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEnds(t *testing.T) {
	dir := t.TempDir()
	old, new := testCA(t, "corp", now.Add(-time.Hour)), testCA(t, "corp", now)
	leaf := testLeaf(t, "x", old, now)
	put := func(name string, data []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put("issuers/corp/tls.crt", old.Cert)
	put("certs/leaf/tls.crt", leaf.Cert)
	put("certs/leaf/ca.crt", old.CA)
	put("certs/trust/ca.crt", slices.Concat(old.CA, new.CA, old.CA))
	put("certs/chain/tls.crt", slices.Concat(new.Cert, leaf.Cert, old.Cert))
	put("certs/password/password.txt", []byte("secret"))
	put("certs/bad/tls.crt", []byte("nonsense"))
	put("certs/.new/tls.crt", []byte("half of"))
	oldEnd, newEnd := parseOne(t, old.Cert).NotAfter, parseOne(t, new.Cert).NotAfter
	// The leaf is good for longer than its CA, which is of no use.
	want := []End{{"certs/chain", oldEnd}, {"certs/leaf", oldEnd}, {"certs/trust", newEnd}, {"issuers/corp", oldEnd}}
	got, err := Ends(dir)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err == nil || !strings.Contains(err.Error(), "certs/bad: holds no certificate") || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v", err)
	}
	for name, want := range map[string]time.Time{"leaf": oldEnd, "bad": {}, "none": {}, "password": {}} {
		if got := EndOf(dir, name, false); !got.Equal(want) {
			t.Errorf("%s ends at %v, want %v", name, got, want)
		}
	}
	if got := EndOf(dir, "corp", true); !got.Equal(oldEnd) {
		t.Errorf("the CA ends at %v, want %v", got, oldEnd)
	}
	if got, err := Ends(filepath.Join(dir, "none")); err != nil || got != nil {
		t.Errorf("of none: %v, %v", got, err)
	}
}
