package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/spelling"
)

const keyHint = "Write the routing key that listeners and connectors of a service have in common."

func addListener(rs *Resources, r *Resource) {
	spec := r.spec("Write routingKey, host and port below spec.")
	l := Listener{
		Resource:       r,
		RoutingKey:     spec.require("routingKey", keyHint).check(keyProblem),
		Host:           spec.require("host", "Write the address to listen on, 0.0.0.0 for all.").check(hostProblem),
		Port:           spec.port(),
		TLSCredentials: spec.credentials(),
		Observer:       spec.observer(),
	}
	spec.tcpOnly()
	if !r.Quarantined() {
		rs.Listeners = append(rs.Listeners, l)
	}
}

func addConnector(rs *Resources, r *Resource) {
	spec := r.spec("Write routingKey, host and port below spec.")
	hint := "Write the host to connect to."
	if spec.get("selector") != nil {
		hint = "Write the host to connect to: a selector selects pods, which only Kubernetes has."
	}
	c := Connector{
		Resource:       r,
		RoutingKey:     spec.require("routingKey", keyHint).check(keyProblem),
		Host:           spec.require("host", hint).check(hostProblem),
		Port:           spec.port(),
		TLSCredentials: spec.credentials(),
		UseClientCert:  spec.get("useClientCert").flag(),
		VerifyHostname: spec.get("verifyHostname").flag(),
	}
	spec.tcpOnly()
	if c.TLSCredentials == "" {
		for _, key := range []string{"useClientCert", "verifyHostname"} {
			if m := spec.get(key); m.flag() {
				m.warnKey("has no effect without tlsCredentials", "Write tlsCredentials, or remove it.")
			}
		}
	}
	if !r.Quarantined() {
		rs.Connectors = append(rs.Connectors, c)
	}
}

func addMultiKeyListener(rs *Resources, r *Resource) {
	spec := r.spec("Write host, port and strategy below spec.")
	m := MultiKeyListener{
		Resource:          r,
		Host:              spec.require("host", "Write the address to listen on, 0.0.0.0 for all.").check(hostProblem),
		Port:              spec.port(),
		TLSCredentials:    spec.credentials(),
		RequireClientCert: spec.get("requireClientCert").flag(),
		Observer:          spec.observer(),
	}
	const hint = "Write priority or weighted below strategy."
	switch strategy := spec.require("strategy", hint); {
	case strategy == nil:
	case strategy.lookup("priority").usable() && strategy.lookup("weighted").usable():
		strategy.fail("has both priority and weighted", "Remove one of them.")
	case strategy.get("priority") != nil:
		m.Strategy, m.Keys = "priority", strategy.get("priority").priorities()
	case strategy.get("weighted") != nil:
		m.Strategy, m.Keys = "weighted", strategy.get("weighted").weights()
	case !r.Quarantined():
		strategy.fail("has neither priority nor weighted", hint)
	}
	if m.RequireClientCert && m.TLSCredentials == "" {
		spec.get("requireClientCert").failKey("needs tlsCredentials", "Write tlsCredentials, which say whose certificates are taken.")
	}
	if !r.Quarantined() {
		rs.MultiKeyListeners = append(rs.MultiKeyListeners, m)
	}
}

// maxKeysOfListener is the CRD's.
const maxKeysOfListener = 256

// priorities reads the routing keys of a strategy in their order.
func (n *node) priorities() (keys []KeyValue) {
	list := n.require("routingKeys", "Write a list of routing keys, the first choice first.")
	if list.tooMany() {
		return nil
	}
	for item := range list.items() {
		key := item.check(keyProblem)
		if slices.ContainsFunc(keys, func(k KeyValue) bool { return k.Key == key && key != "" }) {
			item.fail(quote(key)+" is in the list already", "Remove one of them.")
		}
		keys = append(keys, KeyValue{key, len(list.members) - 1 - item.index})
	}
	return keys
}

// weights reads the routing keys of a strategy with their weights.
func (n *node) weights() (keys []KeyValue) {
	object := n.require("routingKeys", "Write an object of routing keys with their weights.")
	if object.tooMany() {
		return nil
	}
	for item := range object.items() {
		if p := keyProblem(item.key); p.message != "" {
			item.failKey(p.message, p.hint)
		}
		weight, _ := item.integer(1, 1<<31-1)
		keys = append(keys, KeyValue{item.key, int(weight)})
	}
	slices.SortFunc(keys, func(a, b KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	return keys
}

func (n *node) tooMany() bool {
	if n == nil || len(n.members) <= maxKeysOfListener {
		return false
	}
	n.fail("has more than 256 keys", "Remove some.")
	return true
}

func (n *node) port() uint16 {
	port, _ := n.require("port", "Write a number from 1 to 65535.").integer(1, 65535)
	return uint16(port)
}

func (n *node) credentials() string { return n.optional("tlsCredentials").check(fileProblem) }

// observers are those of the CRDs.
var observers = []string{"auto", "none", "http1", "http2"}

func (n *node) observer() string {
	m := n.get("observer")
	name := m.str()
	if name != "" && !slices.Contains(observers, name) {
		m.unsupported(observers)
	}
	return name
}

// tcpOnly refuses what the router cannot carry.
func (n *node) tcpOnly() {
	if m := n.get("type"); m.str() != "" && m.str() != "tcp" {
		m.unsupported([]string{"tcp"})
	}
}

// unsupported reports a string that is none of words.
func (n *node) unsupported(words []string) {
	hint := "Write " + oneOf(words) + "."
	if meant, ok := spelling.Nearest(strings.ToLower(n.str()), words); ok && len(words) > 1 {
		hint = "Did you mean " + meant + "?"
	}
	n.fail(quote(n.str())+" is not supported", hint)
}
