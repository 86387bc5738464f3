package pki

import (
	"fmt"
	"slices"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/site"
)

// identity turns the requests of one name into one Want, and rejects those that cannot be met. Where a resource goes on with the
// certificate that it has had, so does everyone who shares it.
func (w *wanting) identity(group []request) {
	w.goesOn = nil
	live := w.keep(group, w.admit(group[0]))
	want, live := w.fromUser(live)
	if want == nil {
		want = w.fromIssuer(live)
	}
	if want == nil || w.goesOn != nil {
		want = &Want{Name: group[0].name, Hold: true, Given: w.goesOn}
	}
	w.identities = append(w.identities, *want)
}

// keep rejects the requests that a finding is returned for, and drops those of resources that are out already and of those that
// can go on with what they have.
func (w *wanting) keep(requests []request, check func(request) *diag.Diagnostic) []request {
	var kept []request
	for _, q := range requests {
		if w.asker(q).Quarantined() {
			continue
		}
		if d := check(q); d != nil {
			if !w.hold(q, *d) {
				w.reject(q, *d)
			}
			continue
		}
		kept = append(kept, q)
	}
	return kept
}

// hold has a resource go on with the certificate in use, if that is what it had when it was last good, and tells whether it can.
func (w *wanting) hold(q request, d diag.Diagnostic) bool {
	used := find(w.input.InUse, q.name)
	need := q.need
	need.CA = need.CA || q.trust
	if q.optional || !w.resources.Proven(w.asker(q)) || used == nil || used.Bundle.Check(need, w.now) != nil {
		return false
	}
	w.resources.Hold(w.asker(q), d)
	w.goesOn = &used.Bundle
	return true
}

// admit checks that a request goes together with the first of its name.
func (w *wanting) admit(first request) func(request) *diag.Diagnostic {
	return func(q request) *diag.Diagnostic {
		if q.source == first.source && (q.by == nil || first.by != nil) {
			return nil
		}
		return at(q.by, "spec.tlsCredentials", fmt.Sprintf("the certificate %q is that of %s, which needs another one under this name", q.name, first.who()), "Choose another name for one of them.")
	}
}

// fromUser returns the Want for a certificate of the user's, nil if there is none or nobody can use it, and the requests that
// are left.
func (w *wanting) fromUser(requests []request) (*Want, []request) {
	if len(requests) == 0 {
		return nil, nil
	}
	given, ok := w.given(w.input.Certs, requests[0].source)
	if !ok {
		return nil, w.keep(requests, func(q request) *diag.Diagnostic {
			if !q.given {
				return nil
			}
			return at(q.by, "spec.tlsCredentials", fmt.Sprintf("the certificate %q is not there, and none is made for it", q.source),
				fmt.Sprintf("Put ca.crt, tls.crt and tls.key into input/certs/%s, or add a Secret of that name.", q.source))
		})
	}
	requests = w.keep(requests, func(q request) *diag.Diagnostic {
		return given.check(q.need, w.now, q.who())
	})
	if len(requests) == 0 {
		return nil, nil
	}
	w.doubt(given, requests)
	bundle := given.bundle.clean()
	want := &Want{Name: requests[0].name, Given: &bundle, From: given.from, Connect: w.connect(requests)}
	if allTrust(requests) {
		want.Kind, bundle = Trust, Bundle{CA: bundle.CA}
	}
	return want, nil
}

// doubt says that a certificate and the CA beside it do not belong together. Both ends of a link may still trust each other, where each
// has a CA of its own.
func (w *wanting) doubt(given material, requests []request) {
	i := slices.IndexFunc(requests, func(q request) bool { return q.chain })
	if i < 0 {
		return
	}
	if d := given.check(Need{Chain: true}, w.now, ""); d != nil {
		d.Severity = diag.Warning
		d.Message += ", as it would where one CA is for both ends of a link"
		d.Hint = "Where one is, put its certificate into ca.crt."
		w.resources.Quarantine(w.asker(requests[i]), *d)
	}
}

