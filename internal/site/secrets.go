package site

import "strings"

// lastApplied is where kubectl keeps a whole resource, a Secret's data and all.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// secrets returns where secrets stand in a document, by their form alone, so that it also works for what is broken or of an unknown
// kind: the data of a Secret, the code of an AccessToken, what kubectl keeps of them, and private keys. With aliases a secret may
// stand anywhere.
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
	f.hide(n.lookup("data"))
	f.hide(n.lookup("stringData"))
	f.hide(n.lookup("spec").lookup("code"))
	f.hide(n.lookup("metadata").lookup("annotations").lookup(lastApplied))
	if items := n.lookup("items"); items != nil {
		for _, item := range items.members {
			f.resource(item)
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
