package pki

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/site"
)

// material is a certificate of the user's, from a directory or a Secret.
type material struct {
	bundle Bundle
	from   string
	bad    *diag.Diagnostic
	secret *site.Secret // nil: a directory
}

// given finds the user's certificate of a name: a directory goes before a Secret.
func (w *wanting) given(dirs []Given, name string) (material, bool) {
	if dir := find(dirs, name); dir != nil {
		return material{bundle: dir.Bundle, from: dir.Dir, bad: dir.Bad}, true
	}
	return w.secret(name)
}

func (w *wanting) secret(name string) (material, bool) {
	i := slices.IndexFunc(w.resources.Secrets, func(s site.Secret) bool { return s.Name == name })
	if i < 0 {
		return material{}, false
	}
	s := &w.resources.Secrets[i]
	m := material{from: fmt.Sprintf("the Secret %q", name), secret: s}
	for _, file := range m.bundle.files() {
		*file.data = s.Get(file.name)
	}
	return m, true
}

// check returns a finding about the file or the Secret's key that keeps the material from serving a need; who has it may be empty.
func (m material) check(need Need, now time.Time, who string) *diag.Diagnostic {
	if m.bad != nil {
		return m.bad
	}
	flaw := m.bundle.Check(need, now)
	if flaw == nil {
		return nil
	}
	d := &diag.Diagnostic{Message: flaw.Message, Hint: flaw.Hint}
	if who != "" {
		d.Message += "; " + who + " needs it"
	}
	if m.secret == nil {
		d.File = filepath.Join(m.from, flaw.File)
		return d
	}
	d.File, d.Line, d.Column = m.secret.File, m.secret.Line, m.secret.Column
	d.Field = fmt.Sprintf("data[%q]", flaw.File)
	return d
}

// issuer is an authority that is wanted.
type issuer struct {
	want     Want
	bad      *diag.Diagnostic // why it cannot sign
	reported bool
	known    *authority // nil: it will be made, or is bad
}

// authority returns the authority of a name, adding it to what is wanted. input/issuers goes before what is in use, that before
// a Secret.
func (w *wanting) authority(name string) *issuer {
	if i := slices.IndexFunc(w.authorities, func(a *issuer) bool { return a.want.Name == name }); i >= 0 {
		return w.authorities[i]
	}
	a := &issuer{want: Want{Kind: Authority, Name: name, Subject: w.authoritySubject(name)}}
	w.authorities = append(w.authorities, a)
	if dir := find(w.input.Issuers, name); dir != nil {
		a.take(material{bundle: dir.Bundle, from: dir.Dir, bad: dir.Bad}, w.now)
	} else if dir := find(w.input.Have, name); dir != nil {
		a.use(*dir, w.now)
	} else if secret, ok := w.secret(name); ok {
		a.take(secret, w.now)
	}
	a.want.Hold = a.bad != nil
	return a
}

func (w *wanting) authoritySubject(name string) string {
	for _, c := range w.resources.Certificates {
		if c.Signing && c.Name == name && c.Subject != "" {
			return c.Subject
		}
	}
	return name
}

// exists tells whether an authority is wanted, given or in use.
func (w *wanting) exists(name string) bool {
	_, secret := w.secret(name)
	return secret || find(w.input.Issuers, name) != nil || find(w.input.Have, name) != nil ||
		slices.ContainsFunc(w.authorities, func(a *issuer) bool { return a.want.Name == name })
}

// take makes the user's material the authority.
func (a *issuer) take(m material, now time.Time) {
	if certs, err := parseCertificates(m.bundle.Cert); err == nil && len(m.bundle.CA) == 0 && selfSigned(certs[0]) {
		m.bundle.CA = m.bundle.Cert
	}
	a.bad = m.check(Need{CA: true, Cert: true, Chain: true, Authority: true}, now, "")
	if a.bad != nil {
		return
	}
	bundle := m.bundle.clean()
	a.known, _ = readAuthority(bundle)
	a.want.Given, a.want.From = &bundle, m.from
}

// use keeps the authority that is in use.
func (a *issuer) use(dir Given, now time.Time) {
	known, err := readAuthority(dir.Bundle)
	if dir.Bad != nil {
		a.bad = dir.Bad
		return
	}
	hint := "Bring it back from a backup or give a CA in input/issuers; if you remove the directory a new CA is made, and all links to this site must be made anew."
	switch {
	case err != nil:
		a.bad = &diag.Diagnostic{File: dir.Dir, Message: "is no longer a CA: " + err.Error(), Hint: hint}
	case !renewableCA(known, a.want.Subject) && checkValidity("", known.cert, now) != nil:
		a.bad = &diag.Diagnostic{File: dir.Dir, Message: "is the directory of a CA whose certificate " + checkValidity("", known.cert, now).Message, Hint: hint}
	default:
		a.known = known
	}
}

// signed tells whether the user's certificate comes from this authority and trusts it, so that both ends of a link can hold
// certificates of it.
func (a *issuer) signed(b Bundle, now time.Time) bool {
	if a.known == nil {
		return false
	}
	trust, _ := parseCertificates(a.known.trust)
	chain, err := parseCertificates(b.Cert)
	return err == nil && comesFrom(chain, trust, now) && bytes.Contains(b.CA, bytes.TrimSpace(a.known.trust))
}

// reportAuthorities says of the Site what is wrong with authorities that nobody could be told about.
func (w *wanting) reportAuthorities() {
	for _, a := range w.authorities {
		if a.bad != nil && !a.reported {
			d := *a.bad
			d.Severity = diag.Warning
			w.resources.Quarantine(w.owner, d)
		}
	}
}
