// Package links makes the static links of a site: what another site needs to link to it, ready to be put among that one's
// resources (CreateTokens in pkg/nonkube/api/token.go of skupperproject/skupper).
package links

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/site"
)

// File is a static link: a Secret and a Link as YAML. It holds a private key.
type File struct {
	Name string // link-ACCESS-HOST.yaml
	Host string // where the link goes
	Data []byte
}

// Loader returns what there is of a certificate and its connect.json.
type Loader func(name string) (pki.Bundle, []byte, error)

// Static makes a link for each RouterAccess and each host by which its certificate can be had: the bind host or, where that is
// all addresses, the loopback address; then the addresses and then the names of the certificate. Ports must be allocated by then.
// A RouterAccess without a server's or a client's certificate has no links. Files are sorted by RouterAccess.
func Static(r *site.Resources, load Loader) ([]File, error) {
	var files []File
	for _, access := range r.RouterAccesses {
		server, _, err := load(access.TLSCredentials)
		if err != nil {
			return nil, err
		}
		client, connect, err := load(pki.ClientOf(access.TLSCredentials))
		if err != nil {
			return nil, err
		}
		if len(server.Cert) == 0 || len(client.Cert) == 0 {
			continue
		}
		name := "link-" + access.Name
		items := []site.Item{{Key: "ca.crt", Value: client.CA}, {Key: "connect.json", Value: connect}, {Key: "tls.crt", Value: client.Cert}, {Key: "tls.key", Value: client.Key}}
		secret := Secret(name, items)
		for _, host := range hosts(access, server.Cert) {
			if to := endpoints(access, host); len(to) > 0 {
				link := Link(name, site.Link{Endpoints: to, TLSCredentials: name, Cost: 1})
				files = append(files, File{fileName(access.Name, host), host, slices.Concat(secret, link)})
			}
		}
	}
	return files, nil
}

// endpoints lists the ports of a RouterAccess at a host, inter-router before edge.
func endpoints(access site.RouterAccess, host string) []site.Endpoint {
	var all []site.Endpoint
	for _, name := range []string{"inter-router", "edge"} {
		for _, role := range access.Roles {
			if role.Name == name && role.Port != 0 {
				all = append(all, site.Endpoint{Name: name, Host: host, Port: strconv.Itoa(int(role.Port))})
			}
		}
	}
	return all
}

// hosts lists where a RouterAccess can be had. A certificate that names hosts is good for those alone; one that names none leaves
// it to the resource.
func hosts(access site.RouterAccess, cert []byte) []string {
	bind := access.BindHost
	if pki.Wildcard(bind) {
		bind = "127.0.0.1"
	}
	named := names(cert)
	if len(named) == 0 {
		return distinct(append([]string{bind}, access.Names...))
	}
	if slices.ContainsFunc(named, func(host string) bool { return sameHost(host, bind) }) {
		named = append([]string{bind}, named...)
	}
	return distinct(named)
}

// names lists the addresses and then the names that the first certificate of a PEM text is for.
func names(data []byte) []string {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	var all []string
	for _, ip := range cert.IPAddresses {
		all = append(all, ip.String())
	}
	return append(all, cert.DNSNames...)
}

// distinct leaves out what stands for several hosts or for none, and what comes twice.
func distinct(hosts []string) []string {
	var all []string
	for _, host := range hosts {
		if usable(host) && !slices.ContainsFunc(all, func(other string) bool { return sameHost(host, other) }) {
			all = append(all, host)
		}
	}
	return all
}

// usable tells whether a host is one that can be connected to, and that can be part of a file name.
func usable(host string) bool {
	if pki.Wildcard(host) || len(host) > 253 {
		return false
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return !strings.Contains(host, "%")
	}
	return !strings.HasPrefix(host, ".") && !strings.ContainsFunc(host, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.')
	})
}

func sameHost(a, b string) bool {
	x, xErr := netip.ParseAddr(a)
	y, yErr := netip.ParseAddr(b)
	if xErr == nil && yErr == nil {
		return x.Unmap() == y.Unmap()
	}
	return strings.EqualFold(a, b)
}

// fileName is upstream's, where a file's name can be that long.
func fileName(access, host string) string {
	const most = 255
	name := "link-" + access + "-" + host
	if len(name)+len(".yaml") > most {
		sum := sha256.Sum256([]byte(name))
		name = name[:most-len(".yaml")-13] + "-" + hex.EncodeToString(sum[:6])
	}
	return name + ".yaml"
}
