package skrouter

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"time"
)

// settleTime is how long the router takes until a listener has been opened or closed after a request: as with skrouterd, who asks
// at once sees it down without a reason.
const settleTime = 3 * time.Millisecond

// tcpListener takes TCP connections for an address.
type tcpListener struct {
	*Router
	counters
	streams  streams
	entity   *entity
	security *security
	socket   net.Listener
	tried    bool // to open the socket, since the address could be reached
	message  string
}

func (r *Router) startTCPListener(e *entity) *refusal {
	if (e.text("address") == "") == (e.text("multiAddressStrategy") == "none") {
		return refuse(statusInternal, "CError: Configuration: Exactly one of the 'address' or 'multiAddressStrategy' field must be set")
	}
	if e.attributes["port"] == nil {
		return refuse(statusInternal, "CError: Python: KeyError: ('port',)")
	}
	s, err := r.secure(e, &security{server: true, raw: true, verifyPeer: e.truth("authenticatePeer")})
	if err != nil {
		return err
	}
	e.run = &tcpListener{Router: r, entity: e.frozen(), security: s}
	return nil
}

func (l *tcpListener) report(attributes map[string]any) {
	l.counters.report(attributes)
	attributes["operStatus"], attributes["connectionMsg"] = "down", l.message
	if l.socket != nil {
		attributes["operStatus"] = "up"
	}
}

func (l *tcpListener) stop() {
	l.shut()
	l.streams.close()
	l.forget(l.security)
}

// target is an address that a listener sends to; entity is the listenerAddress that names it, if one does.
type target struct {
	address string
	entity  *entity
}

// targets are the addresses of a listener that can be reached.
func (l *tcpListener) targets() []target {
	var found []target
	if address := l.entity.text("address"); address != "" && l.reachable(address) {
		found = append(found, target{address: address})
	}
	for _, e := range l.entities {
		if e.kind.name == "listenerAddress" && e.text("listener") == l.entity.text("name") && l.reachable(e.text("address")) {
			found = append(found, target{e.text("address"), e})
		}
	}
	return found
}

// pick chooses among addresses by the listener's strategy.
func (l *tcpListener) pick(targets []target) (target, bool) {
	var total int64
	var best target
	for i, t := range targets {
		if t.entity == nil {
			return t, true
		}
		value := t.entity.integer("value")
		if l.entity.text("multiAddressStrategy") == "priority" {
			if i == 0 || value > best.entity.integer("value") {
				best = t
			}
			continue
		}
		if total += value; total > 0 && rand.Int64N(total) < value || i == 0 {
			best = t
		}
	}
	return best, len(targets) > 0
}

// reconcile opens the listeners whose addresses can be reached and closes the others, and tells the neighbours what is here.
func (r *Router) reconcile() {
	if r.ctx.Err() != nil {
		return
	}
	for _, e := range r.entities {
		l, ok := e.run.(*tcpListener)
		if !ok {
			continue
		}
		if len(l.targets()) == 0 {
			l.shut()
		} else if !l.tried {
			l.open()
		}
	}
	for _, n := range r.neighbours {
		n.tell()
	}
}

// changed has the listeners looked at, soon.
func (r *Router) changed() {
	if !r.live || r.pending {
		return
	}
	r.pending = true
	time.AfterFunc(settleTime, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pending = false
		r.reconcile()
	})
}

// open opens the socket. Where that fails it is not tried again until the address was away: skrouterd does not, either.
func (l *tcpListener) open() {
	l.tried = true
	l.socket, l.message = listen(l.entity.text("host"), l.entity.text("port"))
	if l.message != "" {
		l.printf("TCP_ADAPTOR (error) Listener %s: %s", l.entity.text("name"), l.message)
		return
	}
	l.printf("TCP_ADAPTOR (info) Listener %s: listening for client connections on %s", l.entity.text("name"), l.socket.Addr())
	socket := l.socket
	l.goes(func() { l.accept(socket) })
}

func (l *tcpListener) shut() {
	l.tried = false
	if l.socket != nil {
		l.socket.Close()
		l.socket = nil
	}
}

func (l *tcpListener) accept(socket net.Listener) {
	for {
		conn, err := socket.Accept()
		if err != nil {
			return
		}
		l.goes(func() { l.forward(conn) })
	}
}

// forward carries a connection to where it is served.
func (l *tcpListener) forward(client net.Conn) {
	defer client.Close()
	if !l.streams.add(client) {
		return
	}
	defer l.streams.remove(client)
	l.opened.Add(1)
	defer l.closed.Add(1)
	c := &connection{Router: l.Router, conn: client, host: client.RemoteAddr().String(), local: client.LocalAddr().String(), protocol: "tcp",
		role: "normal", direction: "in", container: "TcpAdaptor", since: time.Now()}
	l.add(c)
	defer l.drop(c)
	if l.security != nil {
		secured := tls.Server(client, l.security.config.Load())
		ctx, cancel := context.WithTimeout(l.ctx, handshakeTimeout)
		err := secured.HandshakeContext(ctx)
		cancel()
		if err != nil {
			return
		}
		client = secured
	}
	l.mu.Lock()
	to, ok := l.pick(l.targets())
	if ok && to.entity != nil {
		to.entity.attributes["connectionsOpened"] = to.entity.integer("connectionsOpened") + 1
	}
	l.mu.Unlock()
	if !ok {
		return
	}
	server, err := l.dial(to.address)
	if err != nil {
		l.printf("TCP_ADAPTOR (info) Listener %s: %v", l.entity.text("name"), err)
		return
	}
	pipe(client, server, &l.in, &l.out)
}

// startListenerAddress checks that the listener takes addresses.
func (r *Router) startListenerAddress(e *entity) *refusal {
	name := e.text("listener")
	l := r.find("tcpListener", name)
	switch {
	case l == nil:
		return refuse(statusInternal, "CError: Value: Listener for new address does not exist %s", name)
	case l.text("multiAddressStrategy") == "none":
		return refuse(statusInternal, "CError: Value: Must not assign new address to non multi-address listener %s", name)
	}
	e.attributes["connectionsOpened"] = int64(0)
	return nil
}

// leave has an address of a listener take its time to go: until then, skrouterd refuses to delete the listener.
func (r *Router) leave(listener string) {
	r.leaving[listener]++
	time.AfterFunc(settleTime, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.leaving[listener]--
	})
}
