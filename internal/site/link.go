package site

import (
	"slices"

	"github.com/sitelet/sitelet/internal/spelling"
)

// linkRoles are the ways in which routers link, by the names of endpoints and roles.
var linkRoles = []string{"inter-router", "edge"}

const maxCost = 1<<31 - 1

func addLink(rs *Resources, r *Resource) {
	spec := r.spec("Write endpoints and tlsCredentials below spec.")
	const hint = "Write the name of a Secret, or of a directory below input/certs, with ca.crt, tls.crt and tls.key."
	l := Link{
		Resource:       r,
		Endpoints:      spec.endpoints(),
		TLSCredentials: spec.require("tlsCredentials", hint).check(fileProblem),
		Cost:           1,
	}
	if cost, ok := spec.get("cost").integer(0, maxCost); ok && cost > 0 {
		l.Cost = int(cost)
	}
	l.Proxy = spec.get("settings").optional("proxy-configuration").check(fileProblem)
	for setting := range spec.get("settings").items() {
		if setting.key != "proxy-configuration" {
			setting.idle("proxy-configuration")
		}
	}
	if len(r.Name) >= 9 && r.Name[:9] == "auto-mesh" {
		r.root.get("metadata").get("name").fail("begins with auto-mesh, as the names that routers give", "Give the Link another name.")
	}
	if !r.Quarantined() {
		rs.Links = append(rs.Links, l)
	}
}

// endpoints reads those that a router can link to.
func (n *node) endpoints() (endpoints []Endpoint) {
	for item := range n.require("endpoints", "Write a list of name, host and port.").items() {
		name := item.require("name", "Write inter-router or edge.")
		port := item.require("port", `Write a port as a string, such as "55671".`)
		e := Endpoint{
			Name:  name.str(),
			Host:  item.require("host", "Write the host of the other site.").check(hostProblem),
			Port:  port.str(),
			Group: item.get("group").str(),
		}
		if port != nil && !portText(e.Port) {
			port.fail(quote(e.Port)+" is not a port", "Write a number from 1 to 65535, in quotes.")
		}
		switch {
		case name == nil:
		case slices.Contains(linkRoles, e.Name):
			endpoints = append(endpoints, e)
		default:
			hint := "The endpoints of routers are called inter-router and edge."
			if meant, ok := spelling.Nearest(e.Name, linkRoles); ok {
				hint = "Did you mean " + meant + "?"
			}
			name.warn("no router links to an endpoint "+quote(e.Name), hint)
		}
	}
	return endpoints
}

// portText tells whether s is a port in decimal digits, without leading zeros.
func portText(s string) bool {
	number := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' || i == 5 {
			return false
		}
		number = number*10 + int(s[i]-'0')
	}
	return number >= 1 && number <= 65535 && s[0] != '0'
}
