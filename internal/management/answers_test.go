package management

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/router"
)

// TestAnswers has the answers that were seen of a skrouterd, in order.
func TestAnswers(t *testing.T) {
	s := newSite(t, router.Entity{Type: "tcpConnector", Name: "connector/db", Attributes: attributes("host", "127.0.0.1", "port", echo(t), "address", "db")})
	port := freePort(t)
	tests := []struct {
		request     router.Request
		code        int // 0: done
		description string
	}{
		{create("tcpListener", "l", "host", "127.0.0.1", "port", port, "address", "db"), 0, ""},
		{create("tcpListener", "l", "host", "127.0.0.1", "port", "1", "address", "db"), 400, "duplicates unique attribute 'name' from existing TcpListenerEntity("},
		{create("tcpConnector", "l", "host", "127.0.0.1", "port", "1", "address", "db"), 400, "duplicates unique attribute 'name' from existing TcpListenerEntity("},
		{create("tcpListener", "p", "host", "127.0.0.1", "port", 1234, "prt", "1", "address", "db"), 400, "Unknown attribute 'prt' for 'io.skupper.router.tcpListener'"},
		{create("tcpListener", "p", "host", "127.0.0.1", "port", "1234", "address", "db", "operStatus", "up"), 400, "Cannot set attribute 'operStatus' in CREATE"},
		{create("tcpListener", "p", "host", "127.0.0.1", "port", "1234", "address", "db", "observer", "bad"), 400, "Invalid value for enum['none', 'auto', 'http1', 'http2']: 'bad'"},
		{create("tcpListener", "p", "host", "127.0.0.1", "port", "1234"), 500, "Exactly one of the 'address' or 'multiAddressStrategy' field must be set"},
		{create("tcpListener", "p", "host", "127.0.0.1", "address", "db"), 500, "KeyError: ('port',)"},
		{create("tcpListener", "p", "host", "127.0.0.1", "port", "1234", "address", "db", "sslProfile", "missing"), 500, "sslProfile 'missing' not found"},
		{update("tcpListener", "l", "port", "1"), 400, "Cannot update attribute 'port' in UPDATE"},
		{update("tcpListener", "l", "port", port, "observer", "http1"), 0, ""},
		{update("tcpListener", "l", "observer", nil), 0, ""},
		{update("tcpListener", "l", "nope", "1"), 400, "Unknown attribute 'nope' for 'io.skupper.router.tcpListener'"},
		{update("tcpConnector", "connector/db", "port", "1"), 501, "Operation 'UPDATE' not implemented for 'io.skupper.router.tcpConnector' ['CREATE', 'DELETE', 'READ']"},
		{remove("tcpListener", "nope"), 404, "No entity with name=nope"},
		{remove("tcpConnector", "l"), 400, "Entity type 'io.skupper.router.tcpListener' does not extend requested type 'io.skupper.router.tcpConnector'"},
		{remove("tcpListener", ""), 400, "io.skupper.router.tcpListener: No name or identity provided"},

		{create("tcpListener", "m", "host", "127.0.0.1", "port", freePort(t), "multiAddressStrategy", "priority"), 0, ""},
		{create("listenerAddress", "m/a", "address", "a", "value", 0, "listener", "m"), 0, ""},
		{remove("tcpListener", "m"), 500, "listenerAddress entities exist for  multi-address listener m"},
		{create("listenerAddress", "x/a", "address", "a", "value", 1, "listener", "nope"), 500, "Listener for new address does not exist nope"},
		{create("listenerAddress", "x/a", "address", "a", "value", 1, "listener", "l"), 500, "Must not assign new address to non multi-address listener l"},
		{create("listenerAddress", "x/a", "address", "a", "listener", "m"), 400, "Missing required attribute 'value'"},
		{remove("listenerAddress", "m/a"), 0, ""},
		{remove("tcpListener", "m"), 500, "listenerAddress entities exist for  multi-address listener m"}, // still

		{create("connector", "c", "host", "127.0.0.1", "port", "1", "role", "inter-router", "sslProfile", "missing"), 500, "sslProfile 'missing' not found"},
		{create("connector", "c", "host", "127.0.0.1", "port", "1", "role", "inter-router", "proxyProfile", "missing"), 500, "proxyProfile 'missing' not found"},
		{create("connector", "c", "host", "127.0.0.1", "port", "1", "role", "inter-router", "cost", 0), 500, "Invalid cost (0) specified. Minimum value for cost is 1"},
		{create("connector", "c", "host", "127.0.0.1", "port", "1", "role", "bad"), 400, "Invalid value for enum['normal', 'inter-router', "},
		{create("sslProfile", "s", "caCertFile", "/nope", "certFile", "/nope", "privateKeyFile", "/nope"), 0, ""},
		{create("connector", "c", "host", "127.0.0.1", "port", "1", "role", "inter-router", "sslProfile", "s"), 500, "Failed to configure TLS caCertFile '/nope' from sslProfile 's'"},
		{create("tcpListener", "p", "host", "127.0.0.1", "port", "1234", "address", "db", "sslProfile", "s"), 500, "Failed to configure TLS caCertFile /nope for sslProfile 's'"},
		{update("sslProfile", "s", "ordinal", 1, "oldestValidOrdinal", 2), 500, "ordinal must be >= oldestValidOrdinal (sslProfile 's')"},
		{update("sslProfile", "s", "uidFormat", "o"), 400, "Cannot update attribute 'uidFormat' in UPDATE"},
		{remove("sslProfile", "s"), 0, ""},
		{create("listener", "x", "host", "127.0.0.1", "port", freePort(t), "role", "inter-router", "sslProfile", "s"), 500, "sslProfile 's' not found"},
		{create("proxyProfile", "proxy", "host", "127.0.0.1", "port", "3128"), 0, ""},
		{remove("proxyProfile", "proxy"), 0, ""},

		{create("router", "r", "id", "x"), 501, "Operation 'CREATE' not implemented for 'io.skupper.router.router' ['READ']"},
		{update("router", "router/east-1", "metadata", "x"), 501, "Operation 'UPDATE' not implemented for 'io.skupper.router.router' ['READ']"},
		{update("network", "network/0", "networkId", "x"), 0, ""},
		{update("log", "log/ROUTER_CORE", "enable", "debug+"), 0, ""},
		{update("log", "log/ROUTER_CORE", "enable", nil), 0, ""},
		{update("log", "log/ROUTER_CORE", "enable", "silly"), 500, "'silly' is not a valid log level. Should be one of {none, debug, info, warning, error, critical}."},
		{update("log", "ROUTER_CORE", "enable", "info+"), 400, "Entity type 'io.skupper.router.logStats' does not extend requested type 'io.skupper.router.log'"},
		{create("address", "adr", "prefix", "mc", "distribution", "multicast"), 0, ""},
		{create("address", "adr", "prefix", "other", "distribution", "multicast"), 400, "Name conflicts with an existing entity"},
		{create("address", "adr2", "prefix", "mc"), 400, "Already exists"},
		{create("address", "adr2", "distribution", "multicast"), 400, "Either a 'prefix' or 'pattern' attribute must be provided"},
		{create("address", "", "prefix", "named by us"), 0, ""},
		{remove("address", "address/named by us"), 0, ""},
		{remove("address", "adr"), 0, ""},
		{remove("address", "adr"), 404, "Not Found"},
		{create("nosuch", "n"), 400, "No such entity type 'io.skupper.router.nosuch'"},
		{remove("tcpListener", "l"), 0, ""},
	}
	requests := make([]router.Request, len(tests))
	for i, test := range tests {
		requests[i] = test.request
	}
	for i, err := range s.client.Do(t.Context(), requests) {
		test := tests[i]
		var refused *Error
		switch {
		case test.code == 0 && err == nil:
		case test.code == 0 || err == nil:
			t.Errorf("%v %v: got error %v, want %d", test.request, test.request.Entity.Attributes, err, test.code)
		case !errors.As(err, &refused) || refused.Code != test.code || !strings.Contains(refused.Description, test.description):
			t.Errorf("%v %v: got error %v, want %d %q", test.request, test.request.Entity.Attributes, err, test.code, test.description)
		}
	}
}

