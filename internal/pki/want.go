package pki

import (
	"strings"
	"time"

	"github.com/sitelet/sitelet/internal/site"
)

// Kind is what a Want comes to.
type Kind int

const (
	Identity  Kind = iota // runtime/certs/NAME: tls.crt and tls.key for servers and clients, with the ca.crt of their issuer
	Trust                 // runtime/certs/NAME: only a ca.crt
	Authority             // runtime/issuers/NAME: a CA
	Password              // runtime/certs/NAME: only a password.txt
)

// Want is a directory of runtime/certs or runtime/issuers as it ought to be.
type Want struct {
	Kind    Kind
	Name    string
	Subject string
	Hosts   []string // names and addresses of an Identity
	Issuer  string   // the Authority that signs an Identity or that a Trust trusts; empty where Given says it
	Given   *Bundle  // the user's, checked; nil: to be made, and for an Authority to be kept if there is one; with Hold what is used on
	From    string   // where Given comes from, as a user would name it
	Connect []byte   // the content of connect.json; nil: none
	Hold    bool     // what it needs is bad: whatever is there stays as it is

	Password []byte // the content of password.txt, where the router reads that of a proxy; nil: none
}

// WithPassword adds the password of a proxy to what is wanted, in the directory of the certificate of that name if there is one.
func WithPassword(wants []Want, name string, password []byte) []Want {
	for i := range wants {
		if wants[i].Name == name && wants[i].Kind != Authority {
			wants[i].Password = password
			return wants
		}
	}
	return append(wants, Want{Kind: Password, Name: name, Password: password})
}

// The authorities that each site has, and the certificates of its own endpoint (CreateRouterAccess and its like in
// pkg/nonkube/api/site_state.go of skupperproject/skupper).
const (
	LocalCA     = "skupper-local-ca"
	LocalServer = "skupper-local-server"
	LocalClient = "skupper-local-client"
	SiteCA      = "skupper-site-ca"
	ServiceCA   = "skupper-service-ca"
)

// ClientOf returns the name of the client certificate that goes with the server certificate of a RouterAccess.
func ClientOf(server string) string { return "client-" + server }

// profileOf returns the name of the certificate that a router uses towards what Link or Connector credentials name.
func profileOf(credentials string) string { return credentials + "-profile" }

// Wanted lists what runtime/issuers and runtime/certs must hold for the resources of a site, authorities first. A resource
// whose certificate cannot be had is quarantined; what is wrong with the authorities of the site itself is said of the Site.
func Wanted(r *site.Resources, in Input, now time.Time) []Want {
	if r.Site == nil {
		return nil
	}
	w := &wanting{resources: r, input: in, now: now, owner: r.Site.Resource}
	for _, name := range []string{LocalCA, SiteCA, ServiceCA} {
		w.authority(name)
	}
	w.signing()
	for _, group := range groups(w.requests()) {
		w.identity(group)
	}
	w.reportAuthorities()
	wants := make([]Want, 0, len(w.authorities)+len(w.identities))
	for _, a := range w.authorities {
		wants = append(wants, a.want)
	}
	return append(wants, w.identities...)
}

// wanting is the state of one Wanted.
type wanting struct {
	resources   *site.Resources
	input       Input
	now         time.Time
	owner       *site.Resource // of what no resource asks for
	authorities []*issuer
	identities  []Want
	goesOn      *Bundle // of the name that is looked at, what is in use and to be used on; nil: none
}

// signing adds the authorities that Certificates ask for.
func (w *wanting) signing() {
	for _, c := range w.resources.Certificates {
		if c.Signing {
			w.authority(c.Name)
		}
	}
}

func (w *wanting) made(name string) *Want {
	for i := range w.identities {
		if w.identities[i].Name == name {
			return &w.identities[i]
		}
	}
	return nil
}

// safeName tells whether a name stays a single, visible file name with everything that is put around it.
func safeName(name string) bool {
	return name != "" && len(name) <= 240 && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_')
	})
}
