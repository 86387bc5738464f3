package site

import (
	"slices"
	"strconv"
	"time"
)

// details adds what only some kinds have to a status.
func (r *Resource) details(status *node, s Status, conditions []Condition) {
	holds := func(name string) bool {
		return slices.ContainsFunc(conditions, func(c Condition) bool { return c.Type == name && c.True })
	}
	switch r.Kind {
	case "Site":
		setList(status, "endpoints", s.Endpoints, Endpoint.node)
	case "RouterAccess":
		setList(status, "endpoints", s.Endpoints, Endpoint.node)
	case "Listener":
		status.set("hasMatchingConnector", holds(Matched))
	case "Connector":
		status.set("hasMatchingListener", holds(Matched))
	case "MultiKeyListener":
		status.set("hasDestination", holds(Operational))
	case "AccessToken":
		status.set("redeemed", holds(Redeemed))
	case "Certificate":
		if !s.Expiration.IsZero() {
			status.set("expiration", s.Expiration.UTC().Format(time.RFC3339))
		}
	}
}

// set adds a member, but for a value that stands for none.
func (n *node) set(key string, value any) {
	m := &node{key: key}
	switch value := value.(type) {
	case string:
		m.kind, m.text = textKind, value
		if value == "" {
			return
		}
	case int:
		m.kind, m.text = integerKind, strconv.Itoa(value)
	case bool:
		m.kind, m.text = flagKind, "true"
		if !value {
			return
		}
	}
	n.add(m)
}

// setList adds a member with the nodes of items; none if there are none.
func setList[T any](n *node, key string, items []T, toNode func(T) *node) {
	if len(items) == 0 {
		return
	}
	list := &node{kind: listKind, key: key}
	for _, item := range items {
		list.add(toNode(item))
	}
	n.add(list)
}

func (c Condition) node(generation int64) *node {
	n := &node{kind: objectKind}
	n.set("lastTransitionTime", c.Since.UTC().Format(time.RFC3339))
	n.set("message", c.Message)
	if generation > 0 {
		n.set("observedGeneration", int(generation))
	}
	n.set("reason", c.Reason)
	n.set("status", "False")
	if c.True {
		n.lookup("status").text = "True"
	}
	n.set("type", c.Type)
	return n
}

func (e Endpoint) node() *node {
	n := &node{kind: objectKind}
	n.set("group", e.Group)
	n.set("host", e.Host)
	n.set("name", e.Name)
	n.set("port", e.Port)
	return n
}

// OldConditions reads those of a document that WithStatus or upstream wrote, as far as they can be read.
func OldConditions(data []byte) []Condition {
	chunks := split("", data)
	if len(chunks) == 0 {
		return nil
	}
	root, _, bad := chunks[0].parse()
	if bad != nil {
		return nil
	}
	var conditions []Condition
	for c := range root.get("status").get("conditions").items() {
		since, _ := time.Parse(time.RFC3339, c.get("lastTransitionTime").str())
		conditions = append(conditions, Condition{Type: c.get("type").str(), True: c.get("status").str() == "True",
			Reason: c.get("reason").str(), Message: c.get("message").str(), Since: since})
	}
	return conditions
}
