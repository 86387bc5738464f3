package skrouter

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/standin/certs"
)

// TestRefused has configurations that skrouterd does not start with, each with a part of what it says.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	ca := certs.New(t)
	ca.Issue(t, filepath.Join(dir, "a"))
	ca.Issue(t, filepath.Join(dir, "b"))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const (
		interior = `["router",{"id":"r","mode":"interior"}]`
		edge     = `["router",{"id":"r","mode":"edge"}]`
	)
	profile := func(ca, cert, key string) string {
		return fmt.Sprintf(`["sslProfile",{"name":"p","caCertFile":"%s/%s/ca.crt","certFile":"%[1]s/%[3]s/tls.crt","privateKeyFile":"%[1]s/%[4]s/tls.key"}]`, dir, ca, cert, key)
	}
	const tlsListener = `["listener",{"name":"l","host":"127.0.0.1","port":9,"sslProfile":"p"}]`
	tests := []struct{ name, configuration, want string }{
		{"empty", "", "EOF"},
		{"no JSON", "[" + interior, "unexpected EOF"},
		{"an object", "{}", "cannot unmarshal"},
		{"two values", "[][]", "more than one"},
		{"an entity that is none", `[["router"]]`, "no list of a type and attributes"},
		{"an unknown type", "[" + interior + `,["nosuch",{}]]`, "No such entity type 'io.skupper.router.nosuch'"},
		{"a type that only reports", "[" + interior + `,["connection",{}]]`, "No such entity type"},
		{"an unknown attribute", "[" + interior + `,["tcpListener",{"prt":"1"}]]`, "Unknown attribute 'prt' for 'io.skupper.router.tcpListener'"},
		{"a value that is none", "[" + interior + `,["tcpListener",{"port":"9","address":"a","observer":"x"}]]`, "Invalid value for enum['none', 'auto', 'http1', 'http2']: 'x'"},
		{"no port", "[" + interior + `,["tcpListener",{"name":"l","address":"a"}]]`, "KeyError: ('port',)"},
		{"no address", "[" + interior + `,["tcpConnector",{"name":"l","port":"9"}]]`, "Address must be set"},
		{"two addresses", "[" + interior + `,["tcpListener",{"port":"9","address":"a","multiAddressStrategy":"priority"}]]`, "Exactly one of the 'address'"},
		{"a port that is none", "[" + interior + `,["tcpListener",{"port":"99999","address":"a"}]]`, "the port '99999' is none"},
		{"a port that is no number", "[" + interior + `,["connector",{"port":"http","role":"normal"}]]`, "the port 'http' is none"},
		{"a cost of 0", "[" + interior + `,["connector",{"port":"9","role":"inter-router","cost":0}]]`, "Invalid cost (0) specified"},
		{"a cost that is no number", "[" + interior + `,["connector",{"port":"9","role":"inter-router","cost":"x"}]]`, "invalid literal for int()"},
		{"one name twice", "[" + interior + `,["tcpListener",{"name":"x","port":"9","address":"a"}],["tcpConnector",{"name":"x","port":"9","address":"a"}]]`, "duplicates unique attribute 'name'"},
		{"an unknown profile", "[" + interior + `,["tcpListener",{"port":"9","address":"a","sslProfile":"q"}]]`, "sslProfile 'q' not found"},
		{"an unknown proxy", "[" + interior + `,["connector",{"port":"9","role":"inter-router","proxyProfile":"q"}]]`, "proxyProfile 'q' not found"},
		{"no CA file", "[" + interior + "," + profile("nope", "a", "a") + "," + tlsListener + "]", "Failed to configure TLS caCertFile"},
		{"no certificate file", "[" + interior + "," + profile("a", "nope", "a") + "," + tlsListener + "]", "Failed to configure TLS certFile"},
		{"a key that does not fit", "[" + interior + "," + profile("a", "a", "b") + "," + tlsListener + "]", "Failed to configure TLS certFile"},
		{"a listener without certificate", "[" + interior + `,["sslProfile",{"name":"p","caCertFile":"` + dir + `/a/ca.crt"}],` + tlsListener + "]", "requires a self-identifying certificate"},
		{"an address in use", "[" + interior + fmt.Sprintf(`,["listener",{"name":"l","host":"127.0.0.1","port":%d}]]`, taken.Addr().(*net.TCPAddr).Port), "Address already in use - listen on 127.0.0.1:"},
		{"an edge router that takes links", "[" + edge + `,["listener",{"port":"9","role":"inter-router"}]]`, "only allowed with router mode='interior'"},
		{"an edge router that takes edges", "[" + edge + `,["listener",{"port":"9","role":"edge"}]]`, "only allowed with router mode='interior'"},
		{"two routers", "[" + interior + "," + interior + "]", "singleton"},
		{"two sites", "[" + interior + `,["site",{"name":"a"}],["site",{"name":"b"}]]`, "duplicates unique attribute 'identity'"},
		{"an id with a space", `[["router",{"id":"On Prem"}]]`, "containing character ' ' in id 'On Prem' is disallowed"},
		{"an id with a bar", `[["router",{"id":"a|b"}]]`, "illegal character"},
		{"an address of no listener", "[" + interior + `,["listenerAddress",{"address":"a","value":1,"listener":"no"}]]`, "Listener for new address does not exist no"},
		{"an unknown module", "[" + interior + `,["log",{"module":"NOPE","enable":"info+"}]]`, "Invalid value for enum['ROUTER', "},
		{"an unknown level", "[" + interior + `,["log",{"module":"SERVER","enable":"silly"}]]`, "'silly' is not a valid log level"},
		{"another site", `[["router",{"id":"r","metadata":"{\"id\":\"other\"}"}]]`, "SKUPPER_SITE_ID is mine, but"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := Start([]byte(test.configuration), Options{SiteID: "mine"})
			if err == nil {
				r.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestTaken has what skrouterd starts with all the same.
func TestTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, configuration := range []string{
		"[]",
		"# a comment\n[[\"router\",{}]]",
		`[["router",{"metadata":"{\"id\":\"mine\"}"}],["sslProfile",{"name":"p","caCertFile":"/nope"}]]`,
		fmt.Sprintf(`[["tcpConnector",{"name":"c","port":"9","address":"a"}],["tcpListener",{"name":"l","host":"127.0.0.1","port":"%d","address":"a"}]]`, taken.Addr().(*net.TCPAddr).Port),
		`[["address",{"prefix":"mc"}],["address",{"prefix":"mc"}],["address",{}]]`,
	} {
		r, err := Start([]byte(configuration), Options{SiteID: "mine"})
		if err != nil {
			t.Errorf("%s: %v", configuration, err)
			continue
		}
		r.Close()
	}
}

func TestExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"A": "1", "B_2": "two"}[name]
		return value, ok
	}
	const in = "x $A ${B_2}\n# $A\n${NONE} $NONE $ ${A $B_2x\n"
	const want = "x 1 two\n# $A\n${NONE} $NONE $ ${A $B_2x\n"
	if got := string(Expand([]byte(in), lookup)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// start runs a router of entities that are each `"type",{attributes}`.
func start(t *testing.T, entities ...string) *Router {
	t.Helper()
	r, err := Start([]byte("[["+strings.Join(entities, "],[")+"]]"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// read returns attributes of an entity as they are now.
func (r *Router) read(kind, name string) map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.find(kind, name)
	if e == nil {
		return nil
	}
	e.refresh()
	return e.frozen().attributes
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in time", what)
		}
	}
}

// server says its name to each client, and then back what the client says, in capitals, until that has said all.
func server(t *testing.T, name string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.WriteString(conn, name+":")
				text, _ := io.ReadAll(conn)
				conn.Write(bytes.ToUpper(text))
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// ask says a text, which is a large one, and returns all that comes back.
func ask(conn net.Conn, text string) (string, error) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

func dial(t *testing.T, port string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestForward(t *testing.T) {
	port, text := freePort(t), strings.Repeat("x", 1<<20)
	r := start(t,
		`"tcpConnector",{"name":"c","host":"127.0.0.1","port":"`+server(t, "db")+`","address":"db"}`,
		`"tcpListener",{"name":"l","host":"127.0.0.1","port":"`+port+`","address":"db"}`,
		`"tcpListener",{"name":"m","host":"127.0.0.1","port":"`+freePort(t)+`","address":"nobody"}`)
	got, err := ask(dial(t, port), text)
	if err != nil || got != "db:"+strings.ToUpper(text) {
		t.Errorf("%d bytes come back: %v", len(got), err)
	}
	wait(t, "the connection ends", func() bool { return r.read("tcpListener", "l")["connectionsClosed"] == int64(1) })
	l, c := r.read("tcpListener", "l"), r.read("tcpConnector", "c")
	if l["operStatus"] != "up" || l["connectionsOpened"] != int64(1) || l["bytesIn"] != int64(1<<20) || l["bytesOut"] != int64(1<<20+3) {
		t.Errorf("the listener reports %v", l)
	}
	if c["connectionsOpened"] != int64(2) || c["connectionsClosed"] != int64(1) {
		t.Errorf("the connector reports %v", c)
	}
	if m := r.read("tcpListener", "m"); m["operStatus"] != "down" || m["connectionMsg"] != "" {
		t.Errorf("a listener for nobody reports %v", m)
	}
}

func TestMultiAddress(t *testing.T) {
	first, second := freePort(t), freePort(t)
	r := start(t,
		`"tcpConnector",{"name":"a","host":"127.0.0.1","port":"`+server(t, "a")+`","address":"a"}`,
		`"tcpConnector",{"name":"b","host":"127.0.0.1","port":"`+server(t, "b")+`","address":"b"}`,
		`"tcpListener",{"name":"p","host":"127.0.0.1","port":"`+first+`","multiAddressStrategy":"priority"}`,
		`"listenerAddress",{"name":"p/a","address":"a","value":0,"listener":"p"}`,
		`"listenerAddress",{"name":"p/b","address":"b","value":2,"listener":"p"}`,
		`"listenerAddress",{"name":"p/c","address":"nobody","value":3,"listener":"p"}`,
		`"tcpListener",{"name":"w","host":"127.0.0.1","port":"`+second+`","multiAddressStrategy":"weighted"}`,
		`"listenerAddress",{"name":"w/a","address":"a","value":1,"listener":"w"}`,
		`"listenerAddress",{"name":"w/b","address":"b","value":3,"listener":"w"}`)
	count := make(map[string]int)
	for range 100 {
		for _, port := range []string{first, second} {
			got, err := ask(dial(t, port), "x")
			if err != nil {
				t.Fatal(err)
			}
			count[map[string]string{first: "p", second: "w"}[port]+got]++
		}
	}
	if count["pb:X"] != 100 {
		t.Errorf("of 100 by priority, %d go to the first", count["pb:X"])
	}
	if n := count["wb:X"]; n < 50 || n > 95 {
		t.Errorf("of 100 by weight, %d go to the one of 3/4", n)
	}
	if got := r.read("listenerAddress", "p/b")["connectionsOpened"]; got != int64(100) {
		t.Errorf("the address reports %v connections", got)
	}
}

// TestTLS has TLS from the client to the listener, and from the connector to the server, which is a listener too.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	certs.New(t).Issue(t, filepath.Join(dir, "p"), "db.example.com")
	certs.New(t).Issue(t, filepath.Join(dir, "q"))
	profile := func(name, file string) string {
		return fmt.Sprintf(`"sslProfile",{"name":"%s","caCertFile":"%s/ca.crt","certFile":"%[2]s/tls.crt","privateKeyFile":"%[2]s/tls.key"}`, name, filepath.Join(dir, file))
	}
	outer, inner, wrong := freePort(t), freePort(t), freePort(t)
	start(t, profile("p", "p"), profile("q", "q"),
		`"tcpConnector",{"name":"c","host":"127.0.0.1","port":"`+server(t, "db")+`","address":"db"}`,
		`"tcpListener",{"name":"inner","host":"127.0.0.1","port":"`+inner+`","address":"db","sslProfile":"p","authenticatePeer":true}`,
		`"tcpConnector",{"name":"d","host":"127.0.0.1","port":"`+inner+`","address":"far","sslProfile":"p"}`,
		`"tcpListener",{"name":"outer","host":"127.0.0.1","port":"`+outer+`","address":"far","sslProfile":"p"}`,
		`"tcpConnector",{"name":"e","host":"127.0.0.1","port":"`+inner+`","address":"wrong","sslProfile":"q","verifyHostname":false}`,
		`"tcpListener",{"name":"wrong","host":"127.0.0.1","port":"`+wrong+`","address":"wrong"}`)
	pem, err := os.ReadFile(filepath.Join(dir, "p", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	conn := tls.Client(dial(t, outer), &tls.Config{RootCAs: pool, ServerName: "db.example.com"})
	if got, err := ask(conn, "x"); err != nil || got != "db:X" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := ask(tls.Client(dial(t, inner), &tls.Config{RootCAs: pool, ServerName: "localhost"}), "x"); err == nil {
		t.Errorf("without a client certificate: %q", got)
	}
	if got, _ := ask(dial(t, wrong), "x"); got != "" {
		t.Errorf("with another CA: %q", got)
	}
}

// TestLink links two routers, and serves addresses of each at the other.
func TestLink(t *testing.T) {
	for _, role := range []string{"inter-router", "edge"} {
		t.Run(role, func(t *testing.T) {
			dir := t.TempDir()
			certs.New(t).Issue(t, filepath.Join(dir, "p"))
			profile := fmt.Sprintf(`"sslProfile",{"name":"p","caCertFile":"%s/p/ca.crt","certFile":"%[1]s/p/tls.crt","privateKeyFile":"%[1]s/p/tls.key"}`, dir)
			access, atEast, atWest := freePort(t), freePort(t), freePort(t)
			mode := map[string]string{"inter-router": "interior", "edge": "edge"}[role]
			west := start(t, `"router",{"id":"west","mode":"`+mode+`"}`, profile,
				`"connector",{"name":"to-east","role":"`+role+`","host":"127.0.0.1","port":"`+access+`","cost":2,"sslProfile":"p"}`,
				`"tcpConnector",{"name":"c","host":"127.0.0.1","port":"`+server(t, "west")+`","address":"of west"}`,
				`"tcpListener",{"name":"l","host":"127.0.0.1","port":"`+atWest+`","address":"of east"}`)
			wait(t, "the connector reports", func() bool {
				message, _ := west.read("connector", "to-east")["connectionMsg"].(string)
				return strings.HasSuffix(message, "Connection refused - disconnected 127.0.0.1:"+access)
			})
			east := start(t, `"router",{"id":"east","mode":"interior"}`, profile,
				`"listener",{"name":"go","role":"`+role+`","host":"127.0.0.1","port":"`+access+`","sslProfile":"p","saslMechanisms":"EXTERNAL","authenticatePeer":true}`,
				`"tcpConnector",{"name":"c","host":"127.0.0.1","port":"`+server(t, "east")+`","address":"of east"}`,
				`"tcpListener",{"name":"l","host":"127.0.0.1","port":"`+atEast+`","address":"of west"}`)
			up := func(r *Router) func() bool {
				return func() bool { return r.read("tcpListener", "l")["operStatus"] == "up" }
			}
			wait(t, "west reaches east", up(west))
			wait(t, "east reaches west", up(east))
			text := strings.Repeat("x", 1<<18)
			for range 3 {
				if got, err := ask(dial(t, atWest), text); err != nil || got != "east:"+strings.ToUpper(text) {
					t.Errorf("east answers %d bytes, %v", len(got), err)
				}
				if got, err := ask(dial(t, atEast), text); err != nil || got != "west:"+strings.ToUpper(text) {
					t.Errorf("west answers %d bytes, %v", len(got), err)
				}
			}
			if c := west.read("connector", "to-east"); c["connectionStatus"] != "SUCCESS" || !strings.HasSuffix(c["connectionMsg"].(string), "container_id=east") {
				t.Errorf("the link reports %v", c)
			}
			if got, want := nodes(t, west), map[string]string{"inter-router": `["west","east"]`, "edge": `null`}[role]; got != want {
				t.Errorf("west knows %s, want %s", got, want)
			}
			if got, want := nodes(t, east), map[string]string{"inter-router": `["east","west"]`, "edge": `["east"]`}[role]; got != want {
				t.Errorf("east knows %s, want %s", got, want)
			}
			east.Close()
			wait(t, "the listener goes down", func() bool { return !up(west)() })
		})
	}
}

func nodes(t *testing.T, r *Router) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, node := range r.nodes() {
		ids = append(ids, node["id"].(string))
	}
	b, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestClose ends all at once, whatever goes on.
func TestClose(t *testing.T) {
	port := freePort(t)
	r := start(t,
		`"tcpConnector",{"name":"c","host":"127.0.0.1","port":"`+server(t, "db")+`","address":"db"}`,
		`"tcpListener",{"name":"l","host":"127.0.0.1","port":"`+port+`","address":"db"}`)
	conn := dial(t, port)
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r.Close()
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is still there: %v", err)
	}
	if l, err := net.Listen("tcp", "127.0.0.1:"+port); err != nil {
		t.Error(err)
	} else {
		l.Close()
	}
}
