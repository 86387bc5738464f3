package skrouter

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/sitelet/sitelet/test/standin/amqp"
)

// version is what a stand-in says of itself; skrouterd says its own.
const version = "0.0.0-standin"

// connection is a connection that QUERY reports.
type connection struct {
	*Router
	conn      net.Conn
	number    int64
	host      string // and port, of the peer
	local     string // socket, of TCP connections
	protocol  string // "amqp" if empty
	role      string
	direction string // "in" or "out"
	container string // id of the peer
	mechanism string
	user      string
	tls       *tls.ConnectionState
	profile   string // name of the sslProfile
	ordinal   int64  // of the profile, when the connection began
	since     time.Time
}

// secured notes what TLS says of a peer.
func (c *connection) secured(state tls.ConnectionState) {
	c.tls = &state
	if len(state.PeerCertificates) > 0 && c.direction == "in" {
		c.user = state.PeerCertificates[0].Subject.String()
	}
}

func (c *connection) close() { c.conn.Close() }

// add makes a connection known, and returns its number.
func (r *Router) add(c *connection) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.number = r.number("connection", 1)
	r.connections = append(r.connections, c)
	return c.number
}

// drop is the reverse of add.
func (r *Router) drop(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.connections {
		if other == c {
			r.connections = append(r.connections[:i:i], r.connections[i+1:]...)
			return
		}
	}
}

func (c *connection) attributes() map[string]any {
	a := map[string]any{
		"name": "connection/" + c.host, "identity": fmt.Sprint(c.number), "type": prefix + "connection", "host": c.host, "role": c.role,
		"protocol": "amqp", "dir": c.direction, "container": c.container, "isAuthenticated": c.mechanism == "EXTERNAL", "user": c.user,
		"isEncrypted": c.tls != nil, "ssl": c.tls != nil, "sslSsf": int64(0), "opened": true, "adminStatus": "enabled", "operStatus": "up",
		"uptimeSeconds": int64(time.Since(c.since).Seconds()), "properties": amqp.Map{},
	}
	if c.mechanism != "" {
		a["sasl"] = c.mechanism
	}
	if c.protocol != "" {
		a["protocol"], a["localSocket"] = c.protocol, c.local
	}
	if c.tls != nil {
		a["sslProto"], a["sslCipher"] = protocolName(c.tls.Version), tls.CipherSuiteName(c.tls.CipherSuite)
		a["sslSsf"], a["tlsOrdinal"] = int64(128), c.ordinal
	}
	if c.user == "" && c.direction == "in" {
		a["user"] = "anonymous"
	}
	return a
}

func protocolName(version uint16) string {
	if version == tls.VersionTLS13 {
		return "TLSv1.3"
	}
	return "TLSv1.2"
}

// report brings the entities up to date that only report: nodes, links and connections.
func (r *Router) report() {
	kept := r.entities[:0:0]
	for _, e := range r.entities {
		if e.kind.name != "router.node" && e.kind.name != "router.link" && e.kind.name != "connection" {
			kept = append(kept, e)
		}
	}
	add := func(kind string, attributes map[string]any) {
		kept = append(kept, &entity{kind: kindOf(kind), attributes: attributes})
	}
	for _, attributes := range r.nodes() {
		add("router.node", attributes)
	}
	for i, n := range r.neighbours {
		for _, direction := range []string{"in", "out"} {
			name := fmt.Sprintf("standin.%d.%s", i, direction)
			add("router.link", map[string]any{"name": name, "linkName": name, "identity": fmt.Sprintf("%d.%s", n.connection.number, direction),
				"type": prefix + "router.link", "linkType": map[string]string{"inter-router": "inter-router", "edge": "endpoint"}[n.connection.role],
				"linkDir": direction, "operStatus": "up", "capacity": int64(250), "undeliveredCount": int64(0), "unsettledCount": int64(0),
				"deliveryCount": int64(0), "connectionId": fmt.Sprint(n.connection.number)})
		}
	}
	for _, c := range r.connections {
		add("connection", c.attributes())
	}
	r.entities = kept
}

// nodes are the interior routers next to an interior router, and itself; an edge router knows none.
func (r *Router) nodes() []map[string]any {
	if r.the("router").text("mode") != "interior" {
		return nil
	}
	links := amqp.List{}
	for _, n := range r.neighbours {
		if n.connection.role == "inter-router" {
			links = append(links, n.connection.container)
		}
	}
	node := func(id string) map[string]any {
		return map[string]any{"id": id, "protocolVersion": int64(1), "instance": r.started.Unix(), "linkState": links, "validOrigins": amqp.List{},
			"address": "amqp:/_topo/0/" + id, "name": "router.node/" + id, "identity": "router.node/" + id, "type": prefix + "router.node"}
	}
	self := node(r.id())
	self["nextHop"], self["lastTopoChange"], self["index"] = "(self)", int64(0), int64(0)
	nodes := []map[string]any{self}
	for i, n := range r.neighbours {
		if n.connection.role != "inter-router" {
			continue
		}
		next := node(n.connection.container)
		next["linkState"], next["cost"], next["routerLink"], next["index"] = amqp.List{r.id()}, n.cost, int64(i), int64(i+1)
		nodes = append(nodes, next)
	}
	return nodes
}
