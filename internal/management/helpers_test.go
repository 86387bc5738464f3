package management

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/test/standin/certs"
	"github.com/sitelet/sitelet/test/standin/skrouter"
)

// site is a router that runs with its local endpoint and more, and a client of it. SITELET_TEST_SKROUTERD=PROGRAM has the tests run
// against a real skrouterd, apart from those that need faults.
type site struct {
	t        testing.TB
	dir      string // has certs/NAME for each profile
	ca       *certs.CA
	port     string
	endpoint Endpoint
	faults   string
	client   *Client
	fixed    []router.Entity // what is there from the start
}

func newSite(t testing.TB, more ...router.Entity) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), ca: certs.New(t), port: freePort(t)}
	s.faults = filepath.Join(s.dir, "faults")
	for _, name := range []string{"skupper-local-server", "skupper-local-client", "a", "b"} {
		s.ca.Issue(t, filepath.Join(s.dir, "certs", name))
	}
	s.fixed = []router.Entity{
		{Type: "router", Attributes: attributes("id", "east-1", "mode", "interior")},
		s.profile("skupper-local-server"),
		{Type: "listener", Name: "skupper-local-normal", Attributes: attributes("role", "normal", "host", "127.0.0.1", "port", s.port,
			"sslProfile", "skupper-local-server", "saslMechanisms", "EXTERNAL", "authenticatePeer", true)},
	}
	s.start(append(s.fixed, more...))
	var err error
	if s.endpoint, err = Files("127.0.0.1:"+s.port, filepath.Join(s.dir, "certs", "skupper-local-client")); err != nil {
		t.Fatal(err)
	}
	s.dial()
	return s
}

func (s *site) dial() {
	s.t.Helper()
	var err error
	for range 100 {
		if s.client, err = Dial(s.t.Context(), s.endpoint); err == nil {
			s.t.Cleanup(func() { s.client.Close() })
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.t.Fatal(err)
}

func (s *site) start(entities []router.Entity) {
	s.t.Helper()
	var sections [][]any
	for _, e := range entities {
		attributes := map[string]any{}
		for _, a := range e.Attributes {
			attributes[a.Name] = a.Value
		}
		if e.Name != "" {
			attributes["name"] = e.Name
		}
		sections = append(sections, []any{e.Type, attributes})
	}
	configuration, err := json.Marshal(sections)
	if err != nil {
		s.t.Fatal(err)
	}
	program := os.Getenv("SITELET_TEST_SKROUTERD")
	if program == "" {
		r, err := skrouter.Start(configuration, skrouter.Options{Faults: s.faults})
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(r.Close)
		return
	}
	file := filepath.Join(s.dir, "skrouterd.json")
	if err := os.WriteFile(file, configuration, 0o600); err != nil {
		s.t.Fatal(err)
	}
	command := exec.Command(program, "-c", file)
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		command.Process.Signal(os.Interrupt)
		command.Wait()
	})
}

// profile is an sslProfile with the files that newSite made.
func (s *site) profile(name string) router.Entity {
	directory := filepath.Join(s.dir, "certs", name)
	return router.Entity{Type: "sslProfile", Name: name, Attributes: attributes("certFile", filepath.Join(directory, "tls.crt"),
		"privateKeyFile", filepath.Join(directory, "tls.key"), "caCertFile", filepath.Join(directory, "ca.crt"))}
}

// needFaults skips a test that a real router cannot do.
func (s *site) needFaults() {
	if os.Getenv("SITELET_TEST_SKROUTERD") != "" {
		s.t.Skip("a real router has no faults on request")
	}
}

// fail has faults, one a line, come with each request from now on.
func (s *site) fail(faults string) {
	s.t.Helper()
	if err := os.WriteFile(s.faults, []byte(faults), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) snapshot() []router.Entity {
	s.t.Helper()
	have, err := Snapshot(s.t.Context(), s.client)
	if err != nil {
		s.t.Fatal(err)
	}
	return have
}

// state waits for a tcpListener to be in a state, and returns its connectionMsg.
func (s *site) state(name, want string, message bool) string {
	s.t.Helper()
	deadline := time.Now().Add(3 * time.Second)
	for {
		listeners, err := query(s.t.Context(), s.client, "tcpListener")
		if err != nil {
			s.t.Fatal(err)
		}
		for _, l := range listeners {
			text, _ := l.Get("connectionMsg").(string)
			if l.Name == name && l.Get("operStatus") == want && (text != "") == message {
				return text
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is not %s in time: %v", name, want, listeners)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func attributes(pairs ...any) []router.Attribute {
	var list []router.Attribute
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, router.Attribute{Name: pairs[i].(string), Value: pairs[i+1]})
	}
	return list
}

func create(kind, name string, pairs ...any) router.Request {
	return router.Request{Operation: router.Create, Entity: router.Entity{Type: kind, Name: name, Attributes: attributes(pairs...)}}
}

func update(kind, name string, pairs ...any) router.Request {
	return router.Request{Operation: router.Update, Entity: router.Entity{Type: kind, Name: name, Attributes: attributes(pairs...)}}
}

func remove(kind, name string) router.Request {
	return router.Request{Operation: router.Delete, Entity: router.Entity{Type: kind, Name: name}}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// echo serves connections on a port of its own, and sends back what comes.
func echo(t testing.TB) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { conn.Close() })
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
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
