package skrouter

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// counters are what the adaptor for TCP counts. skrouterd leaves the bytes at 0, and counts them in its flow records only.
type counters struct{ opened, closed, in, out atomic.Int64 }

func (c *counters) report(attributes map[string]any) {
	attributes["connectionsOpened"], attributes["connectionsClosed"] = c.opened.Load(), c.closed.Load()
	attributes["bytesIn"], attributes["bytesOut"] = c.in.Load(), c.out.Load()
}

// streams are the connections of a listener or connector, so that all can be closed.
type streams struct {
	mu     sync.Mutex
	all    map[net.Conn]bool
	closed bool
}

// add takes a connection, unless all are closed.
func (s *streams) add(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.all == nil {
		s.all = make(map[net.Conn]bool)
	}
	s.all[conn] = true
	return true
}

func (s *streams) remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, conn)
}

func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for conn := range s.all {
		conn.Close()
	}
}

// pipe carries bytes both ways until both sides have said all, and closes both. It counts what comes from the client, and what
// goes to it.
func pipe(client, server net.Conn, in, out *atomic.Int64) {
	defer client.Close()
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { carry(server, client, in) })
	both.Go(func() { carry(client, server, out) })
	both.Wait()
}

func carry(to, from net.Conn, count *atomic.Int64) {
	_, err := io.Copy(&counter{to, count}, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		half.CloseWrite()
		return
	}
	to.Close()
	from.Close()
}

type counter struct {
	io.Writer
	count *atomic.Int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.count.Add(int64(n))
	return n, err
}
