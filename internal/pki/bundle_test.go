package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	year := 365 * 24 * time.Hour
	ca, other := testCA(t, "ca", now), testCA(t, "other", now)
	old := testCA(t, "old", now.Add(-6*year))
	leaf := testLeaf(t, "x", ca, now)
	all := Need{CA: true, Cert: true, Chain: true}
	for _, test := range []struct {
		name   string
		bundle Bundle
		need   Need
		file   string // of the flaw; empty: none
		want   string
	}{
		{"good", leaf, all, "", ""},
		{"CA only", Bundle{CA: ca.CA}, Need{CA: true, Chain: true}, "", ""},
		{"CA only is not enough", Bundle{CA: ca.CA}, all, "tls.crt", "is missing"},
		{"no CA", Bundle{Cert: leaf.Cert, Key: leaf.Key}, Need{Cert: true}, "", ""},
		{"no CA is not enough", Bundle{Cert: leaf.Cert, Key: leaf.Key}, all, "ca.crt", "is missing"},
		{"no key", Bundle{CA: leaf.CA, Cert: leaf.Cert}, Need{}, "tls.key", "is missing"},
		{"no certificate", Bundle{CA: leaf.CA, Key: leaf.Key}, Need{}, "tls.crt", "is missing"},
		{"nothing", Bundle{}, Need{}, "ca.crt", "is missing"},
		{"another's key", Bundle{CA: leaf.CA, Cert: leaf.Cert, Key: testLeaf(t, "y", ca, now).Key}, all, "tls.key", "is not the key"},
		{"expired", testLeaf(t, "x", ca, now.Add(-6*year)), all, "tls.crt", "expired on 2025-"},
		{"not yet", testLeaf(t, "x", ca, now.Add(time.Hour)), all, "tls.crt", "is not valid before 2026-11-30 13:00 UTC"},
		{"CA expired", testLeaf(t, "x", old, now), all, "ca.crt", "expired on"},
		{"one CA expired", Bundle{CA: slices.Concat(old.CA, ca.CA), Cert: leaf.Cert, Key: leaf.Key}, all, "", ""},
		{"another CA", Bundle{CA: other.CA, Cert: leaf.Cert, Key: leaf.Key}, all, "tls.crt", "does not come from"},
		{"another CA that does not matter", Bundle{CA: other.CA, Cert: leaf.Cert, Key: leaf.Key}, Need{CA: true, Cert: true}, "", ""},
		{"CA is none", Bundle{CA: leaf.Cert, Cert: testLeaf(t, "y", ca, now).Cert, Key: leaf.Key}, all, "ca.crt", "is not a CA's (number 1)"},
		{"CA is a server that signed itself", Bundle{CA: selfSignedServer(t).Cert}, Need{CA: true}, "", ""},
		{"CA is another server that signed itself", Bundle{CA: selfSignedServer(t).Cert, Cert: leaf.Cert, Key: leaf.Key}, Need{CA: true, Cert: true}, "", ""},
		{"CA file is text", Bundle{CA: []byte("ca"), Cert: leaf.Cert, Key: leaf.Key}, all, "ca.crt", "no certificate in PEM form"},
		{"key in the certificate's place", Bundle{CA: ca.CA, Cert: leaf.Key, Key: leaf.Key}, all, "tls.crt", "RSA PRIVATE KEY"},
		{"authority", ca, Need{CA: true, Cert: true, Chain: true, Authority: true}, "", ""},
		{"no authority", leaf, Need{CA: true, Cert: true, Authority: true}, "tls.crt", "is not the certificate of a CA"},
		{"explained certificates", Bundle{CA: slices.Concat([]byte("# Issuer: x\n"), ca.CA), Cert: leaf.Cert, Key: leaf.Key}, all, "", ""},
		{"self-signed server", selfSignedServer(t), all, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			flaw := test.bundle.Check(test.need, now)
			if flaw == nil {
				flaw = &Flaw{}
			}
			if flaw.File != test.file || !strings.Contains(flaw.Message, test.want) || test.file != "" && flaw.Hint == "" {
				t.Errorf("got %+v, want %s %q", flaw, test.file, test.want)
			}
		})
	}
}

