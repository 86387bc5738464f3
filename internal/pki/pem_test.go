package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
)

// keyForms returns the keys that a user may have, each by what made it.
func keyForms(t testing.TB) map[string][]byte {
	t.Helper()
	forms := smallKeyForms(t)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(pool()[0])
	if err != nil {
		t.Fatal(err)
	}
	forms["RSA PKCS#1"], forms["RSA PKCS#8"] = encodeKey(pool()[0]), encode("PRIVATE KEY", pkcs8)
	return forms
}

// smallKeyForms are those that are made quickly, also with the fuzzer's instruments.
func smallKeyForms(t testing.TB) map[string][]byte {
	t.Helper()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return encode("PRIVATE KEY", der)
	}
	oid, err := asn1.Marshal(asn1.ObjectIdentifier{1, 2, 840, 10045, 3, 1, 7})
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"EC SEC 1":                encode("EC PRIVATE KEY", sec1),
		"EC SEC 1, parameters":    slices.Concat(encode("EC PARAMETERS", oid), encode("EC PRIVATE KEY", sec1)),
		"EC PKCS#8":               pkcs8(ec),
		"Ed25519":                 pkcs8(ed),
		"text around, as PKCS#12": slices.Concat([]byte("Bag Attributes\n    friendlyName: x\n"), pkcs8(ec), []byte("\n")),
		"CRLF":                    bytes.ReplaceAll(pkcs8(ec), []byte("\n"), []byte("\r\n")),
	}
}

func TestKeyForms(t *testing.T) {
	for name, data := range keyForms(t) {
		t.Run(name, func(t *testing.T) {
			key, err := parseKey(data)
			if err != nil {
				t.Fatal(err)
			}
			cleaned := cleanKey(data)
			again, err := parseKey(cleaned)
			if err != nil || !again.Public().(interface{ Equal(crypto.PublicKey) bool }).Equal(key.Public()) {
				t.Errorf("cleaned key reads as %v, %v", again, err)
			}
			if !bytes.HasPrefix(cleaned, []byte("-----BEGIN ")) || bytes.Count(cleaned, []byte("-----BEGIN ")) != 1 {
				t.Errorf("not clean:\n%s", cleaned)
			}
		})
	}
}

func TestRefusedKeys(t *testing.T) {
	good := encodeKey(pool()[0])
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "holds no private key", nil},
		{"text", "holds no private key", []byte("hello\n")},
		{"placeholder", "holds no private key", []byte("ca")},
		{"two", "more than one", slices.Concat(good, good)},
		{"certificate", `type "CERTIFICATE"`, encode("CERTIFICATE", []byte{1})},
		{"encrypted PKCS#8", "encrypted", encode("ENCRYPTED PRIVATE KEY", []byte{1})},
		{"encrypted PKCS#1", "encrypted", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"}, Bytes: []byte{1}})},
		{"headers", "headers", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"A": "b"}, Bytes: []byte{1}})},
		{"DER garbage", "cannot be read", encode("PRIVATE KEY", []byte{1, 2, 3})},
		{"cut off", "damaged", good[:len(good)/2]},
		{"damaged beside a good one", "damaged", slices.Concat(good[:len(good)/2], []byte("\n"), good)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := parseKey(test.data); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// FuzzBundle: whatever is found good is what the router will read, and can be served.
func FuzzBundle(f *testing.F) {
	self := selfSignedServer(f)
	f.Add(self.CA, self.Cert, self.Key, true)
	f.Add(self.CA, []byte(nil), []byte(nil), false)
	f.Add([]byte("text\n"+string(self.CA)), slices.Concat(self.Cert, self.Cert), self.Key, true)
	for _, key := range smallKeyForms(f) {
		f.Add(self.CA, self.Cert, key, false)
	}
	f.Fuzz(func(t *testing.T, ca, cert, key []byte, chain bool) {
		b := Bundle{CA: ca, Cert: cert, Key: key}
		need := Need{Chain: chain}
		if flaw := b.Check(need, now); flaw != nil {
			if flaw.Message == "" || flaw.Hint == "" || strings.ContainsAny(flaw.Message, "\n\r") {
				t.Fatalf("not a sentence and a hint: %+v", flaw)
			}
			return
		}
		c := b.clean()
		if flaw := c.Check(need, now); flaw != nil {
			t.Fatalf("clean is worse: %+v", flaw)
		}
		if !c.clean().equal(c) {
			t.Fatal("clean twice is another thing")
		}
		if len(c.CA) == 0 != (len(ca) == 0) || len(c.Cert) == 0 != (len(cert) == 0) || len(c.Key) == 0 != (len(key) == 0) {
			t.Fatal("clean lost a file")
		}
		if len(c.Cert) > 0 {
			if _, err := tls.X509KeyPair(c.Cert, c.Key); err != nil {
				t.Fatal(err)
			}
		}
	})
}
