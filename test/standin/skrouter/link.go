package skrouter

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"
)

const (
	firstRetry  = 100 * time.Millisecond
	longestWait = 2 * time.Second
)

// linkConnector makes a link to another router, again and again.
type linkConnector struct {
	*Router
	entity          *entity
	security        *security
	cancel          context.CancelFunc
	ctx             context.Context
	status, message string
}

func (r *Router) startConnector(e *entity) *refusal {
	if err := checkCost(e); err != nil {
		return err
	}
	s, err := r.secure(e, &security{verifyPeer: e.truth("verifyHostname")})
	if err != nil {
		return err
	}
	if name := e.text("proxyProfile"); name != "" && r.find("proxyProfile", name) == nil {
		return refuse(statusInternal, "CError: Not found: proxyProfile '%s' not found", name)
	}
	c := &linkConnector{Router: r, entity: e.frozen(), security: s, status: "CONNECTING"}
	c.ctx, c.cancel = context.WithCancel(r.ctx)
	e.run = c
	r.goes(c.keep)
	return nil
}

func (c *linkConnector) report(attributes map[string]any) {
	attributes["connectionStatus"], attributes["connectionMsg"] = c.status, c.message
	attributes["failoverUrls"] = "amqp://" + c.entity.text("host") + ":" + c.entity.text("port")
}

func (c *linkConnector) stop() {
	c.cancel()
	c.forget(c.security)
}

func (c *linkConnector) where() string {
	return c.entity.text("host") + ":" + c.entity.text("port")
}

// keep keeps the link up.
func (c *linkConnector) keep() {
	wait := firstRetry
	for c.ctx.Err() == nil {
		began := time.Now()
		err := c.link()
		c.mu.Lock()
		c.status = "CONNECTING"
		c.message = fmt.Sprintf("Connection to %s failed: proton:io %s - disconnected %s", c.where(), sentence(err), c.where())
		c.mu.Unlock()
		if time.Since(began) > longestWait {
			wait = firstRetry
		}
		select {
		case <-c.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, longestWait)
	}
}

// connect opens a connection to the other router.
func (c *linkConnector) connect() (*lineConn, error) {
	port, ok := portNumber(c.entity.text("port"))
	if !ok {
		return nil, refuse(statusInternal, "Servname not supported for ai_socktype")
	}
	dialer := net.Dialer{Timeout: handshakeTimeout}
	conn, err := dialer.DialContext(c.ctx, "tcp", net.JoinHostPort(c.entity.text("host"), strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	if c.security == nil {
		return newLineConn(conn), nil
	}
	config := c.security.config.Load().Clone()
	config.ServerName = c.entity.text("host")
	secured := tls.Client(conn, config)
	ctx, cancel := context.WithTimeout(c.ctx, handshakeTimeout)
	defer cancel()
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return newLineConn(secured), nil
}

// link makes the link and keeps it until it fails.
func (c *linkConnector) link() error {
	lines, err := c.connect()
	if err != nil {
		return err
	}
	defer lines.Close()
	role, cost := c.entity.text("role"), c.entity.integer("cost")
	if err := lines.send(line{Kind: "link", Router: c.name(), Role: role, Cost: cost}); err != nil {
		return err
	}
	first, err := lines.receive()
	if err != nil {
		return err
	}
	peer := &connection{Router: c.Router, conn: lines, role: role, direction: "out", host: c.where(), container: first.Router, mechanism: "EXTERNAL",
		since: time.Now()}
	if secured, ok := lines.Conn.(*tls.Conn); ok {
		peer.profile, peer.ordinal = c.security.profile, c.security.ordinal.Load()
		peer.secured(secured.ConnectionState())
	}
	number := c.add(peer)
	defer c.drop(peer)
	c.mu.Lock()
	c.status = "SUCCESS"
	c.message = fmt.Sprintf("[C%d] Connection Opened: dir=out host=%s encrypted=TLSv1.3 auth=EXTERNAL user=(null) container_id=%s", number, c.where(), first.Router)
	c.mu.Unlock()
	n := &neighbour{router: c.Router, connection: peer, lines: lines, cost: cost, news: make(chan struct{}, 1), connector: c}
	return n.run(c.ctx)
}