// selfSignedServer is what `openssl req -x509 -addext basicConstraints=CA:FALSE` makes.
func selfSignedServer(t testing.TB) Bundle {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "s"}, NotBefore: now, NotAfter: now.Add(time.Hour), BasicConstraintsValid: true, DNSNames: []string{"s"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return Bundle{CA: encode("CERTIFICATE", der), Cert: encode("CERTIFICATE", der), Key: encode("PRIVATE KEY", keyDER)}
}

// TestIntermediate: a CA of the user's that did not sign itself is named in tls.crt, and its root in ca.crt.
func TestIntermediate(t *testing.T) {
	root, err := readAuthority(testCA(t, "root", now))
	if err != nil {
		t.Fatal(err)
	}
	template, err := makerAt(now).template("between", nil)
	if err != nil {
		t.Fatal(err)
	}
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	key, _ := fromPool(nil)
	der, err := x509.CreateCertificate(rand.Reader, template, root.cert, key.Public(), root.key)
	if err != nil {
		t.Fatal(err)
	}
	between := Bundle{CA: root.trust, Cert: encode("CERTIFICATE", der), Key: encodeKey(key)}
	if flaw := between.Check(Need{CA: true, Cert: true, Chain: true, Authority: true}, now); flaw != nil {
		t.Fatal(flaw)
	}
	leaf := testLeaf(t, "x", between, now)
	if flaw := leaf.Check(Need{CA: true, Cert: true, Chain: true}, now); flaw != nil {
		t.Fatal(flaw)
	}
	chain, err := parseCertificates(leaf.Cert)
	if err != nil || len(chain) != 2 || chain[1].Subject.CommonName != "between" || parseOne(t, leaf.CA).Subject.CommonName != "root" {
		t.Errorf("chain of %d, trusts %s", len(chain), parseOne(t, leaf.CA).Subject)
	}
}

// TestForm: upstream's GenerateSecret.
func TestForm(t *testing.T) {
	leaf := parseOne(t, testLeaf(t, "cn", testCA(t, "the-ca", now), now, "a.example", "10.0.0.5", "::", "0.0.0.0").Cert)
	if !slices.Equal(leaf.DNSNames, []string{"a.example", "10.0.0.5", "::", "0.0.0.0"}) || len(leaf.IPAddresses) != 3 {
		t.Errorf("names %q, addresses %v", leaf.DNSNames, leaf.IPAddresses)
	}
	if leaf.Subject.String() != "CN=cn" || leaf.Issuer.String() != "CN=the-ca" || leaf.IsCA || !leaf.BasicConstraintsValid {
		t.Errorf("subject %s, issuer %s, CA %v", leaf.Subject, leaf.Issuer, leaf.IsCA)
	}
	if leaf.KeyUsage != x509.KeyUsageDigitalSignature|x509.KeyUsageKeyEncipherment || !slices.Equal(leaf.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}) {
		t.Errorf("usage %v, %v", leaf.KeyUsage, leaf.ExtKeyUsage)
	}
	if leaf.NotAfter.Sub(leaf.NotBefore) != 5*365*24*time.Hour || leaf.PublicKeyAlgorithm != x509.RSA {
		t.Errorf("valid for %v, %v", leaf.NotAfter.Sub(leaf.NotBefore), leaf.PublicKeyAlgorithm)
	}
	ca := testCA(t, "the-ca", now)
	cert := parseOne(t, ca.Cert)
	if !cert.IsCA || cert.KeyUsage&x509.KeyUsageCertSign == 0 || len(cert.DNSNames) != 0 || string(ca.CA) != string(ca.Cert) {
		t.Errorf("the CA is %+v", cert)
	}
}
