package pki

import (
	"crypto/x509"
	"slices"
	"time"
)

// Age is what time does to a certificate that a site uses.
type Age struct {
	Name      string
	Authority bool   // it is a CA's
	From      string // where the user has given it; empty where that is not known, or nobody has
	Renewed   bool   // Ensure makes it anew from Due on; for any other somebody else has to
	Due, End  time.Time
}

// Ages tells the age of what runtime/certs and runtime/issuers hold, or are about to, of what is wanted. What cannot be read has
// none, and neither have copies of a CA's certificate.
func Ages(in Input, wants []Want) []Age {
	var ages []Age
	for _, w := range wants {
		bundle, ok := w.bundle(in)
		if !ok {
			continue
		}
		a := Age{Name: w.Name, Authority: w.Kind == Authority, From: w.From, Renewed: w.renewed(bundle)}
		if a.Due, a.End, ok = bundle.age(); ok {
			ages = append(ages, a)
		}
	}
	return ages
}

func (w Want) bundle(in Input) (Bundle, bool) {
	if w.Given != nil {
		return *w.Given, true
	}
	used := in.InUse
	switch w.Kind {
	case Authority:
		used = in.Have
	case Trust, Password:
		return Bundle{}, false
	}
	if have := find(used, w.Name); have != nil {
		return have.Bundle, true
	}
	return Bundle{}, false
}

// renewed tells whether Ensure makes anew what a want finds in its place.
func (w Want) renewed(have Bundle) bool {
	if w.Hold || w.Given != nil {
		return false
	}
	if w.Kind != Authority {
		return true
	}
	a, err := readAuthority(have)
	return err == nil && renewableCA(a, w.Subject)
}

// age is that of the certificate of the chain that ends first, or of the CAs if they are gone before it: one of them is enough.
func (b Bundle) age() (renew, end time.Time, ok bool) {
	byEnd := func(x, y *x509.Certificate) int { return x.NotAfter.Compare(y.NotAfter) }
	var decides *x509.Certificate
	if authorities, err := parseCertificates(b.CA); err == nil {
		decides = slices.MaxFunc(authorities, byEnd)
	}
	if chain, err := parseCertificates(b.Cert); err == nil {
		if first := slices.MinFunc(chain, byEnd); decides == nil || !decides.NotAfter.Before(first.NotAfter) {
			decides = first
		}
	}
	if decides == nil {
		return time.Time{}, time.Time{}, false
	}
	return due(decides), decides.NotAfter, true
}
