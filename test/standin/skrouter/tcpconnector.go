package skrouter

import (
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// dial opens a connection to where an address is served: here, or at a neighbour.
func (r *Router) dial(address string) (net.Conn, error) {
	r.mu.Lock()
	var here []*tcpConnector
	for _, e := range r.entities {
		if c, ok := e.run.(*tcpConnector); ok && e.text("address") == address {
			here = append(here, c)
		}
	}
	var there *neighbour
	for _, n := range r.neighbours {
		if n.serves(address) {
			there = n
		}
	}
	r.mu.Unlock()
	switch {
	case len(here) > 0:
		return here[rand.IntN(len(here))].dial()
	case there != nil:
		return there.dial(address)
	}
	return nil, errors.New("nobody serves " + address)
}

// reachable tells whether an address is served.
func (r *Router) reachable(address string) bool {
	if contains(r.addresses(), address) {
		return true
	}
	for _, n := range r.neighbours {
		if n.serves(address) {
			return true
		}
	}
	return false
}

// addresses are those that are served here.
func (r *Router) addresses() []string {
	addresses := []string{}
	for _, e := range r.entities {
		if e.kind.name == "tcpConnector" {
			addresses = append(addresses, e.text("address"))
		}
	}
	return addresses
}

// tcpConnector connects to a server. Its connections count from 1, as with skrouterd, which has one with itself.
type tcpConnector struct {
	*Router
	counters
	streams  streams
	entity   *entity
	security *security
}

func (r *Router) startTCPConnector(e *entity) *refusal {
	if e.text("address") == "" {
		return refuse(statusInternal, "CError: Configuration: Address must be set")
	}
	if e.attributes["port"] == nil {
		return refuse(statusInternal, "CError: Python: KeyError: ('port',)")
	}
	s, err := r.secure(e, &security{raw: true, verifyPeer: e.truth("verifyHostname")})
	if err != nil {
		return err
	}
	c := &tcpConnector{Router: r, entity: e.frozen(), security: s}
	c.opened.Store(1)
	e.run = c
	return nil
}

func (c *tcpConnector) report(attributes map[string]any) { c.counters.report(attributes) }

func (c *tcpConnector) stop() {
	c.streams.close()
	c.forget(c.security)
}

func (c *tcpConnector) dial() (net.Conn, error) {
	port, ok := portNumber(c.entity.text("port"))
	if !ok {
		return nil, errors.New("the port of " + c.entity.text("name") + " is none")
	}
	dialer := net.Dialer{Timeout: handshakeTimeout}
	conn, err := dialer.DialContext(c.ctx, "tcp", net.JoinHostPort(c.entity.text("host"), strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	if c.security != nil {
		config := c.security.config.Load().Clone()
		config.ServerName = c.entity.text("host")
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(c.ctx); err != nil {
			conn.Close()
			return nil, err
		}
		conn = secured
	}
	served := &servedConn{Conn: conn, connector: c}
	if !c.streams.add(conn) {
		conn.Close()
		return nil, errors.New("the connector is gone")
	}
	c.opened.Add(1)
	return served, nil
}

// servedConn counts for its connector.
type servedConn struct {
	net.Conn
	connector *tcpConnector
	once      sync.Once
}

func (s *servedConn) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.connector.in.Add(int64(n))
	return n, err
}

func (s *servedConn) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.connector.out.Add(int64(n))
	return n, err
}

func (s *servedConn) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return s.Conn.Close()
}

func (s *servedConn) Close() error {
	s.once.Do(func() {
		s.connector.streams.remove(s.Conn)
		s.connector.closed.Add(1)
	})
	return s.Conn.Close()
}
