package claim

import (
	"fmt"
	"slices"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/links"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// Redeemed is what a token was good for, as YAML documents that belong to no namespace.
type Redeemed struct {
	Secret Document
	Links  []Document // one for each address of the other site that is on its own
}

// Document is a resource.
type Document struct {
	Name string
	Data []byte
}

// read takes an answer apart: a Secret and the Links that use it, and nothing else. What it returns is written anew, so that
// nothing comes along that was not understood, and under the names that upstream's grants give: another site must not choose a
// name that one of this site's own certificates has.
func read(answer []byte, token site.AccessToken) (Redeemed, error) {
	const hint = "Have a new token issued; if that does not help, the other site is not one that this can link to."
	wrong := func(format string, args ...any) (Redeemed, error) {
		return Redeemed{}, &Error{"was answered with " + fmt.Sprintf(format, args...), hint}
	}
	r := site.Parse("", []source.File{{Path: "answer", Data: answer}}, site.Env{})
	for _, d := range r.Findings() {
		if d.Severity == diag.Error {
			return wrong("something that is no link (%s)", line([]byte(d.String())))
		}
	}
	if len(r.Secrets) != 1 || len(r.Links) == 0 || len(r.All) != 1+len(r.Links) {
		return wrong("%d Secrets and %d Links among %d resources, where one Secret and its Links belong", len(r.Secrets), len(r.Links), len(r.All))
	}
	secret := r.Secrets[0]
	redeemed := Redeemed{Secret: Document{token.Name, links.Secret(token.Name, slices.DeleteFunc(slices.Clone(secret.Data), func(i site.Item) bool {
		return !slices.Contains([]string{"ca.crt", "tls.crt", "tls.key", "connect.json"}, i.Key)
	}))}}
	for i, link := range r.Links {
		if link.TLSCredentials != secret.Name {
			return wrong("a Link %q without its Secret", link.Name)
		}
		link.TLSCredentials = token.Name
		name := token.Name
		if len(r.Links) > 1 {
			name = fmt.Sprintf("%s-%d", token.Name, i+1)
		}
		redeemed.Links = append(redeemed.Links, Document{name, links.Link(name, link)})
	}
	return redeemed, nil
}

// WithCost returns documents that a token was redeemed for with a cost for its Links; 0 leaves them as they are. A token's cost may
// change long after it was redeemed.
func WithCost(documents []byte, cost int) []byte {
	if cost == 0 {
		return documents
	}
	r := site.Parse("", []source.File{{Path: "documents", Data: documents}}, site.Env{})
	var text []byte
	for _, secret := range r.Secrets {
		text = append(text, links.Secret(secret.Name, secret.Data)...)
	}
	for _, link := range r.Links {
		link.Cost = cost
		text = append(text, links.Link(link.Name, link)...)
	}
	return text
}
