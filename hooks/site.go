package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/claim"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/ports"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/internal/state"
)

// Site is what the files of a namespace come to on this host.
type Site struct {
	Namespace string
	Resources *site.Resources
	Entities  []router.Entity // what the router is to have; none where no router is to run

	record  state.Site
	known   bool // the record's router is that of the state; else its id is only guessed
	given   pki.Input
	wants   []pki.Want
	offered []proxy // of input/proxies, good or bad
	proxies []proxy // that links go through
}

// impossible tells that nothing can be made of the site as a whole: what runs is to stay as it is.
func (s Site) impossible() bool { return s.Resources.SiteErr }

// siteName is what upstream takes for the name of a namespace (skupper, internal/nonkube/common/site_state_validator.go), in
// the length of a label, as it becomes part of other names.
var siteName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func checkNamespace(name string) error {
	if !siteName.MatchString(name) {
		return fmt.Errorf("%q is no name for a namespace; `sitelet status` lists those that there are", name)
	}
	return nil
}

func (h Hooks) home(namespace string) string { return filepath.Join(h.Paths.NamespacesDir, namespace) }

// Namespaces lists those that have input or state, and reports directories that can be none.
func (h Hooks) Namespaces() ([]string, diag.List) {
	names, err := h.store().Sites()
	var found diag.List
	if err != nil {
		found = append(found, diag.Diagnostic{File: h.Paths.StateDir, Message: err.Error()})
	}
	entries, err := os.ReadDir(h.Paths.NamespacesDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		found = append(found, diag.Diagnostic{File: h.Paths.NamespacesDir, Message: "cannot be read: " + err.Error(),
			Hint: "Mend its type or its permissions."})
	}
	for _, e := range entries {
		switch {
		case !e.IsDir():
		case siteName.MatchString(e.Name()):
			names = append(names, e.Name())
		default:
			found = append(found, diag.Diagnostic{File: filepath.Join(h.Paths.NamespacesDir, e.Name()),
				Message: "is no name for a namespace", Hint: "Use lower-case letters, digits and hyphens, at most 63."})
		}
	}
	slices.Sort(names)
	return slices.Compact(names), found
}

// lookAtSite reads a namespace and says what it comes to beside others that want ports, without changing anything: what would be
// allocated is only guessed.
func (h Hooks) lookAtSite(namespace string, wanted ...site.Socket) (Site, error) {
	if err := checkNamespace(namespace); err != nil {
		return Site{}, err
	}
	if err := h.checkHome(namespace); err != nil {
		return Site{}, err
	}
	record, err := h.siteRecord(namespace)
	if err != nil {
		return Site{}, err
	}
	table, err := h.registry().Look(namespace)
	if err != nil {
		return Site{}, err
	}
	table.Taken = append(table.Taken, wanted...)
	s := h.readSite(record)
	s.known = record.Router != nil
	return s, h.resolve(&s, table)
}

func (h Hooks) registry() ports.Registry {
	alone := func(do func() error) error { return h.holding("registry", do) }
	return ports.Registry{Dir: h.Paths.PortsDir, UID: os.Getuid(), Alone: alone, Log: h.Log}
}

// readSite reads the input of a namespace, and the documents that its tokens were redeemed for.
func (h Hooks) readSite(record state.Site) Site {
	home := h.home(record.Namespace)
	reader := generator.Reader(h.Paths)
	files, _, unread := reader.Resources(filepath.Join(home, "input/resources"))
	s := Site{Namespace: record.Namespace, record: record, given: pki.Read(reader, home),
		offered: h.offeredProxies(record.Namespace)}
	env := site.Env{Certs: s.given.Names(), Routed: proxyNames(h.routedProxies(record.Namespace)), Unread: unread, Last: h.readSnapshot(record.Namespace)}
	for _, p := range s.offered {
		env.Proxies = append(env.Proxies, p.input)
	}
	s.Resources = site.Parse(record.Namespace, files, env)
	if more := append(redeemed(&s.record, s.Resources.AccessTokens), s.linkAccess()...); more != nil {
		s.Resources = site.Parse(record.Namespace, append(files, more...), env)
	}
	return s
}

// redeemed returns what the tokens of a site were redeemed for, as files.
func redeemed(record *state.Site, tokens []site.AccessToken) []source.File {
	var files []source.File
	for _, token := range tokens {
		if document := record.Redeemed(token.Name, tokenDigest(token)); document != nil {
			files = append(files, source.File{Path: "the token " + token.Name, Data: claim.WithCost(document, token.Cost)})
		}
	}
	return files
}
