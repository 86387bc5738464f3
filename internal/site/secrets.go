package site

import (
	"slices"
	"strings"
)

// lastApplied is where kubectl keeps a whole resource, a Secret's data and all.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// open returns what everyone may see of a resource of a kind: its keys and those of its spec; nil for all of it. What is misspelt, or
// none of Skupper's, may hold any.
func open(kind string) (keys, spec []string) {
	keys = []string{"apiVersion", "kind", "metadata"}
	switch rule := findKind(kind); {
	case kind == "Secret":
		return append(keys, "type", "immutable"), nil
	case kind == "AccessToken":
		return append(keys, "spec"), []string{"url", "ca", "linkCost", "settings"}
	case kind == "AccessGrant":
		return append(keys, "spec"), []string{"redemptionsAllowed", "expirationWindow", "issuer", "settings"}
	case kind == "List":
		return append(keys, "items"), nil
	case rule == nil || rule.version == coreVersion:
		return keys, nil
	}
	return nil, nil
}

// secrets returns where secrets stand in a document, by their form alone, so that it also works for what is broken: what is not open
// of each resource, what kubectl keeps of them, and private keys. With aliases a secret may stand anywhere.
func (c chunk) secrets(root *node, aliased bool) []span {
	f := finder{chunk: c}
	f.resource(root)
	f.keys(root)
	if aliased && len(f.found) > 0 {
		return []span{{c.low, c.high}}
	}
	return f.found
}

type finder struct {
	chunk chunk
	found []span
}

func (f *finder) resource(n *node) {
	f.hide(n.lookup("metadata").lookup("annotations").lookup(lastApplied))
	keys, spec := open(n.lookup("kind").str())
	if keys != nil {
		f.hideOthers(n, keys)
		f.hideOthers(n.lookup("spec"), spec)
	}
	if items := n.lookup("items"); items != nil {
		for _, item := range items.members {
			f.resource(item)
		}
	}
}

// hideOthers notes the members of n but for those of keys.
func (f *finder) hideOthers(n *node, keys []string) {
	if n == nil || n.kind != objectKind {
		return
	}
	for _, m := range n.members {
		if !slices.Contains(keys, m.key) {
			f.hide(m)
		}
	}
}

func (f *finder) keys(n *node) {
	if strings.Contains(n.text, "PRIVATE KEY") {
		f.hide(n)
	}
	for _, m := range n.members {
		f.keys(m)
	}
}

// hide notes n, from its key to what follows it.
func (f *finder) hide(n *node) {
	if n == nil {
		return
	}
	high, ok := n.after()
	if !ok || high < n.keyAt {
		high = f.chunk.high
	}
	for high > n.keyAt && strings.IndexByte(" \t\r\n", f.chunk.data[high-1]) >= 0 {
		high--
	}
	f.found = append(f.found, span{n.keyAt, high})
}
