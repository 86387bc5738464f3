// Package management asks a running router for what it has, and asks it to change, over AMQP management
// (skupper-router, docs: "Managing the router"; OASIS AMQP Management 1.0 working draft 9).
package management

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/sitelet/sitelet/internal/source"
)

// defaultTimeout is far above what a router takes (milliseconds), and bearable for who waits for a reload.
const defaultTimeout = 10 * time.Second

// credit is how many answers the router may send before they are taken.
const credit = 500

// Endpoint is where a router is managed. Without a CA there is no TLS, as tests may want it.
type Endpoint struct {
	Address       string // host and port
	CA, Cert, Key []byte // PEM

	// Timeout is how long to wait for the connection, and then for each answer; 0 stands for ten seconds.
	Timeout time.Duration
}

// Files returns the Endpoint at an address, with ca.crt, tls.crt and tls.key of a directory.
func Files(address, directory string) (Endpoint, error) {
	e := Endpoint{Address: address}
	for _, file := range []struct {
		name    string
		content *[]byte
	}{{"ca.crt", &e.CA}, {"tls.crt", &e.Cert}, {"tls.key", &e.Key}} {
		content, err := source.Made(filepath.Join(directory, file.name))
		if err != nil {
			return Endpoint{}, fmt.Errorf("the router cannot be asked without its client certificate: %w", err)
		}
		*file.content = content
	}
	return e, nil
}

// Client is a connection to a router's management. Its methods may be called at the same time, and then wait for each other.
type Client struct {
	address  string
	timeout  time.Duration
	conn     *amqp.Conn
	sender   *amqp.Sender
	receiver *amqp.Receiver
	replyTo  string

	mu   sync.Mutex
	last uint64 // number of the last request
}

// Dial connects to a router. The error says why it cannot be managed now.
func Dial(ctx context.Context, e Endpoint) (*Client, error) {
	c := &Client{address: e.Address, timeout: e.Timeout}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if err := c.dial(ctx, e); err != nil {
		c.Close()
		return nil, fmt.Errorf("the router at %s cannot be managed; look whether it runs: %w", e.Address, plain(err))
	}
	return c, nil
}

// plain says in words that a time is up.
func plain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("it does not answer in time")
	}
	return err
}

func (c *Client) dial(ctx context.Context, e Endpoint) error {
	options := &amqp.ConnOptions{WriteTimeout: c.timeout}
	socket, err := c.open(ctx, e, options)
	if err != nil {
		return err
	}
	if c.conn, err = amqp.NewConn(ctx, socket, options); err != nil {
		return err
	}
	session, err := c.conn.NewSession(ctx, nil)
	if err != nil {
		return err
	}
	c.receiver, err = session.NewReceiver(ctx, "", &amqp.ReceiverOptions{DynamicAddress: true, Credit: credit})
	if err != nil {
		return err
	}
	if c.replyTo = c.receiver.Address(); c.replyTo == "" {
		return errors.New("it gave no address for its answers")
	}
	c.sender, err = session.NewSender(ctx, "$management", nil)
	return err
}

// open opens the connection below AMQP, and adds to the options what goes with it.
func (c *Client) open(ctx context.Context, e Endpoint, options *amqp.ConnOptions) (net.Conn, error) {
	var dialer net.Dialer
	socket, err := dialer.DialContext(ctx, "tcp", e.Address)
	if err != nil || e.CA == nil {
		return socket, err
	}
	config, err := tlsConfig(e)
	if err == nil {
		secured := tls.Client(socket, config)
		if err = secured.HandshakeContext(ctx); err == nil {
			options.SASLType = amqp.SASLTypeExternal("")
			return secured, nil
		}
	}
	socket.Close()
	return nil, err
}

func tlsConfig(e Endpoint) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(e.Cert, e.Key)
	if err != nil {
		return nil, fmt.Errorf("the client certificate cannot be used: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(e.CA) {
		return nil, errors.New("the CA certificate cannot be used: there is no certificate in it")
	}
	host, _, err := net.SplitHostPort(e.Address)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, ServerName: host, MinVersion: tls.VersionTLS12}, err
}

// Close ends the connection.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// exchange sends requests, all at once and in order, and calls take with each answer and the number of its request, in whatever
// order they come. It returns an error for each request that got no answer, or whose answer take did not like, else nil.
//
// A link keeps the order of messages (AMQP 1.0, 2.6.12), and the router's agent does one after the other (skupper-router, agent.py:
// request_lock). Its core, which answers for addresses and connections, overtakes the agent; nothing else needs those.
func (c *Client) exchange(ctx context.Context, requests []*amqp.Message, take func(i int, answer *amqp.Message) error) []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.last + 1
	c.last += uint64(len(requests))
	for i, request := range requests {
		// The router's agent gives numbers back as numbers of another type.
		request.Properties = &amqp.MessageProperties{ReplyTo: &c.replyTo, CorrelationID: strconv.FormatUint(first+uint64(i), 10)}
	}
	ctx, cancel := context.WithCancel(ctx)
	sent := make(chan error, 1)
	go func() { sent <- c.send(ctx, requests) }()
	results := c.collect(ctx, first, len(requests), sent, take)
	cancel()
	return results
}

// send sends requests without waiting for the router to take them.
func (c *Client) send(ctx context.Context, requests []*amqp.Message) error {
	for _, request := range requests {
		if _, err := c.sender.SendWithReceipt(ctx, request, nil); err != nil {
			return err
		}
	}
	return nil
}

// collect takes answers until there is one for each request, or none comes for too long.
func (c *Client) collect(ctx context.Context, first uint64, count int, sent <-chan error, take func(int, *amqp.Message) error) []error {
	results := make([]error, count)
	answered := make([]bool, count)
	deadline := time.Now().Add(c.timeout)
	var err error
	for open := count; open > 0; {
		var answer *amqp.Message
		if answer, err = c.receive(ctx, deadline); err != nil {
			break
		}
		i, ok := number(answer, first, count)
		if !ok || answered[i] {
			continue // it is late, or nobody's: it does not count as a sign of life
		}
		results[i], answered[i] = take(i, answer), true
		open--
		deadline = time.Now().Add(c.timeout)
	}
	if err == nil {
		return results
	}
	select { // that nothing could be sent says more than that nothing came
	case failed := <-sent:
		if failed != nil {
			err = failed
		}
	default:
	}
	for i := range results {
		if !answered[i] {
			results[i] = fmt.Errorf("the router at %s gave no answer, so it is tried again at the next reload: %w", c.address, plain(err))
		}
	}
	return results
}

func (c *Client) receive(ctx context.Context, deadline time.Time) (*amqp.Message, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	answer, err := c.receiver.Receive(ctx, nil)
	if err != nil {
		return nil, err
	}
	return answer, c.receiver.AcceptMessage(ctx, answer)
}

// number returns which request an answer is for.
func number(answer *amqp.Message, first uint64, count int) (int, bool) {
	if answer.Properties == nil {
		return 0, false
	}
	text, ok := answer.Properties.CorrelationID.(string)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return int(n - first), err == nil && n >= first && n < first+uint64(count)
}
