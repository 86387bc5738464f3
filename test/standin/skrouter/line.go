package skrouter

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
	"time"
)

// Links between stand-ins are not those of routers: over TLS, with the certificates that the real ones would use, go lines of
// JSON. Each side says who it is and which addresses it serves; a connection that is to be carried gets a TLS connection of its
// own, always made by the side that made the link. Only neighbours know of one another: nothing is carried further.

// line is one line of a link.
type line struct {
	Kind      string   `json:"kind"` // "link", "addresses", "alive", "call", "stream"
	Router    string   `json:"router,omitempty"`
	Role      string   `json:"role,omitempty"`
	Cost      int64    `json:"cost,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	Address   string   `json:"address,omitempty"`
	Stream    int64    `json:"stream,omitempty"` // of a call, and of the stream that answers it
}

const deadAfter = 4 * time.Second

// lineConn is a connection that begins with lines.
type lineConn struct {
	net.Conn
	reader *bufio.Reader
	mu     sync.Mutex // for writing
}

func newLineConn(conn net.Conn) *lineConn {
	return &lineConn{Conn: conn, reader: bufio.NewReader(conn)}
}

func (c *lineConn) Read(b []byte) (int, error) { return c.reader.Read(b) }

func (c *lineConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Conn.Close()
}

func (c *lineConn) send(l line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.SetWriteDeadline(time.Now().Add(deadAfter))
	_, err = c.Write(append(b, '\n'))
	c.SetWriteDeadline(time.Time{})
	return err
}

func (c *lineConn) receive() (line, error) {
	c.SetReadDeadline(time.Now().Add(deadAfter))
	defer c.SetReadDeadline(time.Time{})
	b, err := c.reader.ReadSlice('\n')
	if err != nil {
		return line{}, err
	}
	var l line
	return l, json.Unmarshal(b, &l)
}
