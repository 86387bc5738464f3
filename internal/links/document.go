package links

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/sitelet/sitelet/internal/site"
)

// Secret returns a Secret of type kubernetes.io/tls as a YAML document that belongs to no namespace. Items that are empty are
// left out.
func Secret(name string, items []site.Item) []byte {
	var b bytes.Buffer
	b.WriteString("---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: " + quote(name) + "\ntype: kubernetes.io/tls\ndata:\n")
	for _, item := range items {
		if len(item.Value) > 0 {
			b.WriteString("  " + item.Key + ": " + base64.StdEncoding.EncodeToString(item.Value) + "\n")
		}
	}
	return b.Bytes()
}

// Link returns a Link as a YAML document that belongs to no namespace.
func Link(name string, l site.Link) []byte {
	var b bytes.Buffer
	b.WriteString("---\napiVersion: skupper.io/v2alpha1\nkind: Link\nmetadata:\n  name: " + quote(name) + "\nspec:\n  cost: " + strconv.Itoa(l.Cost) + "\n  endpoints:\n")
	for _, e := range l.Endpoints {
		b.WriteString("  - host: " + quote(e.Host) + "\n    name: " + e.Name + "\n    port: " + quote(e.Port) + "\n")
		if e.Group != "" {
			b.WriteString("    group: " + quote(e.Group) + "\n")
		}
	}
	b.WriteString("  tlsCredentials: " + quote(l.TLSCredentials) + "\n")
	return b.Bytes()
}

// quote returns a string as a YAML scalar, which JSON's are too.
func quote(s string) string {
	text, _ := json.Marshal(s) // a string always can be
	return string(text)
}
