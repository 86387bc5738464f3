package amqp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Options are how a connection is served.
type Options struct {
	ContainerID string
	Properties  Map

	// Mechanisms are the SASL mechanisms on offer. Of none, a client may still ask for SASL, and finds an empty list.
	Mechanisms []string

	// Demand refuses a client that does not ask for SASL.
	Demand bool

	// NewAddress returns an address for a client that asks for one of its own.
	NewAddress func() string

	// Receive is called for each message, one after the other for a connection, in the order in which they came.
	Receive func(m *Message, from *Connection)

	// Opened is called with the client's container-id and SASL mechanism once the connection is open. It may be nil.
	Opened func(container, mechanism string)
}

const (
	maxFrame     = 16384
	idleTimeout  = 16 * time.Second
	writeTimeout = 10 * time.Second
	credit       = 250 // of messages that a client may have under way on a link
	window       = 2147483647
)

// Connection is one client. Its methods may be called at any time.
type Connection struct {
	Options
	conn     net.Conn
	received chan *Message // what Receive has not been called for
	chosen   string        // SASL mechanism

	mu        sync.Mutex // guards what follows, and the writing of frames
	peerFrame uint32
	sessions  map[uint16]*session // by channel, which is the same both ways
	closed    bool
}

// Serve serves a client until it closes the connection, which is no error, or the connection fails or ctx ends. It closes conn.
func Serve(ctx context.Context, conn net.Conn, options Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	c := &Connection{Options: options, conn: conn, received: make(chan *Message, 16*credit), peerFrame: minFrame,
		sessions: make(map[uint16]*session)}
	defer close(c.received)
	if err := c.negotiate(); err != nil {
		return err
	}
	if err := c.open(ctx); err != nil {
		return err
	}
	go c.handOver()
	return c.read()
}

// handOver hands messages over apart from reading, so that heartbeats go on while a message takes its time.
func (c *Connection) handOver() {
	for m := range c.received {
		c.Receive(m, c)
	}
}

// negotiate exchanges the protocol headers, with a SASL layer if the client wants one (2.2, 5.3).
func (c *Connection) negotiate() error {
	header := make([]byte, 8)
	if err := c.expect(header); err != nil {
		return err
	}
	if string(header) == protocolSASL {
		if err := c.authenticate(); err != nil {
			return err
		}
		if err := c.expect(header); err != nil {
			return err
		}
	} else if c.Demand {
		c.write([]byte(protocolSASL))
		return errors.New("amqp: the client does not ask for SASL")
	}
	if err := c.write([]byte(protocolAMQP)); err != nil {
		return err
	}
	if string(header) != protocolAMQP {
		return fmt.Errorf("amqp: the protocol %q is not spoken here", header)
	}
	return nil
}

func (c *Connection) expect(b []byte) error {
	c.conn.SetReadDeadline(time.Now().Add(idleTimeout))
	_, err := io.ReadFull(c.conn, b)
	return err
}

func (c *Connection) write(b []byte) error {
	c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := c.conn.Write(b)
	return err
}

// authenticate takes any mechanism that is on offer: TLS has checked the client already.
func (c *Connection) authenticate() error {
	mechanisms := Array{}
	for _, m := range c.Mechanisms {
		mechanisms = append(mechanisms, Symbol(m))
	}
	b := appendFrame([]byte(protocolSASL), frameSASL, 0, composite(codeMechanisms, mechanisms), nil)
	if err := c.write(b); err != nil {
		return err
	}
	f, err := c.next()
	if err != nil {
		return err
	}
	if f.kind != frameSASL || f.code != codeInit {
		return errors.New("amqp: the client sent no sasl-init")
	}
	const ok, auth = uint8(0), uint8(1)
	outcome := auth
	chosen := field[Symbol](f.fields, 0)
	for _, m := range c.Mechanisms {
		if Symbol(m) == chosen {
			outcome = ok
		}
	}
	if err := c.write(appendFrame(nil, frameSASL, 0, composite(codeOutcome, outcome), nil)); err != nil {
		return err
	}
	if outcome != ok {
		return fmt.Errorf("amqp: the client chose the SASL mechanism %q", chosen)
	}
	c.chosen = string(chosen)
	return nil
}

