package pki

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"time"
)

// life is how long what is made is valid, as upstream has it; renewable is how much of it passes before it is made anew.
const (
	life      = 5 * 365 * 24 * time.Hour
	renewable = 2.0 / 3
)

// clockStep is how far in the future a certificate may begin before it is made anew: an hour changed by hand must not cost
// certificates, one that was made while the clock was years ahead is of no use to anyone.
const clockStep = 24 * time.Hour

// maker makes certificates. Keys are made by key, a seam for tests: RSA takes its time.
type maker struct {
	now    time.Time
	random io.Reader
	key    func(io.Reader) (*rsa.PrivateKey, error)
}

func newRSA(random io.Reader) (*rsa.PrivateKey, error) { return rsa.GenerateKey(random, 2048) }

// authority is a CA that can sign.
type authority struct {
	cert  *x509.Certificate
	key   crypto.Signer
	trust []byte // what peers trust: the content of ca.crt of what it signs
	chain []byte // what goes between a certificate that it signs and trust
}

// readAuthority takes a bundle of a CA apart. One that signed itself is what peers trust; of another one they trust ca.crt.
func readAuthority(b Bundle) (*authority, error) {
	certs, err := parseCertificates(b.Cert)
	if err != nil {
		return nil, fmt.Errorf("tls.crt %w", err)
	}
	key, err := parseKey(b.Key)
	if err != nil {
		return nil, fmt.Errorf("tls.key %w", err)
	}
	if !fits(key, certs[0]) {
		return nil, fmt.Errorf("tls.key is not the key of tls.crt")
	}
	if !isAuthority(certs[0]) {
		return nil, fmt.Errorf("tls.crt is not the certificate of a CA")
	}
	a := &authority{cert: certs[0], key: key}
	if selfSigned(certs[0]) {
		a.trust = encodeCertificates(certs[0])
		return a, nil
	}
	roots, err := parseCertificates(b.CA)
	if err != nil {
		return nil, fmt.Errorf("ca.crt %w", err)
	}
	a.trust, a.chain = encodeCertificates(roots...), encodeCertificates(certs...)
	return a, nil
}

func selfSigned(cert *x509.Certificate) bool {
	return slices.Equal(cert.RawSubject, cert.RawIssuer) && cert.CheckSignatureFrom(cert) == nil
}

// authority makes a CA. With an old one, it keeps its key and its names, so that what the old one signed stays good and what
// trusts the old one trusts what the new one signs.
func (m maker) authority(subject string, old *authority) (Bundle, error) {
	template, err := m.template(subject, nil)
	if err != nil {
		return Bundle{}, err
	}
	template.IsCA = true
	template.KeyUsage |= x509.KeyUsageCertSign
	var key *rsa.PrivateKey
	if old != nil {
		key = old.key.(*rsa.PrivateKey)
		template.RawSubject, template.SubjectKeyId = old.cert.RawSubject, old.cert.SubjectKeyId
	} else if key, err = m.key(m.random); err != nil {
		return Bundle{}, fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.CreateCertificate(m.random, template, template, key.Public(), key)
	if err != nil {
		return Bundle{}, fmt.Errorf("signing the certificate: %w", err)
	}
	cert := encode("CERTIFICATE", der)
	return Bundle{CA: cert, Cert: cert, Key: encodeKey(key)}, nil
}

// identity makes a certificate for servers and clients.
func (m maker) identity(subject string, hosts []string, ca *authority) (Bundle, error) {
	template, err := m.template(subject, hosts)
	if err != nil {
		return Bundle{}, err
	}
	key, err := m.key(m.random)
	if err != nil {
		return Bundle{}, fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.CreateCertificate(m.random, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return Bundle{}, fmt.Errorf("signing the certificate: %w", err)
	}
	return Bundle{CA: ca.trust, Cert: slices.Concat(encode("CERTIFICATE", der), ca.chain), Key: encodeKey(key)}, nil
}

// template is the form of upstream's certificates (GenerateSecret in internal/certs/certs.go): an address is both an IP and a
// DNS name, and everything serves both ends.
func (m maker) template(subject string, hosts []string) (*x509.Certificate, error) {
	serial, err := rand.Int(m.random, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: subject},
		NotBefore:             m.now,
		NotAfter:              m.now.Add(life),
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		DNSNames:              hosts,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	return template, nil
}

// due tells when a certificate is to be made anew.
func due(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(time.Duration(float64(cert.NotAfter.Sub(cert.NotBefore)) * renewable))
}

// fresh tells whether a certificate need not be made anew for its age.
func (m maker) fresh(cert *x509.Certificate) bool {
	return m.now.Before(due(cert)) && m.now.After(cert.NotBefore.Add(-clockStep))
}

// renewableCA tells whether a CA is of the kind that is made here, and so may be renewed; a user's is left alone.
func renewableCA(a *authority, subject string) bool {
	key, ok := a.key.(*rsa.PrivateKey)
	name := pkix.Name{CommonName: subject}
	return ok && key.N.BitLen() >= 2048 && selfSigned(a.cert) && a.cert.Subject.String() == name.String()
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(key *rsa.PrivateKey) []byte {
	return encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}
