package site

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
)

// Last is a resource as it was when it was good all the way the last time: read, with its ports and its certificates.
type Last struct {
	Kind, Name string
	File       string // that it was read from
	Document   []byte // as that Resource had it
}

// goesOn is what the hint of an error ends with when the resource itself is not left out.
const goesOn = "What ran before goes on."

// keepLast has the last good version of a resource stand in where the resource is left out, or is missing while its file has an
// error that may be it. Nothing stands in for a Site: with its mistake the whole site is left as it is.
func (rs *Resources) keepLast(last []Last) {
	var missing []*Last
	for i := range last {
		switch r := rs.successor(&last[i]); {
		case r == nil:
			missing = append(missing, &last[i])
		default:
			r.last = &last[i]
			if r.Quarantined() {
				rs.fallBack(r)
			}
		}
	}
	for _, l := range missing {
		if d := rs.mayBeIn(l); d != nil && l.Kind != "Site" {
			rs.bringBack(l, *d)
		}
	}
}

// successor returns the resource that a last version is of: of several, which are all left out, the one in the same file.
func (rs *Resources) successor(l *Last) (found *Resource) {
	at, _ := slices.BinarySearchFunc(rs.All, l, func(r *Resource, l *Last) int {
		return cmp.Or(cmp.Compare(r.Kind, l.Kind), cmp.Compare(r.Name, l.Name))
	})
	for _, r := range rs.All[at:] {
		if r.Kind != l.Kind || r.Name != l.Name {
			break
		}
		if found == nil || r.File == l.File && found.File != l.File {
			found = r
		}
	}
	return found
}

// mayBeIn returns the error that keeps a resource from being found in its file: what could not be read there, or a document that
// would be it but for a slip in its kind or name.
func (rs *Resources) mayBeIn(l *Last) *diag.Diagnostic {
	for i, d := range rs.Problems {
		if d.Severity == diag.Error && (d.File == l.File || strings.HasPrefix(l.File, d.File+"/")) {
			return &rs.Problems[i]
		}
	}
	for _, r := range rs.All {
		if r.File == l.File && r.last == nil && (r.Kind == l.Kind || r.Name == l.Name) {
			if i := slices.IndexFunc(r.Problems, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }); i >= 0 {
				return &r.Problems[i]
			}
		}
	}
	return nil
}

// bringBack adds a resource that is missing for an error in its file.
func (rs *Resources) bringBack(l *Last, why diag.Diagnostic) {
	r := &Resource{Kind: l.Kind, Name: l.Name, File: l.File, Line: why.Line, Column: why.Column, Document: l.Document, last: l}
	why.File, why.Field = l.File, ""
	why.Message = fmt.Sprintf("the %s %s cannot be found for an error in this file", r.Kind, quote(r.Name))
	why.Hint = "Correct it."
	r.Problems = diag.List{why}
	if rs.fallBack(r); r.kept {
		at, _ := slices.BinarySearchFunc(rs.All, r, compareResources)
		rs.All = slices.Insert(rs.All, at, r)
	}
}

// fallBack puts the last version of a resource, if there is one that can be used, where the resource is left out.
func (rs *Resources) fallBack(r *Resource) {
	if r.last == nil || r.kept || r.Kind == "Site" {
		return
	}
	was := r.last.read(rs.Namespace)
	if was == nil {
		r.last = nil
		return
	}
	rs.Listeners = standIn(rs.Listeners, was.Listeners, r, func(l *Listener) **Resource { return &l.Resource })
	rs.Connectors = standIn(rs.Connectors, was.Connectors, r, func(c *Connector) **Resource { return &c.Resource })
	rs.MultiKeyListeners = standIn(rs.MultiKeyListeners, was.MultiKeyListeners, r, func(m *MultiKeyListener) **Resource { return &m.Resource })
	rs.Links = standIn(rs.Links, was.Links, r, func(l *Link) **Resource { return &l.Resource })
	rs.RouterAccesses = standIn(rs.RouterAccesses, was.RouterAccesses, r, func(a *RouterAccess) **Resource { return &a.Resource })
	rs.AccessTokens = standIn(rs.AccessTokens, was.AccessTokens, r, func(t *AccessToken) **Resource { return &t.Resource })
	rs.Certificates = standIn(rs.Certificates, was.Certificates, r, func(c *Certificate) **Resource { return &c.Resource })
	rs.Secrets = standIn(rs.Secrets, was.Secrets, r, func(s *Secret) **Resource { return &s.Resource })
	rs.fallbacks++
	r.keep()
}

// standIn adds what there was of a resource to what can be used, in its place by name.
func standIn[T any](all, was []T, r *Resource, owner func(*T) **Resource) []T {
	for i := range was {
		*owner(&was[i]) = r
		at, _ := slices.BinarySearchFunc(all, r.Name, func(v T, name string) int { return cmp.Compare((*owner(&v)).Name, name) })
		all = slices.Insert(all, at, was[i])
	}
	return all
}

// read returns a set with nothing but the resource in it, nil if it is not good any more, as by the rules of a newer version.
func (l *Last) read(namespace string) *Resources {
	all := chunk{file: l.File, data: l.Document, high: len(l.Document)}.read(namespace)
	if len(all) != 1 || all[0].Kind != l.Kind || all[0].Name != l.Name {
		return nil
	}
	rule := findKind(l.Kind)
	if rule == nil || rule.add == nil {
		return nil
	}
	rs := &Resources{Namespace: namespace}
	if rule.add(rs, all[0]); all[0].Quarantined() {
		return nil
	}
	return rs
}

// keep has a resource go on in spite of its errors.
func (r *Resource) keep() {
	r.kept = true
	for i := range r.Problems {
		d := &r.Problems[i]
		if d.Severity == diag.Error && !strings.HasSuffix(d.Hint, goesOn) {
			d.Hint = strings.TrimSpace(d.Hint + " " + goesOn)
		}
	}
}

// drop is the end of a resource that was kept.
func (r *Resource) drop() {
	r.kept, r.last = false, nil
	problems := r.Problems
	r.Problems = nil
	for _, d := range problems {
		d.Hint = strings.TrimSpace(strings.TrimSuffix(d.Hint, goesOn))
		r.Report(d)
	}
}

// Hold adds an error to a resource that goes on nevertheless, with what it has had before.
func (rs *Resources) Hold(r *Resource, d diag.Diagnostic) {
	d.Hint = strings.TrimSpace(d.Hint + " " + goesOn)
	r.Report(d)
	r.keep()
}

// Proven tells whether a resource is used in the version that was good all the way the last time.
func (rs *Resources) Proven(r *Resource) bool {
	return r.kept || r.last != nil && !r.Problems.HasErrors() && bytes.Equal(r.Document, r.last.Document)
}

// Fallbacks counts the resources that a last good version has come to stand in for: when they become more, checks that were made
// are to be made again.
func (rs *Resources) Fallbacks() int { return rs.fallbacks }

// Report adds a finding to a resource, once, and does nothing else about it.
func (r *Resource) Report(d diag.Diagnostic) {
	if !slices.Contains(r.Problems, d) {
		r.Problems = append(r.Problems, d)
	}
}
