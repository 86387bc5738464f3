package site

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/source"
)

// Env is what else there is of a namespace.
type Env struct {
	Certs   []string  // names of the directories of input/certs
	Proxies []Proxy   // the directories of input/proxies
	Routed  []string  // names of the proxies that the router has
	Unread  diag.List // what kept files from being read
	Last    []Last    // resources as they were when they were last good all the way
}

// Proxy is how a proxy is reached, by the files host and port of its directory.
type Proxy struct{ Name, Dir, Host, Port string }

// Usable tells whether the host and the port are such.
func (p Proxy) Usable() bool { return p.problem("", "").message == "" }

// Parse reads the resources of a namespace, given the files of its input/resources in any order, and checks them against each
// other. Resources that are wrong are left out of all but All; what is wrong with them is in their Problems.
// All is complete but for ports: allocated ones are to be filled in, and then CheckPorts to be called.
func Parse(namespace string, files []source.File, env Env) *Resources {
	rs := &Resources{Namespace: namespace, Problems: slices.Clone(env.Unread)}
	var chunks []chunk
	for _, f := range files {
		documents := split(f.Path, f.Data)
		if len(documents) > maxDocuments {
			rs.Problems = append(rs.Problems, diag.Diagnostic{File: f.Path, Message: fmt.Sprintf("has more than %d documents", maxDocuments),
				Hint: "Divide it, or move it elsewhere if it holds no resources."})
			continue
		}
		chunks = append(chunks, documents...)
	}
	for _, document := range readAll(namespace, chunks) {
		for _, r := range document {
			if r.Kind == "" || r.Name == "" {
				rs.Problems = append(rs.Problems, r.Problems...)
				continue
			}
			rs.All = append(rs.All, r)
		}
	}
	slices.SortFunc(rs.All, compareResources)
	rs.checkTwice()
	for _, r := range rs.All {
		if rule := findKind(r.Kind); rule != nil && rule.add != nil {
			rule.add(rs, r)
		}
	}
	rs.keepLast(env.Last)
	rs.checkSite()
	rs.checkLinks(env)
	rs.checkAccess(env)
	for _, r := range rs.All {
		if r.root != nil {
			r.root.home.close()
		}
	}
	return rs
}

func compareResources(a, b *Resource) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column))
}

// readAll reads chunks in parallel: nearly all of the time of Parse goes into the YAML of single documents.
func readAll(namespace string, chunks []chunk) [][]*Resource {
	documents := make([][]*Resource, len(chunks))
	var wait sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 1+len(chunks)/16)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(chunks); i += workers {
				documents[i] = chunks[i].read(namespace)
			}
		})
	}
	wait.Wait()
	return documents
}

// read returns the resources of a chunk. What is no resource has no Kind or no Name, only Problems.
func (c chunk) read(namespace string) []*Resource {
	root, aliased, bad := c.parse()
	if bad != nil {
		h := home{chunk: c}
		d := h.place(bad.at)
		d.Message, d.Hint = bad.message, bad.hint+" Nothing else of this document was looked at."
		d.Secret = maybeSecret(c.text())
		return []*Resource{{File: c.file, Problems: diag.List{d}}}
	}
	if root == nil || root.kind == nullKind && !root.bad {
		return nil
	}
	return c.resources(namespace, root, c.secrets(root, aliased))
}

// resources makes a resource of root, or of each item of a List.
func (c chunk) resources(namespace string, root *node, hidden []span) []*Resource {
	r := &Resource{File: c.file, root: root}
	root.home = &home{chunk: c, resource: r, hidden: hidden}
	if root.kind != objectKind {
		if root.faults(); !root.bad {
			root.fail("is "+root.kind.String()+" and not a resource", "Write apiVersion, kind and metadata; move other files elsewhere.")
		}
		return []*Resource{r}
	}
	if root.get("kind").str() != "List" {
		r.identify(namespace)
		return []*Resource{r}
	}
	all := []*Resource{r}
	items := root.lookup("items")
	if items == nil || items.kind != listKind {
		root.faults()
		root.missing("items", "Write a list of resources.")
		return all
	}
	resources := items.members
	items.members = nil
	root.faults()
	root.conform(&listShape)
	r.checkVersion(coreVersion)
	for _, item := range resources {
		all = append(all, c.resources(namespace, item, hidden)...)
	}
	return all
}

// maybeSecret tells whether a text that could not be read may hold a secret. It may be misspelt.
func maybeSecret(text []byte) bool {
	text = bytes.ToLower(text)
	for _, word := range []string{"secret", "token", "stringdata", "private key", "tls.key", "password", "code:", "\"code\""} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}