func (c *Connection) next() (frame, error) {
	c.conn.SetReadDeadline(time.Now().Add(2 * idleTimeout))
	return readFrame(c.conn, maxFrame)
}

// open exchanges open frames, and sends heartbeats if the client wants some (2.4.5, 2.7.1).
func (c *Connection) open(ctx context.Context) error {
	f, err := c.next()
	if err != nil {
		return err
	}
	if f.code != codeOpen {
		return errors.New("amqp: the first frame is no open")
	}
	if limit := field[uint32](f.fields, 2); limit >= minFrame {
		c.peerFrame = min(limit, maxFrame)
	} else if limit == 0 {
		c.peerFrame = maxFrame
	}
	open := composite(codeOpen, c.ContainerID, nil, uint32(maxFrame), uint16(32767), uint32(idleTimeout.Milliseconds()), nil, nil, nil, nil, c.Properties)
	if err := c.write(appendFrame(nil, frameAMQP, 0, open, nil)); err != nil {
		return err
	}
	if c.Opened != nil {
		c.Opened(field[string](f.fields, 0), c.chosen)
	}
	if timeout := time.Duration(field[uint32](f.fields, 4)) * time.Millisecond; timeout > 0 {
		go c.beat(ctx, max(timeout/2, time.Millisecond))
	}
	return nil
}

func (c *Connection) beat(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.mu.Lock()
			c.emit(0, nil)
			c.mu.Unlock()
		}
	}
}

// emit writes a frame; the mutex is held. A connection that cannot be written to is closed, which ends the reading.
func (c *Connection) emit(channel uint16, performative *Described) {
	if c.closed {
		return
	}
	if err := c.write(appendFrame(nil, frameAMQP, channel, performative, nil)); err != nil {
		c.closed = true
		c.conn.Close()
	}
}

// read handles frames until the client closes the connection.
func (c *Connection) read() error {
	for {
		f, err := c.next()
		if err != nil {
			return err
		}
		c.mu.Lock()
		done, err := c.handle(f)
		if err != nil {
			c.emit(0, composite(codeClose, fault("amqp:connection:framing-error", err.Error())))
		}
		c.closed = c.closed || done || err != nil
		c.mu.Unlock()
		if done || err != nil {
			return err
		}
	}
}

// handle handles a frame, and tells whether it was the last.
func (c *Connection) handle(f frame) (done bool, err error) {
	s := c.sessions[f.channel]
	switch f.code {
	case 0:
		return false, nil
	case codeClose:
		c.emit(0, composite(codeClose))
		return true, nil
	case codeBegin:
		if s != nil {
			return false, errors.New("the channel has a session already")
		}
		c.sessions[f.channel] = c.begin(f)
		return false, nil
	}
	if s == nil {
		return false, fmt.Errorf("a frame %#x without a session", f.code)
	}
	switch f.code {
	case codeAttach:
		return false, s.attach(f)
	case codeFlow:
		return false, s.flow(f)
	case codeTransfer:
		return false, s.transfer(f)
	case codeDisposition: // all that is sent is settled
		return false, nil
	case codeDetach:
		return false, s.detach(f)
	case codeEnd:
		delete(c.sessions, f.channel)
		c.emit(f.channel, composite(codeEnd))
		return false, nil
	}
	return false, fmt.Errorf("a frame %#x that is not known", f.code)
}

// Send sends a message to the client's link whose source is the message's To. Without one it is dropped, as by the router.
func (c *Connection) Send(m *Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		for _, l := range s.links {
			if l.sends && l.address == m.To {
				l.queue = append(l.queue, m.Marshal())
				s.drain()
				return
			}
		}
	}
}

// fault is an error for a frame (2.8.14).
func fault(condition, description string) *Described {
	return composite(codeError, Symbol(condition), description)
}

// SendRaw sends bytes that need be no frames, and Drop cuts the connection: for those who test a client.
func (c *Connection) SendRaw(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.write(b)
	}
}

// Drop cuts the connection.
func (c *Connection) Drop() { c.conn.Close() }
