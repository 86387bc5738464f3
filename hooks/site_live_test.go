package hooks

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/test/standin/certs"
	"github.com/sitelet/sitelet/test/standin/skrouter"
)

// live is a site whose router runs in the test's own process.
type live struct {
	Hooks
	asked []string // what the router was asked for since the last sync
}

// liveSite starts the router of what put has written.
func liveSite(t *testing.T) *live {
	t.Helper()
	l := &live{Hooks: siteHooks(t)}
	l.Log = func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		t.Log(text)
		if request, ok := strings.CutPrefix(text, "namespace ns1: "); ok {
			l.asked = append(l.asked, request)
		}
	}
	// Without a container, so that the router finds its certificates where they are.
	if err := errors.Join(os.MkdirAll(filepath.Dir(l.Paths.ConfigFile), 0o755), os.WriteFile(l.Paths.ConfigFile, []byte("platform = \"linux\"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	// Other tests look for free ports meanwhile, and begin where this would.
	record := state.Site{Namespace: "ns1", ID: siteID, Suffix: siteSuffix, Ports: []state.Port{{Name: state.LocalPort, Port: uint16(freePort(t))}}}
	if err := errors.Join(os.MkdirAll(l.Paths.StateDir, 0o755), l.store().WriteSite(record)); err != nil {
		t.Fatal(err)
	}
	seed(t, l.Hooks, "ns1")
	return l
}

func (l *live) start(t *testing.T) *skrouter.Router {
	t.Helper()
	if err := l.prepareSite(t.Context(), "ns1"); err != nil {
		t.Fatal(err)
	}
	r, err := skrouter.Start(configText(t, l.Hooks), skrouter.Options{SiteID: mustRecord(t, l.Hooks).ID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := l.StartedSite(t.Context(), "ns1"); err != nil {
		t.Fatal(err)
	}
	l.wants(t)
	return r
}

// wants compares what the router was asked for with what it should have been.
func (l *live) wants(t *testing.T, requests ...string) {
	t.Helper()
	if !slices.Equal(l.asked, requests) {
		t.Errorf("asked for %q, want %q", l.asked, requests)
	}
	l.asked = nil
}

func (l *live) sync(t *testing.T) {
	t.Helper()
	if err := l.SyncSite(t.Context(), "ns1"); err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestLive changes a site under a router that runs. An open connection through a listener that does not change survives it all: good
// changes, mistakes, and the state that a restart of the reload finds (skupperproject/skupper#2504, #1661, #1727).
func TestLive(t *testing.T) {
	l := liveSite(t)
	ca := certs.New(t)
	web := filepath.Join(l.home("ns1"), "input/certs/web")
	ca.Issue(t, web)
	service, a, b, c := freePort(t), freePort(t), freePort(t), freePort(t)
	echo(t, service)
	listener := func(name string, port int, more string) string {
		return resourceText("Listener", name, fmt.Sprintf("host: 127.0.0.1, port: %d, routingKey: k%s", port, more))
	}
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, l.Hooks, "resources/a.yaml", listener("a", a, ""))
	put(t, l.Hooks, "resources/b.yaml", listener("b", b, ", tlsCredentials: web"))
	put(t, l.Hooks, "resources/db.yaml", resourceText("Connector", "db", fmt.Sprintf("host: 127.0.0.1, port: %d, routingKey: k", service)))
	l.start(t)
	conn := talk(t, a)
	for _, step := range []struct {
		name   string
		change func()
		want   []string
		status string // of which resource
		text   string // that is in it
	}{
		{"nothing", func() {}, nil, "Listener-a", "type: Configured"},
		{"a listener", func() { put(t, l.Hooks, "resources/c.yaml", listener("c", c, "")) }, []string{"create tcpListener listener/c"}, "Listener-c", "status: Ready"},
		{"a mistake in it", func() { put(t, l.Hooks, "resources/c.yaml", listener("c", c, ", observr: none")) }, nil, "Listener-c", "What ran before goes on."},
		{"a mistake in all", func() {
			put(t, l.Hooks, "resources/a.yaml", "{")
			put(t, l.Hooks, "resources/b.yaml", listener("b", a, ", tlsCredentials: web"))
			put(t, l.Hooks, "resources/db.yaml", resourceText("Connector", "db", "host: 127.0.0.1, port: none, routingKey: k"))
			put(t, l.Hooks, "certs/web/tls.crt", "nonsense")
		}, nil, "Listener-b", "What ran before goes on."},
		{"all right again, with a new certificate", func() {
			put(t, l.Hooks, "resources/a.yaml", listener("a", a, ""))
			put(t, l.Hooks, "resources/b.yaml", listener("b", b, ", tlsCredentials: web"))
			put(t, l.Hooks, "resources/c.yaml", listener("c", c, ""))
			put(t, l.Hooks, "resources/db.yaml", resourceText("Connector", "db", fmt.Sprintf("host: 127.0.0.1, port: %d, routingKey: k", service)))
			ca.Issue(t, web)
		}, []string{"update sslProfile web"}, "Listener-b", "status: Ready"},
		{"it gone", func() { unput(t, l.Hooks, "resources/c.yaml") }, []string{"delete tcpListener listener/c"}, "Listener-c", ""},
	} {
		step.change()
		l.sync(t)
		l.wants(t, step.want...)
		l.sync(t)
		l.wants(t)
		if text := status(l.Hooks, step.status); !strings.Contains(text, step.text) || step.text == "" && text != "" {
			t.Errorf("%s: the status is\n%s", step.name, text)
		}
		if _, err := fmt.Fprintln(conn, step.name); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := line(t, conn); got != step.name {
			t.Fatalf("%s: the connection answers %q", step.name, got)
		}
	}
}

// TestLiveImpossible has a router start, and be synced, while its site has become impossible: it goes on with what it had.
func TestLiveImpossible(t *testing.T) {
	l := liveSite(t)
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, l.Hooks, "resources/a.yaml", listenerText("a", freePort(t)))
	l.start(t).Close()
	put(t, l.Hooks, "resources/second.yaml", resourceText("Site", "t", ""))
	l.asked = nil
	if err := l.prepareSite(t.Context(), "ns1"); err != nil {
		t.Fatal(err)
	}
	r, err := skrouter.Start(configText(t, l.Hooks), skrouter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := l.StartedSite(t.Context(), "ns1"); err != nil {
		t.Errorf("the router would not start: %v", err)
	}
	if err := l.SyncSite(t.Context(), "ns1"); err == nil || !strings.Contains(err.Error(), "`sitelet check` says which") {
		t.Errorf("a reload says %v", err)
	}
	unput(t, l.Hooks, "resources/second.yaml")
	l.asked = nil
	l.sync(t)
	l.wants(t)
}

// echo serves a port that answers with what it gets.
func echo(t *testing.T, port int) {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
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
				buffer := make([]byte, 1024)
				for {
					n, err := conn.Read(buffer)
					if err != nil {
						return
					}
					conn.Write(buffer[:n])
				}
			}()
		}
	}()
}

// talk opens a connection, and makes sure that it is one.
func talk(t *testing.T, port int) net.Conn {
	t.Helper()
	for range 100 {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			fmt.Fprintln(conn, "hello")
			if got := line(t, conn); got != "hello" {
				t.Fatalf("it answers %q", got)
			}
			return conn
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("nobody listens on %d", port)
	return nil
}

func line(t *testing.T, conn net.Conn) string {
	t.Helper()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	var text []byte
	for b := make([]byte, 1); ; text = append(text, b[0]) {
		if _, err := conn.Read(b); err != nil {
			t.Fatal(err)
		}
		if b[0] == '\n' {
			return string(text)
		}
	}
}

// TestLivePortMoves has a port go from one listener of the router to another of another name: that the router has it is no reason to
// leave the other one out. One that somebody else has still is.
func TestLivePortMoves(t *testing.T) {
	l := liveSite(t)
	port, other := freePort(t), freePort(t)
	access := func(name string, port int) {
		put(t, l.Hooks, "resources/access.yaml", resourceText("RouterAccess", name,
			fmt.Sprintf("roles: [{name: inter-router, port: %d}], bindHost: 127.0.0.1, tlsCredentials: tls", port)))
	}
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	access("a", port)
	l.start(t)
	access("b", port)
	l.sync(t)
	l.wants(t, "delete listener a-inter-router", "update sslProfile tls", "create listener b-inter-router")

	echo(t, other)
	access("c", other)
	if err := l.SyncSite(t.Context(), "ns1"); err == nil || !strings.Contains(err.Error(), "create listener c-inter-router: address already in use") {
		t.Error(err)
	}
	l.wants(t, "delete listener b-inter-router", "update sslProfile tls")

	put(t, l.Hooks, "resources/access.yaml", resourceText("RouterAccess", "d", fmt.Sprintf("roles: [{name: inter-router, port: %d}], bindHost: 192.0.2.5", port)))
	if err := l.SyncSite(t.Context(), "ns1"); err == nil || !strings.Contains(err.Error(), "create listener d-inter-router: cannot assign requested address: write one that this host has") {
		t.Error(err)
	}
}

// TestAskKeeps has a status that was asked for be in runtime/resources too: a link comes up when nobody reloads. What the router has
// yet to take up it can say nothing of.
func TestAskKeeps(t *testing.T) {
	l := liveSite(t)
	port := freePort(t)
	put(t, l.Hooks, "resources/all.yaml", resourceText("Site", "s", "")+
		resourceText("Listener", "a", fmt.Sprintf("host: 127.0.0.1, port: %d, routingKey: k", freePort(t)))+
		resourceText("Connector", "c", fmt.Sprintf("host: 127.0.0.1, port: %d, routingKey: k", port)))
	l.start(t)
	path := filepath.Join(l.home("ns1"), "runtime/resources/Listener-a.yaml")
	ask := func() {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if state, err := l.AskSite(t.Context(), "ns1"); err != nil || !state.Answers {
			t.Fatalf("%v %+v", err, state)
		}
	}
	if ask(); !strings.Contains(status(l.Hooks, "Listener-a"), "status: Ready") {
		t.Errorf("the status is\n%s", status(l.Hooks, "Listener-a"))
	}
	if !strings.Contains(status(l.Hooks, "Connector-c"), "hasMatchingListener: true") {
		t.Errorf("the status is\n%s", status(l.Hooks, "Connector-c"))
	}
	unlock, err := l.lock("site-ns1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if ask(); status(l.Hooks, "Listener-a") != "" {
		t.Error("somebody else is at the files")
	}
	unlock()
	put(t, l.Hooks, "resources/b.yaml", listenerText("b", freePort(t)))
	if ask(); status(l.Hooks, "Listener-a")+status(l.Hooks, "Listener-b") != "" {
		t.Errorf("the status of what the router has not got is\n%s", status(l.Hooks, "Listener-b"))
	}
}

// TestConnected has a Connector be matched once a listener of another site has used it.
func TestConnected(t *testing.T) {
	set := parseSite("ns1", resourceText("Site", "s", "")+resourceText("Connector", "c", "host: h, port: 1, routingKey: k"))
	for opened, want := range []int{0, 0, 1} {
		o := observed{entities: []router.Entity{{Type: "tcpConnector", Name: "connector/c@h", Attributes: []router.Attribute{{Name: "connectionsOpened", Value: opened}}}}}
		if all := connected(set, set.Connectors[0], &o); len(all) != 1+want {
			t.Errorf("after %d connections: %+v", opened, all)
		}
	}
}

// TestLiveTakenAtStart has a router start when somebody else has the port of a listener for links, of which it says nothing: the
// RouterAccess says so, and has its listener by the first reload after that.
func TestLiveTakenAtStart(t *testing.T) {
	l := liveSite(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	put(t, l.Hooks, "resources/all.yaml", resourceText("Site", "s", "")+resourceText("RouterAccess", "a",
		fmt.Sprintf("roles: [{name: inter-router, port: %d}], bindHost: 127.0.0.1", taken.Addr().(*net.TCPAddr).Port)))
	if err := l.prepareSite(t.Context(), "ns1"); err != nil {
		t.Fatal(err)
	}
	r, err := skrouter.Start(configText(t, l.Hooks), skrouter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := l.StartedSite(t.Context(), "ns1"); err != nil {
		t.Fatal(err)
	}
	if text := status(l.Hooks, "RouterAccess-a"); !strings.Contains(text, "the router says: address already in use") {
		t.Errorf("the status is\n%s", text)
	}
	if err := l.SyncSite(t.Context(), "ns1"); err == nil {
		t.Error("a reload succeeds without it")
	}
	taken.Close()
	l.asked = nil
	l.sync(t)
	l.wants(t, "create listener a-inter-router")
	if conn, err := net.Dial("tcp", taken.Addr().String()); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	l.sync(t)
	l.wants(t)
}
