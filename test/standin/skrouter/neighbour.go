package skrouter

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const aliveEvery = time.Second

// neighbour is a router that is linked. The router's mutex guards it.
type neighbour struct {
	router     *Router
	connection *connection
	lines      *lineConn
	cost       int64
	addresses  []string       // that it serves
	news       chan struct{}  // that the addresses served here are others now
	connector  *linkConnector // nil: the link was made by the other side
	calls      map[int64]chan net.Conn
}

func (n *neighbour) serves(address string) bool { return contains(n.addresses, address) }

// tell has the neighbour told soon of the addresses that are served here.
func (n *neighbour) tell() {
	select {
	case n.news <- struct{}{}:
	default:
	}
}

// dial gets a connection to an address that the neighbour serves.
func (n *neighbour) dial(address string) (net.Conn, error) {
	if n.connector != nil {
		conn, err := n.connector.connect()
		if err != nil {
			return nil, err
		}
		return conn, conn.send(line{Kind: "stream", Address: address})
	}
	n.router.mu.Lock()
	stream := n.router.number("stream", 1)
	answer := make(chan net.Conn, 1)
	n.calls[stream] = answer
	n.router.mu.Unlock()
	if err := n.lines.send(line{Kind: "call", Address: address, Stream: stream}); err != nil {
		return nil, err
	}
	select {
	case conn := <-answer:
		return conn, nil
	case <-time.After(handshakeTimeout):
	case <-n.router.ctx.Done():
	}
	return nil, errors.New("the neighbour does not answer")
}

// run keeps a link until it fails.
func (n *neighbour) run(ctx context.Context) error {
	r := n.router
	r.mu.Lock()
	r.neighbours = append(r.neighbours, n)
	r.reconcile()
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, other := range r.neighbours {
			if other == n {
				r.neighbours = append(r.neighbours[:i:i], r.neighbours[i+1:]...)
				break
			}
		}
		r.reconcile()
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { n.lines.Close() })
	defer stop()
	r.goes(func() { n.talk(ctx) })
	for {
		l, err := n.lines.receive()
		if err != nil {
			return err
		}
		switch l.Kind {
		case "addresses":
			r.mu.Lock()
			n.addresses = l.Addresses
			r.reconcile()
			r.mu.Unlock()
		case "call":
			r.goes(func() { n.answer(l) })
		}
	}
}

// talk sends what the neighbour has to know.
func (n *neighbour) talk(ctx context.Context) {
	beats := time.NewTicker(aliveEvery)
	defer beats.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beats.C:
			n.lines.send(line{Kind: "alive"})
		case <-n.news:
			n.router.mu.Lock()
			addresses := n.router.addresses()
			n.router.mu.Unlock()
			n.lines.send(line{Kind: "addresses", Addresses: addresses})
		}
	}
}

// answer carries a connection that the other side has no way to make.
func (n *neighbour) answer(l line) {
	server, err := n.router.dial(l.Address)
	if err != nil {
		return
	}
	conn, err := n.connector.connect()
	if err != nil {
		server.Close()
		return
	}
	if err := conn.send(line{Kind: "stream", Stream: l.Stream}); err != nil {
		server.Close()
		conn.Close()
		return
	}
	n.router.carry(conn, server)
}

// carry pipes two connections, of which one is a neighbour's, until the router ends.
func (r *Router) carry(conn, server net.Conn) {
	stop := context.AfterFunc(r.ctx, func() { conn.Close(); server.Close() })
	defer stop()
	var unused counters
	pipe(conn, server, &unused.in, &unused.out)
}

// serveLink takes a link, or a connection that one carries.
func (l *amqpListener) serveLink(c *connection) {
	lines := newLineConn(c.conn)
	first, err := lines.receive()
	if err != nil {
		l.printf("SERVER (error) Connection from %s (to %s) failed: it is no link: %v", c.host, l.entity.text("name"), err)
		return
	}
	switch first.Kind {
	case "link":
		if first.Role != c.role {
			l.printf("SERVER (error) Connection from %s: a link of role %s on a listener of role %s", c.host, first.Role, c.role)
			return
		}
		lines.send(line{Kind: "link", Router: l.name()})
		c.container, c.mechanism = first.Router, "EXTERNAL"
		l.add(c)
		defer l.drop(c)
		n := &neighbour{router: l.Router, connection: c, lines: lines, cost: first.Cost, news: make(chan struct{}, 1), calls: make(map[int64]chan net.Conn)}
		n.run(l.ctx)
	case "stream":
		l.serveStream(first, lines)
	}
}

func (l *amqpListener) serveStream(first line, lines *lineConn) {
	if first.Address != "" {
		server, err := l.dial(first.Address)
		if err == nil {
			l.carry(lines, server)
		}
		return
	}
	l.mu.Lock()
	var answer chan net.Conn
	for _, n := range l.neighbours {
		if waiting, ok := n.calls[first.Stream]; ok {
			answer = waiting
			delete(n.calls, first.Stream)
		}
	}
	l.mu.Unlock()
	if answer == nil {
		return
	}
	held := &heldConn{Conn: lines, closed: make(chan struct{})}
	answer <- held
	select {
	case <-held.closed:
	case <-l.ctx.Done():
	}
}

// heldConn is a connection whose close somebody waits for.
type heldConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (h *heldConn) CloseWrite() error { return h.Conn.(*lineConn).CloseWrite() }

func (h *heldConn) Close() error {
	h.once.Do(func() { close(h.closed) })
	return h.Conn.Close()
}
