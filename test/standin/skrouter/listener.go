package skrouter

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sitelet/sitelet/test/standin/amqp"
)

// handshakeTimeout bounds what comes before the first frame.
const handshakeTimeout = 10 * time.Second

// amqpListener takes AMQP connections, or links of other stand-ins.
type amqpListener struct {
	*Router
	entity   *entity
	security *security // nil: no TLS
	socket   net.Listener
}

func (r *Router) startListener(e *entity, required bool) *refusal {
	if err := checkCost(e); err != nil {
		return err
	}
	s, err := r.secure(e, &security{server: true, verifyPeer: e.truth("authenticatePeer")})
	if err != nil {
		return err
	}
	l := &amqpListener{Router: r, entity: e.frozen(), security: s}
	e.run = l
	socket, wrong := listen(e.text("host"), e.text("port"))
	if wrong != "" {
		r.printf("SERVER (error) Listener error on %s:%s: %s (proton:io)", e.text("host"), e.text("port"), wrong)
		if required { // connection_manager.c: first_start
			return refuse(statusInternal, "Shutting down, required listener failed %s:%s: %s", e.text("host"), e.text("port"), wrong)
		}
		return nil
	}
	l.socket = socket
	r.printf("SERVER (info) Listening on %s", socket.Addr())
	r.goes(l.accept)
	return nil
}

func checkCost(e *entity) *refusal {
	if cost := e.integer("cost"); cost < 1 || cost > 2147483647 {
		return refuse(statusInternal, "CError: Configuration: Invalid cost (%d) specified. Minimum value for cost is 1 and maximum value is 2147483647", cost)
	}
	return nil
}

// listen opens a socket as skrouterd would: of a number, only 16 bits count. What is wrong is in its words.
func listen(host, port string) (socket net.Listener, wrong string) {
	where := " - listen on " + host + ":" + port
	number, ok := portNumber(port)
	if !ok {
		return nil, "Servname not supported for ai_socktype" + where
	}
	if host != "" && net.ParseIP(host) == nil {
		if _, err := net.LookupHost(host); err != nil {
			return nil, "Name or service not known" + where
		}
	}
	socket, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(number))))
	if err == nil {
		return socket, ""
	}
	return nil, sentence(err) + where
}

func portNumber(port string) (uint16, bool) {
	switch port {
	case "amqp":
		return 5672, true
	case "amqps":
		return 5671, true
	}
	number, err := strconv.Atoi(port)
	return uint16(number), err == nil
}

// sentence is an error as the C library would say it.
func sentence(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		text := errno.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return err.Error()
}

func (l *amqpListener) report(map[string]any) {}

// stop leaves connections as they are, as skrouterd does.
func (l *amqpListener) stop() {
	if l.socket != nil {
		l.socket.Close()
	}
	l.forget(l.security)
}

func (l *amqpListener) accept() {
	for {
		conn, err := l.socket.Accept()
		if err != nil {
			return
		}
		l.goes(func() { l.serve(conn) })
	}
}

// serve takes a connection through TLS to the protocol of the listener's role.
func (l *amqpListener) serve(conn net.Conn) {
	stop := context.AfterFunc(l.ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	c := &connection{Router: l.Router, conn: conn, role: l.entity.text("role"), direction: "in", host: conn.RemoteAddr().String(), since: time.Now()}
	if l.security != nil {
		secured := tls.Server(conn, l.security.config.Load())
		if err := secured.HandshakeContext(l.ctx); err != nil {
			l.printf("SERVER (error) Connection from %s failed: %v", conn.RemoteAddr(), err)
			return
		}
		c.conn, c.profile, c.ordinal = secured, l.security.profile, l.security.ordinal.Load()
		c.secured(secured.ConnectionState())
	}
	c.conn.SetDeadline(time.Time{})
	if c.role == "inter-router" || c.role == "edge" {
		l.serveLink(c)
		return
	}
	l.serveAMQP(c)
}

func (l *amqpListener) serveAMQP(c *connection) {
	var mechanisms []string
	for _, m := range strings.Fields(cmp.Or(l.entity.text("saslMechanisms"), "ANONYMOUS")) {
		if m != "EXTERNAL" || c.user != "" {
			mechanisms = append(mechanisms, m)
		}
	}
	err := amqp.Serve(l.ctx, c.conn, amqp.Options{
		ContainerID: l.name(),
		Mechanisms:  mechanisms,
		Demand:      l.entity.truth("authenticatePeer"),
		NewAddress:  func() string { return "amqp:/_topo/0/" + l.name() + "/temp." + rand.Text()[:15] },
		Receive:     l.receive,
		Properties: amqp.Map{{Key: amqp.Symbol("product"), Value: "skupper-router"}, {Key: amqp.Symbol("version"), Value: version},
			{Key: amqp.Symbol("qd.conn-id"), Value: l.add(c)}},
		Opened: func(container, mechanism string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			c.container, c.mechanism = container, mechanism
		},
	})
	l.drop(c)
	if err != nil && l.ctx.Err() == nil {
		l.printf("SERVER (info) [C%d] Connection from %s failed: %v", c.number, c.host, err)
	}
}

// name is the router's id, for those who do not hold the mutex.
func (r *Router) name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id()
}
