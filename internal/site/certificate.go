package site

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

func addCertificate(rs *Resources, r *Resource) {
	spec := r.spec("Write ca, subject and what the certificate is for below spec.")
	c := Certificate{
		Resource: r,
		Subject:  spec.require("subject", "Write the common name.").str(),
		Hosts:    spec.get("hosts").sans(),
		Client:   spec.get("client").flag(),
		Server:   spec.get("server").flag(),
		Signing:  spec.get("signing").flag(),
	}
	// A CA signs itself.
	if ca := spec.get("ca"); ca.str() != "" || !c.Signing {
		c.CA = spec.require("ca", "Write the name of the CA that signs it, such as skupper-site-ca.").check(fileProblem)
	}
	if !c.Client && !c.Server && !c.Signing {
		spec.warn("asks for a certificate that is for nothing, so none is made", "Write client, server or signing: true.")
	}
	if !r.Quarantined() {
		rs.Certificates = append(rs.Certificates, c)
	}
}

func addSecret(rs *Resources, r *Resource) {
	s := Secret{Resource: r, Type: r.root.get("type").str()}
	for item := range r.root.get("data").items() {
		value, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(item.str()), ""))
		if err != nil {
			item.fail("is not base64", "Write the text itself below stringData instead.")
		}
		s.put(item, value)
	}
	for item := range r.root.get("stringData").items() {
		s.put(item, []byte(item.str()))
	}
	slices.SortFunc(s.Data, func(a, b Item) int { return cmp.Compare(a.Key, b.Key) })
	if !r.Quarantined() {
		rs.Secrets = append(rs.Secrets, s)
	}
}

// dataKeyBytes are what Kubernetes allows in the keys of a Secret.
const dataKeyBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

// put takes an entry, the last one of a name, as stringData wins over data. The name becomes that of a file.
func (s *Secret) put(item *node, value []byte) {
	if item.key == "." || item.key == ".." || item.key == "" || len(item.key) > maxKey || strings.Trim(item.key, dataKeyBytes) != "" {
		item.failKey("cannot be the name of a file", "Write letters, digits, -, . and _.")
		return
	}
	for i := range s.Data {
		if s.Data[i].Key == item.key {
			s.Data[i].Value = value
			return
		}
	}
	s.Data = append(s.Data, Item{item.key, value})
}
