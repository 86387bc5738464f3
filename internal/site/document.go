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
		setList(status, "network", s.Network, SiteRecord.node)
		if len(s.Network) > 0 {
			status.set("sitesInNetwork", len(s.Network))
		}
	case "RouterAccess":
		setList(status, "endpoints", s.Endpoints, Endpoint.node)
	case "Listener":
		status.set("hasMatchingConnector", holds(Matched))
	case "Connector":
		status.set("hasMatchingListener", holds(Matched))
	case "MultiKeyListener":
		status.set("hasDestination", holds(Operational))
		r.reachable(status, s.Reachable)
	case "Link":
		status.set("remoteSiteId", s.RemoteSiteID)
		status.set("remoteSiteName", s.RemoteSite)
	case "AccessToken":
		status.set("redeemed", holds(Redeemed))
	case "Certificate":
		if !s.Expiration.IsZero() {
			status.set("expiration", s.Expiration.UTC().Format(time.RFC3339))
		}
	}
}

// reachable adds the routing keys that are served, as a list or with their weights, as the strategy has them.
func (r *Resource) reachable(status *node, keys []string) {
	if r.root == nil || len(keys) == 0 {
		return
	}
	strategy := r.root.get("spec").get("strategy")
	reached := &node{key: "routingKeysReachable"}
	kind := "priority"
	if priority := strategy.get("priority").get("routingKeys"); priority != nil {
		reached.kind = listKind
		for item := range priority.items() {
			if slices.Contains(keys, item.str()) {
				reached.add(&node{kind: textKind, text: item.str()})
			}
		}
	} else {
		kind = "weighted"
		reached.kind = objectKind
		for item := range strategy.get("weighted").get("routingKeys").items() {
			if slices.Contains(keys, item.key) {
				reached.add(&node{kind: integerKind, key: item.key, text: item.text})
			}
		}
	}
	inner := &node{kind: objectKind, key: kind}
	inner.add(reached)
	outer := &node{kind: objectKind, key: "strategy"}
	outer.add(inner)
	status.add(outer)
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

func textNode(s string) *node { return &node{kind: textKind, text: s} }

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

func (s SiteRecord) node() *node {
	n := &node{kind: objectKind}
	n.set("id", s.ID)
	n.set("name", s.Name)
	n.set("namespace", s.Namespace)
	n.set("platform", s.Platform)
	n.set("version", s.Version)
	setList(n, "links", s.Links, LinkRecord.node)
	setList(n, "services", s.Services, ServiceRecord.node)
	return n
}

func (l LinkRecord) node() *node {
	n := &node{kind: objectKind}
	n.set("name", l.Name)
	n.set("remoteSiteId", l.RemoteSiteID)
	n.set("remoteSiteName", l.RemoteSite)
	n.set("operational", l.Operational)
	return n
}

func (s ServiceRecord) node() *node {
	n := &node{kind: objectKind}
	n.set("routingKey", s.RoutingKey)
	setList(n, "connectors", s.Connectors, textNode)
	setList(n, "listeners", s.Listeners, textNode)
	return n
}

// OldStatus reads the status of a document that WithStatus or upstream wrote, as far as it can be read.
func OldStatus(data []byte) Status {
	chunks := split("", data)
	if len(chunks) == 0 {
		return Status{}
	}
	root, _, bad := chunks[0].parse()
	if bad != nil {
		return Status{}
	}
	n := root.get("status")
	s := Status{RemoteSiteID: n.get("remoteSiteId").str(), RemoteSite: n.get("remoteSiteName").str()}
	s.Expiration, _ = time.Parse(time.RFC3339, n.get("expiration").str())
	for c := range n.get("conditions").items() {
		since, _ := time.Parse(time.RFC3339, c.get("lastTransitionTime").str())
		s.Conditions = append(s.Conditions, Condition{Type: c.get("type").str(), True: c.get("status").str() == "True",
			Reason: c.get("reason").str(), Message: c.get("message").str(), Since: since})
	}
	for e := range n.get("endpoints").items() {
		s.Endpoints = append(s.Endpoints, Endpoint{Name: e.get("name").str(), Host: e.get("host").str(), Port: e.get("port").str(), Group: e.get("group").str()})
	}
	for record := range n.get("network").items() {
		s.Network = append(s.Network, oldSite(record))
	}
	reached := n.get("strategy")
	s.Reachable = reached.get("priority").get("routingKeysReachable").strs()
	for item := range reached.get("weighted").get("routingKeysReachable").items() {
		s.Reachable = append(s.Reachable, item.key)
	}
	return s
}

func oldSite(n *node) SiteRecord {
	s := SiteRecord{ID: n.get("id").str(), Name: n.get("name").str(), Namespace: n.get("namespace").str(), Platform: n.get("platform").str(), Version: n.get("version").str()}
	for l := range n.get("links").items() {
		s.Links = append(s.Links, LinkRecord{l.get("name").str(), l.get("remoteSiteId").str(), l.get("remoteSiteName").str(), l.get("operational").flag()})
	}
	for v := range n.get("services").items() {
		s.Services = append(s.Services, ServiceRecord{v.get("routingKey").str(), v.get("connectors").strs(), v.get("listeners").strs()})
	}
	return s
}
