// Package certs makes the certificates that a test needs.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// CA signs certificates.
type CA struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// New returns a new CA.
func New(t testing.TB) *CA {
	t.Helper()
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	ca := &CA{key: key(t)}
	ca.certificate, ca.pem = sign(t, "test CA", template, template, ca.key, ca.key)
	return ca
}

// Issue writes ca.crt, tls.crt and tls.key to a directory, which it makes: a certificate for a client, and for a server on this
// host and the hosts.
func (ca *CA) Issue(t testing.TB, directory string, hosts ...string) {
	t.Helper()
	template := &x509.Certificate{
		DNSNames:    append([]string{"localhost"}, hosts...),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	key := key(t)
	_, certificate := sign(t, filepath.Base(directory), template, ca.certificate, key, ca.key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	check(t, os.MkdirAll(directory, 0o755))
	write := func(name string, content []byte) {
		check(t, os.WriteFile(filepath.Join(directory, name), content, 0o600))
	}
	write("ca.crt", ca.pem)
	write("tls.crt", certificate)
	write("tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func key(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	return key
}

func sign(t testing.TB, name string, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, []byte) {
	template.Subject = pkix.Name{CommonName: name}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	check(t, err)
	certificate, err := x509.ParseCertificate(der)
	check(t, err)
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
