// Package pki makes, keeps and checks the certificates of a Skupper site: those that upstream makes (internal/certs and
// internal/nonkube/common of skupperproject/skupper), and those that a user gives.
package pki

import (
	"bytes"
	"crypto/x509"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bundle is a certificate with what belongs to it, each as PEM; what is not there is empty.
type Bundle struct {
	CA   []byte // ca.crt: the authorities that the peer's certificate must come from
	Cert []byte // tls.crt: the certificate, then those between it and an authority
	Key  []byte // tls.key: its private key
}

// Need says what a use asks of a Bundle. A certificate and a key always come together.
type Need struct {
	CA        bool // ca.crt must be there
	Cert      bool // tls.crt and tls.key must be there
	Chain     bool // tls.crt must come from ca.crt: both ends trust the same authority
	Authority bool // tls.crt must be able to sign
}

// Flaw says what is wrong with a Bundle.
type Flaw struct {
	File    string // ca.crt, tls.crt or tls.key
	Message string // a sentence about File without its subject and full stop
	Hint    string // what to do
	Missing bool   // File is not there
}

// Check returns what keeps a bundle from being used at a time, nil if nothing does.
func (b Bundle) Check(need Need, now time.Time) *Flaw {
	if flaw := b.complete(need); flaw != nil {
		return flaw
	}
	authorities, flaw := b.checkCA(now)
	if flaw != nil || len(b.Cert) == 0 {
		return flaw
	}
	chain, flaw := b.checkCert(now)
	if flaw != nil {
		return flaw
	}
	if need.Authority && !isAuthority(chain[0]) {
		return &Flaw{File: "tls.crt", Message: "is not the certificate of a CA", Hint: "Make it with basicConstraints CA:TRUE and keyUsage keyCertSign."}
	}
	if need.Chain && len(authorities) > 0 && !comesFrom(chain, authorities, now) {
		return &Flaw{File: "tls.crt", Message: "does not come from an authority in ca.crt",
			Hint: "Put the certificate of the CA that signed tls.crt into ca.crt, and those in between into tls.crt."}
	}
	return nil
}

func (b Bundle) complete(need Need) *Flaw {
	missing := func(file string) *Flaw {
		return &Flaw{File: file, Message: "is missing", Hint: "Put it there, in PEM form.", Missing: true}
	}
	switch {
	case need.CA && len(b.CA) == 0:
		return missing("ca.crt")
	case len(b.Cert) == 0 && (need.Cert || len(b.Key) > 0):
		return missing("tls.crt")
	case len(b.Key) == 0 && (need.Cert || len(b.Cert) > 0):
		return missing("tls.key")
	case len(b.CA) == 0 && len(b.Cert) == 0:
		return missing("ca.crt")
	}
	return nil
}

// checkCA wants each certificate of ca.crt to be one that OpenSSL trusts by itself, an authority's or one that signed itself, or
// tls.crt, and one of them to be valid now.
func (b Bundle) checkCA(now time.Time) ([]*x509.Certificate, *Flaw) {
	if len(b.CA) == 0 {
		return nil, nil
	}
	certs, err := parseCertificates(b.CA)
	if err != nil {
		return nil, unreadable("ca.crt", err)
	}
	own, _ := parseCertificates(b.Cert)
	for i, cert := range certs {
		if !isAuthority(cert) && !signedItself(cert) && (len(own) == 0 || !cert.Equal(own[0])) {
			return nil, &Flaw{File: "ca.crt", Message: "holds a certificate that is not a CA's (number " + strconv.Itoa(i+1) + ")", Hint: "Leave only certificates of CAs in it."}
		}
	}
	if slices.ContainsFunc(certs, func(cert *x509.Certificate) bool { return checkValidity("ca.crt", cert, now) == nil }) {
		return certs, nil
	}
	return nil, checkValidity("ca.crt", certs[0], now)
}

func (b Bundle) checkCert(now time.Time) ([]*x509.Certificate, *Flaw) {
	chain, err := parseCertificates(b.Cert)
	if err != nil {
		return nil, unreadable("tls.crt", err)
	}
	key, err := parseKey(b.Key)
	if err != nil {
		return nil, unreadable("tls.key", err)
	}
	if !fits(key, chain[0]) {
		return nil, &Flaw{File: "tls.key", Message: "is not the key of the certificate in tls.crt", Hint: "Put the key that tls.crt was made for into it; tls.crt must begin with its certificate."}
	}
	return chain, checkValidity("tls.crt", chain[0], now)
}

// skew is how far the clock of the host that made a certificate may be ahead.
const skew = 10 * time.Minute

func checkValidity(file string, cert *x509.Certificate, now time.Time) *Flaw {
	if now.Before(cert.NotBefore.Add(-skew)) {
		return &Flaw{File: file, Message: "is not valid before " + date(cert.NotBefore), Hint: "Check the clock, or have the certificate made anew."}
	}
	if now.After(cert.NotAfter) {
		return &Flaw{File: file, Message: "expired on " + date(cert.NotAfter), Hint: "Have it made anew."}
	}
	return nil
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

func unreadable(file string, err error) *Flaw {
	hint := "Put it there in PEM form, as `openssl x509 -in " + file + "` prints it."
	if file == "tls.key" {
		hint = "Put it there in PEM form and without a pass phrase, as `openssl pkey -in tls.key` prints it."
	}
	return &Flaw{File: file, Message: err.Error(), Hint: hint}
}

func isAuthority(cert *x509.Certificate) bool {
	return cert.BasicConstraintsValid && cert.IsCA && (cert.KeyUsage == 0 || cert.KeyUsage&x509.KeyUsageCertSign != 0)
}

// signedItself tells whether a certificate was signed with its own key, be it a CA's or not.
func signedItself(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawSubject, cert.RawIssuer) && cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil
}

// comesFrom verifies a chain with the rest of it in between.
func comesFrom(chain, authorities []*x509.Certificate, now time.Time) bool {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, cert := range authorities {
		roots.AddCert(cert)
	}
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	if now.Before(chain[0].NotBefore) {
		now = chain[0].NotBefore
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil
}

// clean returns a checked bundle without what surrounds its PEM blocks, so that the router reads what was checked.
func (b Bundle) clean() Bundle {
	var c Bundle
	if certs, err := parseCertificates(b.CA); err == nil {
		c.CA = encodeCertificates(certs...)
	}
	if certs, err := parseCertificates(b.Cert); err == nil {
		c.Cert, c.Key = encodeCertificates(certs...), cleanKey(b.Key)
	}
	return c
}

func (b Bundle) equal(o Bundle) bool {
	return bytes.Equal(b.CA, o.CA) && bytes.Equal(b.Cert, o.Cert) && bytes.Equal(b.Key, o.Key)
}

func (b Bundle) empty() bool { return len(b.CA) == 0 && len(b.Cert) == 0 && len(b.Key) == 0 }

func quote(s string) string { return strconv.Quote(s) }

// reason is what an error of crypto/x509 says, without its package and in one line.
func reason(err error) string {
	return strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "x509: ")
}