// TestStates has what comes of a CREATE that the router has taken.
func TestStates(t *testing.T) {
	s := newSite(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for i, err := range s.client.Do(t.Context(), []router.Request{
		create("tcpListener", "taken", "host", "127.0.0.1", "port", port, "address", "db"),
		create("tcpListener", "elsewhere", "host", "192.0.2.77", "port", port, "address", "db"),
		create("tcpListener", "fine", "host", "127.0.0.1", "port", freePort(t), "address", "db"),
		create("tcpListener", "unserved", "host", "127.0.0.1", "port", freePort(t), "address", "nobody"),
		create("tcpListener", "high", "host", "127.0.0.1", "port", beyond(t), "address", "db"),
	}) {
		if err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	s.state("fine", "down", false)
	for _, err := range s.client.Do(t.Context(), []router.Request{create("tcpConnector", "c", "host", "127.0.0.1", "port", echo(t), "address", "db")}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, want := s.state("taken", "down", true), "Address already in use - listen on 127.0.0.1:"+port; got != want {
		t.Errorf("taken: got %q, want %q", got, want)
	}
	if got, want := s.state("elsewhere", "down", true), "Cannot assign requested address - listen on 192.0.2.77:"+port; got != want {
		t.Errorf("elsewhere: got %q, want %q", got, want)
	}
	s.state("fine", "up", false)
	s.state("high", "up", false)
	s.state("unserved", "down", false)
	for _, err := range s.client.Do(t.Context(), []router.Request{remove("tcpConnector", "c")}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.state("fine", "down", false)
}

// beyond returns a port that is none, but is free if only 16 bits of it are looked at.
func beyond(t *testing.T) string {
	port, err := strconv.Atoi(freePort(t))
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port + 1<<16)
}
