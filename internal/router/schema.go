package router

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// prefix is that of the types in the management protocol.
const prefix = "io.skupper.router."

// ManagementType is the name that the management protocol has for the type of an Entity.
func ManagementType(t string) string {
	if t == "address" {
		return prefix + "router.config.address"
	}
	return prefix + t
}

// Types returns the types of all that Config makes: what to ask a router for before Diff and NeedsRestart.
func Types() []string { return slices.Clone(types) }

// fileType is the reverse of ManagementType, and takes a file's type as it is.
func fileType(t string) string {
	t = strings.TrimPrefix(t, prefix)
	if t == "router.config.address" {
		return "address"
	}
	return t
}

// defaults are the attributes that we have ever set, each with what the router (skupper-router, skrouter.json) takes where it is
// missing. In these, what a router reports is compared even where we do not set them; in others only if we do, since it reports
// much that is nobody's wish, such as siteId.
var defaults = map[string][]Attribute{
	"router":          {{"id", ""}, {"mode", "standalone"}, {"helloMaxAgeSeconds", 3}, {"metadata", ""}},
	"sslProfile":      {{"certFile", ""}, {"privateKeyFile", ""}, {"caCertFile", ""}},
	"proxyProfile":    {{"host", ""}, {"port", ""}, {"username", ""}, {"password", ""}},
	"connector":       {{"role", "normal"}, {"host", "127.0.0.1"}, {"port", "amqp"}, {"cost", 1}, {"verifyHostname", true}, {"sslProfile", ""}, {"proxyProfile", ""}},
	"listener":        {{"role", "normal"}, {"host", ""}, {"port", "amqp"}, {"cost", 1}, {"sslProfile", ""}, {"saslMechanisms", ""}, {"authenticatePeer", false}},
	"address":         {{"prefix", ""}, {"distribution", "balanced"}},
	"tcpConnector":    {{"host", "127.0.0.1"}, {"port", ""}, {"address", ""}, {"sslProfile", ""}, {"verifyHostname", true}},
	"tcpListener":     {{"host", ""}, {"port", ""}, {"address", ""}, {"sslProfile", ""}, {"observer", "auto"}, {"multiAddressStrategy", "none"}, {"authenticatePeer", false}},
	"listenerAddress": {{"address", ""}, {"value", 0}, {"listener", ""}},
	"log":             {{"module", ""}, {"enable", "default"}},
	"site":            {{"platform", ""}, {"namespace", ""}, {"version", ""}},
}

// differing returns the attributes in which want is not what have is, each with the value it should have: that of want, else the
// router's default, and nil where the router has none.
func differing(want, have Entity) []Attribute {
	var found []Attribute
	compare := func(name string, missing any) {
		wanted, had := orDefault(want.Get(name), missing), orDefault(have.Get(name), missing)
		if same(want.Type, name, wanted, had) {
			return
		}
		if wanted == "" {
			wanted = nil
		}
		found = append(found, Attribute{name, wanted})
	}
	known := defaults[want.Type]
	for _, d := range known {
		compare(d.Name, d.Value)
	}
	for _, a := range want.Attributes {
		if !slices.ContainsFunc(known, func(d Attribute) bool { return d.Name == a.Name }) {
			compare(a.Name, "")
		}
	}
	return found
}

// orDefault takes an empty string for a missing value, as Skupper's own resources do.
func orDefault(value, missing any) any {
	if value == nil || value == "" {
		return missing
	}
	return value
}

// same compares values as text, since a router reports a port as a string and a file may have a number, and the other way round.
func same(t, name string, a, b any) bool {
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	if name == "host" && (t == "listener" || t == "tcpListener") {
		return x == y || x == "" && isAny(y) || y == "" && isAny(x)
	}
	return x == y
}

// isAny tells whether a host to listen on stands for all addresses, as no host does.
func isAny(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsUnspecified()
}
