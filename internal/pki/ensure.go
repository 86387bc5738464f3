package pki

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"
)

// Profile tells which files a TLS profile has. A router.Profile has the same fields.
type Profile struct {
	Name          string
	CA, Cert, Key bool
}

// Ensure makes runtime/issuers and runtime/certs below dir, a namespace's runtime directory, hold what is wanted. What is right
// is kept, to the byte and with its times. Each directory of them is replaced as a whole, so that after a crash at any point the
// next Ensure goes on, and no reader finds a key beside another key's certificate; the two parents are never replaced, as a
// container has mounted one. What is not wanted is left to Prune. changed are the names in runtime/certs whose files are others now,
// or new; sorted.
func Ensure(dir string, wants []Want, now time.Time, random io.Reader) (changed []string, err error) {
	return ensuring{store: store{dir: dir}, maker: maker{now: now, random: random, key: newRSA}}.run(wants)
}

// Prune removes from runtime/certs below dir what is not wanted, for when the router has let go of it and no resource is left
// out: nobody can tell what that one needs. Authorities stay for ever, as what they signed is out in the world, and a site that
// wants nothing is none.
func Prune(dir string, wants []Want) error {
	if len(wants) == 0 {
		return nil
	}
	return store{dir: dir}.remove(filepath.Join(dir, certs), func(name string) bool {
		return slices.ContainsFunc(wants, func(w Want) bool { return w.Kind != Authority && w.Name == name })
	})
}

// Profiles tells what runtime/certs will hold of what is wanted and can be used, sorted by name.
func Profiles(wants []Want) []Profile {
	var profiles []Profile
	for _, w := range wants {
		if w.Kind == Authority || w.Kind == Password || w.Hold && w.Given == nil {
			continue
		}
		p := Profile{Name: w.Name, CA: true, Cert: w.Kind == Identity, Key: w.Kind == Identity}
		if w.Given != nil {
			p = w.Given.profile(w.Name)
		}
		profiles = append(profiles, p)
	}
	slices.SortFunc(profiles, func(a, b Profile) int { return cmp.Compare(a.Name, b.Name) })
	return profiles
}

func (b Bundle) profile(name string) Profile {
	return Profile{Name: name, CA: len(b.CA) > 0, Cert: len(b.Cert) > 0, Key: len(b.Key) > 0}
}

type ensuring struct {
	store
	maker
}

func (e ensuring) run(wants []Want) (changed []string, err error) {
	for _, parent := range []string{issuers, certs} {
		if err := e.prepare(parent); err != nil {
			return changed, err
		}
	}
	signers := map[string]*authority{}
	for _, w := range wants {
		if !safeName(w.Name) {
			return changed, fmt.Errorf("%q is no name for a certificate", w.Name)
		}
		other, err := e.ensure(w, signers)
		if err != nil {
			return changed, err
		}
		if other && w.Kind != Authority {
			changed = append(changed, w.Name)
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// ensure makes one directory right, and tells whether that changed it. Authorities come first in wants, so those that sign are in
// signers by then.
func (e ensuring) ensure(w Want, signers map[string]*authority) (changed bool, err error) {
	parent := certs
	if w.Kind == Authority {
		parent = issuers
	}
	have, err := e.read(parent, w.Name)
	if err != nil {
		return false, err
	}
	want, err := e.content(w, have, signers[w.Issuer])
	if err != nil {
		return false, fmt.Errorf("%s: %w", filepath.Join(e.dir, parent, w.Name), err)
	}
	if changed, err = e.put(parent, w.Name, have, want); err != nil {
		return false, err
	}
	if w.Kind == Authority {
		signers[w.Name], _ = readAuthority(want.Bundle)
	}
	return changed, nil
}

// content returns what a directory is to hold, given what it holds and who signs.
func (e ensuring) content(w Want, have content, ca *authority) (want content, err error) {
	if w.Hold {
		have.password = w.Password
		return have, nil
	}
	want = content{connect: w.Connect, password: w.Password}
	switch {
	case w.Kind == Password:
	case w.Given != nil:
		want.Bundle = *w.Given
	case w.Kind == Authority:
		want.Bundle, err = e.keepAuthority(w, have.Bundle)
	default:
		want.Bundle, err = e.keepSigned(w, have.Bundle, ca)
	}
	return want, err
}

// keepAuthority returns the CA that is there, renewed if it is of ours and old, or a new one if there is none.
func (e ensuring) keepAuthority(w Want, have Bundle) (Bundle, error) {
	if have.empty() {
		return e.authority(w.Subject, nil)
	}
	old, err := readAuthority(have)
	if err != nil {
		return have, fmt.Errorf("is no longer a CA: %w", err)
	}
	if !renewableCA(old, w.Subject) {
		return have, nil
	}
	if !e.fresh(old.cert) {
		return e.authority(w.Subject, old)
	}
	have.CA = have.Cert
	return have, nil
}

// keepSigned returns the certificate that is there if it is as it ought to be, or a new one.
func (e ensuring) keepSigned(w Want, have Bundle, ca *authority) (Bundle, error) {
	if ca == nil {
		return have, fmt.Errorf("its CA %q cannot sign", w.Issuer)
	}
	if w.Kind == Trust {
		return Bundle{CA: ca.trust}, nil
	}
	if !e.keeps(w, have, ca) {
		return e.identity(w.Subject, w.Hosts, ca)
	}
	cert, _ := parseCertificates(have.Cert)
	return Bundle{CA: ca.trust, Cert: slices.Concat(encodeCertificates(cert[0]), ca.chain), Key: cleanKey(have.Key)}, nil
}

func (e ensuring) keeps(w Want, have Bundle, ca *authority) bool {
	chain, err := parseCertificates(have.Cert)
	if err != nil {
		return false
	}
	key, err := parseKey(have.Key)
	if err != nil {
		return false
	}
	cert := chain[0]
	return fits(key, cert) && bytes.Equal(cert.RawIssuer, ca.cert.RawSubject) && cert.CheckSignatureFrom(ca.cert) == nil && cert.Subject.CommonName == w.Subject &&
		sameSet(cert.DNSNames, w.Hosts) && e.fresh(cert)
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
