package hooks

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/engine"
)

// listen takes a free port and the one after it is returned free, as far as one can know.
func listen(t *testing.T) (port int) {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		next, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+1))
		if err != nil {
			l.Close()
			continue
		}
		next.Close()
		t.Cleanup(func() { l.Close() })
		return port
	}
	t.Fatal("no two ports in a row are free")
	return 0
}

func TestRangeTakesTheFirstFreePortAndKeepsIt(t *testing.T) {
	port := listen(t)
	first, second := strconv.Itoa(port), strconv.Itoa(port+1)
	flags := " --publish 127.0.0.1:" + first + "-" + second + ":80/tcp"
	m := &memory{}
	h := newHooks(t, m)
	install(t, h, genA, flags, "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	want := "127.0.0.1:" + second + ":80/tcp"
	if !slices.Contains(m.created[0], want) {
		t.Errorf("no %s in %q", want, m.created[0])
	}
	// The next generation takes the same port, although its predecessor still holds it.
	l, err := net.Listen("tcp", "127.0.0.1:"+second)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	install(t, h, genB, flags, "")
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.created[1], want) {
		t.Errorf("no %s in %q", want, m.created[1])
	}
}

func TestRangeLeavesPortsOfOthers(t *testing.T) {
	m := &memory{containers: []engine.Container{{ID: "db", Names: []string{"db"}, State: "exited",
		Labels: map[string]string{"io.sitelet.workload": "db"}, Ports: []engine.Port{{HostPort: 42000, ContainerPort: 1, Range: 2, Protocol: "tcp"}}}}}
	h := newHooks(t, m)
	install(t, h, genA, " --publish 127.0.0.1:42000-42003:80/tcp --publish=127.0.0.1:42000-42003:81/tcp", `,"Reserved":["tcp/42002"]`)
	err := h.Create(context.Background(), "web")
	if err == nil || !strings.Contains(err.Error(), "no port of 42000 to 42003/tcp is free") {
		t.Errorf("error: %v, made %q", err, m.created)
	}
	install(t, h, genA, " --publish 127.0.0.1:42000-42004:80/tcp --publish=127.0.0.1:42000-42004:81/tcp", `,"Reserved":["tcp/42002"]`)
	if err := h.Create(context.Background(), "web"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"127.0.0.1:42003:80/tcp", "--publish=127.0.0.1:42004:81/tcp"} {
		if !slices.Contains(m.created[0], want) {
			t.Errorf("no %s in %q", want, m.created[0])
		}
	}
}

func TestParseMapping(t *testing.T) {
	for text, want := range map[string]mapping{
		"0.0.0.0:80:8080/tcp":     {"0.0.0.0", 80, 80, 8080, "tcp"},
		"[::1]:8000-8010:53/udp":  {"[::1]", 8000, 8010, 53, "udp"},
		"10.0.0.1:1-65535:1/sctp": {"10.0.0.1", 1, 65535, 1, "sctp"},
	} {
		if got, err := parseMapping(text); err != nil || got != want {
			t.Errorf("parseMapping(%q) = %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "80:80", "80", "1.2.3.4:80:80", "1.2.3.4:80-70:80/tcp", "1.2.3.4:80-70000:80/tcp", "1.2.3.4:x:80/tcp"} {
		if got, err := parseMapping(text); err == nil {
			t.Errorf("parseMapping(%q) = %+v, want an error", text, got)
		}
	}
}
