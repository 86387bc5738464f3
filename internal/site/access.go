package site

import (
	"cmp"
	"encoding/pem"
	"net/url"
	"slices"
)

// localAccess is the name of the RouterAccess that every site has for its own tools.
const localAccess = "skupper-local"

func addRouterAccess(rs *Resources, r *Resource) {
	spec := r.spec("Write roles below spec.")
	a := RouterAccess{
		Resource:       r,
		Roles:          spec.roles(),
		BindHost:       spec.optional("bindHost").check(hostProblem),
		Names:          spec.get("subjectAlternativeNames").sans(),
		TLSCredentials: cmp.Or(spec.optional("tlsCredentials").check(labelProblem), r.Name),
		Issuer:         spec.optional("issuer").check(fileProblem),
	}
	if given := spec.get("generateTlsCredentials"); given != nil {
		a.Given = !given.flag()
	}
	if r.Name == localAccess {
		r.root.get("metadata").get("name").fail("is the name of the access that every site has for its own tools", "Give it another name.")
	}
	if !r.Quarantined() {
		rs.RouterAccesses = append(rs.RouterAccesses, a)
	}
}

func (n *node) roles() (roles []Role) {
	const hint = "Write name: inter-router or name: edge."
	for item := range n.require("roles", "Write a list of roles, such as - name: inter-router.").items() {
		name := item.require("name", hint)
		switch {
		case name == nil:
			continue
		case !slices.Contains(linkRoles, name.str()):
			name.fail(quote(name.str())+" is not a role", nearestHint(name.str(), linkRoles))
		case slices.ContainsFunc(roles, func(r Role) bool { return r.Name == name.str() }):
			name.fail("the role "+name.str()+" is given twice", "Remove one of them.")
		}
		port, _ := item.get("port").integer(0, 65535)
		if port > 0 && slices.ContainsFunc(roles, func(r Role) bool { return r.Port == uint16(port) }) {
			item.get("port").fail("is the port of another role", "Write another port.")
		}
		roles = append(roles, Role{name.str(), uint16(port)})
	}
	return roles
}

// sans reads the names that a certificate is for.
func (n *node) sans() (names []string) {
	for item := range n.items() {
		if name := item.check(sanProblem); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func addAccessToken(rs *Resources, r *Resource) {
	spec := r.spec("Write url, code and ca below spec.")
	address := spec.require("url", "Write the URL of the grant.")
	ca := spec.require("ca", "Write the certificate of the grant's CA.")
	t := AccessToken{
		Resource: r,
		URL:      address.str(),
		Code:     spec.require("code", "Write the code of the grant.").str(),
		CA:       ca.str(),
	}
	cost, _ := spec.get("linkCost").integer(0, maxCost)
	t.Cost = int(cost)
	if address != nil {
		if u, err := url.Parse(t.URL); err != nil || u.Scheme != "https" || u.Hostname() == "" {
			address.fail("is not an https URL", "Write the URL of the grant, which begins with https://.")
		}
	}
	if block, _ := pem.Decode([]byte(t.CA)); ca != nil && (block == nil || block.Type != "CERTIFICATE") {
		ca.fail("is not a certificate in PEM form", "Write the grant's status.ca, from its BEGIN to its END line.")
	}
	if !r.Quarantined() {
		rs.AccessTokens = append(rs.AccessTokens, t)
	}
}