// fromIssuer returns the Want for a certificate that is made, nil if nobody can use it.
func (w *wanting) fromIssuer(requests []request) *Want {
	if len(requests) == 0 {
		return nil
	}
	if allTrust(requests) {
		made := w.made(requests[0].source)
		if made.Hold {
			return w.trustInUse(requests)
		}
		return &Want{Kind: Trust, Name: requests[0].name, Issuer: made.Issuer}
	}
	name := w.issuerOf(requests)
	requests = w.keep(requests, func(q request) *diag.Diagnostic { return w.checkIssuer(q, name) })
	if len(requests) == 0 {
		return nil
	}
	want := &Want{Name: requests[0].name, Subject: requests[0].subject, Issuer: name, Connect: w.connect(requests)}
	for _, q := range requests {
		want.Hosts = union(want.Hosts, q.hosts)
	}
	return want
}

// trustInUse has those who trust the CA of a certificate that is held go on with what they have.
func (w *wanting) trustInUse(requests []request) *Want {
	used := find(w.input.InUse, requests[0].name)
	if used == nil {
		w.keep(requests, func(q request) *diag.Diagnostic {
			return at(q.by, "spec.tlsCredentials", fmt.Sprintf("the CA of the certificate %q is not known, as that cannot be used", q.source), "Correct the certificate.")
		})
		return nil
	}
	return &Want{Kind: Trust, Name: used.Name, Hold: true, Given: &used.Bundle}
}

// issuerOf chooses the authority: that of the server certificate for the client's that goes with it, else the first that a
// document names, else that of the first request.
func (w *wanting) issuerOf(requests []request) string {
	if server := w.made(requests[0].server); server != nil && server.Issuer != "" {
		return server.Issuer
	}
	if i := slices.IndexFunc(requests, func(q request) bool { return q.stated }); i >= 0 {
		return requests[i].issuer
	}
	return requests[0].issuer
}

func (w *wanting) checkIssuer(q request, name string) *diag.Diagnostic {
	if q.stated && q.server == "" && q.issuer != name {
		return at(q.by, "spec.tlsCredentials", fmt.Sprintf("the certificate %q comes from the CA %q for another resource, and from %q for this one", q.name, name, q.issuer), "Choose another name for one of them.")
	}
	if q.by != nil && q.by.Kind == "Certificate" && !w.exists(name) {
		return at(q.by, "spec.ca", fmt.Sprintf("there is no CA %q", name),
			fmt.Sprintf("Add a Certificate of that name with signing: true, or put the CA into input/issuers/%s.", name))
	}
	ca := w.authority(name)
	if ca.bad != nil {
		ca.reported = true
		d := *ca.bad
		d.Message += "; " + q.who() + " needs it"
		return &d
	}
	if server := w.made(q.server); server != nil && server.Given != nil && !ca.signed(*server.Given, w.now) {
		return at(q.by, "spec.tlsCredentials", fmt.Sprintf("there are no static links, as the user's certificate %q has another CA than the %q that would sign a client's", q.server, name),
			fmt.Sprintf("Put a client's certificate into input/certs/%s.", q.name))
	}
	return nil
}

// reject leaves out what made the request, or only says so if it can do without.
func (w *wanting) reject(q request, d diag.Diagnostic) {
	if q.optional {
		d.Severity = diag.Warning
	}
	w.resources.Quarantine(w.asker(q), d)
}

func (w *wanting) asker(q request) *site.Resource {
	if q.by == nil {
		return w.owner
	}
	return q.by
}

func allTrust(requests []request) bool {
	return !slices.ContainsFunc(requests, func(q request) bool { return !q.trust })
}

// at makes a finding about a field of a resource.
func at(by *site.Resource, field, message, hint string) *diag.Diagnostic {
	d := by.At(field)
	d.Message, d.Hint = message, hint
	return &d
}

// connect is the connect.json of a client's certificate, for programs that talk to the router: upstream's text.
func (w *wanting) connect(requests []request) []byte {
	if w.input.LocalPort == 0 || !slices.ContainsFunc(requests, func(q request) bool { return q.client }) {
		return nil
	}
	return fmt.Appendf(nil, `
{
    "scheme": "amqps",
    "host": "127.0.0.1",
    "port": "%d",
    "tls": {
        "ca": "/etc/messaging/ca.crt",
        "cert": "/etc/messaging/tls.crt",
        "key": "/etc/messaging/tls.key",
        "verify": true
    }
}
`, w.input.LocalPort)
}
