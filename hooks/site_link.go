package hooks

import (
	"fmt"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/links"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// GenerateLink returns a link to a namespace's site for a host, the first where none is given, and under another name if one is
// given. Where there is none for that host, hosts lists those that there are.
func (h Hooks) GenerateLink(namespace, host, name string) (text []byte, hosts []string, err error) {
	if name != "" && site.CheckName(name) != nil {
		return nil, nil, fmt.Errorf("%q is no name for a Link; write lower-case letters, digits and hyphens", name)
	}
	if err := checkNamespace(namespace); err != nil {
		return nil, nil, err
	}
	if err := h.haveNamespace(namespace); err != nil {
		return nil, nil, err
	}
	s, err := h.lookAtSite(namespace)
	if err != nil {
		return nil, nil, err
	}
	if s.impossible() {
		return nil, nil, fmt.Errorf("the site of namespace %s has an error; `sitelet check` says which", namespace)
	}
	files, err := staticLinks(s, filepath.Join(h.home(namespace), "runtime"))
	if err != nil {
		return nil, nil, err
	}
	if len(files) == 0 && len(s.Resources.RouterAccesses) > 0 {
		return nil, nil, fmt.Errorf("what takes links in namespace %s has not been deployed yet; run `sitelet reload %[1]s`", namespace)
	}
	for _, f := range files {
		switch {
		case host != "" && f.Host != host:
			hosts = append(hosts, f.Host)
		case name == "":
			return f.Data, nil, nil
		default:
			return renamed(f, name), nil, nil
		}
	}
	return nil, hosts, nil
}

// renamed returns a link and its Secret under another name.
func renamed(f links.File, name string) []byte {
	r := site.Parse("", []source.File{{Path: f.Name, Data: f.Data}}, site.Env{})
	var text []byte
	for _, s := range r.Secrets {
		text = append(text, links.Secret(name, s.Data)...)
	}
	for _, l := range r.Links {
		l.TLSCredentials = name
		text = append(text, links.Link(name, l)...)
	}
	return text
}
