package doctor

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/site"
)

// A table of /proc/net: nginx on all addresses at 80, something on 127.0.0.1:8080, a connection, and the router's 127.0.0.1:5671.
const (
	netTCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1001 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1002 1 0000000000000000 100 0 0 10 0
   2: 0100007F:2328 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 1003 1 0000000000000000 100 0 0 10 0
   3: 0100007F:1627 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1004 1 0000000000000000 100 0 0 10 0
`
	netUDP = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
    0: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 2001 2 0000000000000000 0
`
)

func TestListeners(t *testing.T) {
	p := below(t, paths.System, map[string]string{"/proc/net/tcp": netTCP, "/proc/net/udp": netUDP, "/proc/42/comm": "nginx\n",
		"/proc/42/cgroup": "0::/system.slice/nginx.service\n", "/proc/42/fd/none": "", "/proc/43/comm": "router\n",
		"/proc/43/cgroup": "0::/user.slice/user-4294967294.slice/user@4294967294.service/app.slice/skupper-east.service/container\n", "/proc/43/fd/none": ""})
	for link, target := range map[string]string{"/proc/42/fd/3": "socket:[1001]", "/proc/43/fd/5": "socket:[1004]"} {
		if err := os.Symlink(target, p.Below(link)); err != nil {
			t.Fatal(err)
		}
	}
	l := lookAtListeners(p)
	if l.err != nil || len(l.all) != 4 {
		t.Fatalf("got %v, %v", l.all, l.err)
	}
	for i, want := range []struct {
		address string
		udp     bool
		holder  holder
	}{
		{"0.0.0.0:80", false, holder{pid: 42, name: "nginx", unit: "nginx.service"}},
		{"127.0.0.1:8080", false, holder{uid: 1000}},
		{"127.0.0.1:5671", false, holder{pid: 43, name: "router", unit: "skupper-east.service", ofUser: true, owner: "4294967294"}},
		{"0.0.0.0:53", true, holder{}},
	} {
		got := l.all[i]
		if address := netip.AddrPortFrom(got.Addr, got.Port).String(); address != want.address || got.udp != want.udp || l.holderOf(got) != want.holder {
			t.Errorf("got %s, %v, %+v; want %+v", address, got.udp, l.holderOf(got), want)
		}
	}
	if l := lookAtListeners(below(t, paths.System, nil)); l.err == nil {
		t.Error("without /proc there is no error")
	}
}

func TestPlace(t *testing.T) {
	for _, test := range []struct {
		group string
		want  holder
	}{
		{"/", holder{}},
		{"/system.slice/web.service/supervisor", holder{unit: "web.service"}},
		{"/machine.slice/libpod-0123456789abcdef.scope/container", holder{unit: "libpod-0123456789abcdef.scope"}},
		{"/system.slice/docker-0123.scope", holder{unit: "docker-0123.scope", docker: true}},
		{"/docker/0123", holder{docker: true}},
		{"/user.slice/user-4294967294.slice/session-1.scope", holder{unit: "session-1.scope"}},
		{"/user.slice/user-4294967294.slice/user@4294967294.service/app.slice/web.service/x", holder{unit: "web.service", ofUser: true, owner: "4294967294"}},
	} {
		var got holder
		if got.place(test.group); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.group, got, test.want)
		}
	}
}

func TestPorts(t *testing.T) {
	loop := netip.MustParseAddr("127.0.0.1")
	web := wantedPort{Socket: site.Socket{Addr: loop, Port: 8080, Owner: "the container web"}, last: 8080, service: "web.service"}
	listening := func(addr string, h holder) listeners {
		return listeners{all: []listener{{Socket: site.Socket{Addr: netip.MustParseAddr(addr), Port: 8080}}}, holderOf: func(listener) holder { return h }}
	}
	nginx := holder{pid: 42, name: "nginx", unit: "nginx.service"}
	bobs := holder{pid: 42, name: "x\ny", unit: "app.service", ofUser: true, owner: "bob"}
	const which = "TCP port 127.0.0.1:8080, which the container web wants, is taken by "
	for _, test := range []struct {
		name   string
		wanted wantedPort
		l      listeners
		speak  speech
		want   Finding
	}{
		{"free", web, listeners{}, host, Finding{}},
		{"its own", web, listening("127.0.0.1", holder{pid: 1, unit: "web.service"}), host, Finding{}},
		{"its own, a user's", web, listening("127.0.0.1", holder{pid: 1, unit: "web.service", ofUser: true, owner: "alice"}), alices, Finding{}},
		{"another address", web, listening("127.0.0.2", nginx), host, Finding{}},
		{"of a range", wantedPort{Socket: web.Socket, last: 8090, service: "web.service"}, listening("127.0.0.1", nginx), host, Finding{}},
		{"another protocol", wantedPort{Socket: web.Socket, last: 8080, udp: true}, listening("127.0.0.1", nginx), host, Finding{}},
		{"Docker's", wantedPort{Socket: web.Socket, docker: true, service: "skupper-east.service"}, listening("127.0.0.1", holder{pid: 1, docker: true}), host, Finding{}},
		{"a service", web, listening("::", nginx), host, Finding{Level: Error, Message: which + "nginx, process 42 of nginx.service", Hint: "Run `systemctl stop nginx.service`, or choose another port."}},
		{"a service, seen by a user", web, listening("0.0.0.0", nginx), alices, Finding{Level: Error, Message: which + "nginx, process 42 of nginx.service", Hint: "As root, run `systemctl stop nginx.service`, or choose another port."}},
		{"the same name at the host's", web, listening("127.0.0.1", holder{pid: 7, name: "conmon", unit: "web.service"}), alices,
			Finding{Level: Error, Message: which + "conmon, process 7 of web.service", Hint: "As root, run `systemctl stop web.service`, or choose another port."}},
		{"a user's service", web, listening("127.0.0.1", bobs), host, Finding{Level: Error, Message: which + `x\ny, process 42 of app.service of user bob`,
			Hint: "Run `systemctl --user --machine=bob@ stop app.service`, or choose another port."}},
		{"a session", web, listening("127.0.0.1", holder{pid: 42, name: "nc", unit: "session-1.scope"}), host,
			Finding{Level: Error, Message: which + "nc, process 42 of session-1.scope", Hint: "Run `kill 42`, or choose another port."}},
		{"no unit", web, listening("127.0.0.1", holder{pid: 42, name: "nc"}), host, Finding{Level: Error, Message: which + "nc, process 42", Hint: "Run `kill 42`, or choose another port."}},
		{"a container", web, listening("127.0.0.1", holder{pid: 42, name: "conmon", unit: "libpod-conmon-" + strings.Repeat("0123456789abcdef", 4) + ".scope"}), host,
			Finding{Level: Error, Message: which + "conmon, process 42 of libpod-conmon-" + strings.Repeat("0123456789abcdef", 4) + ".scope", Hint: "Run `podman stop 0123456789ab`, or choose another port."}},
		{"unknown to a user", web, listening("127.0.0.1", holder{uid: 4294967294}), alices, Finding{Level: Error, Message: which + "a process of user 4294967294",
			Hint: "As root, run `sitelet doctor` to see which one it is, and end it, or choose another port."}},
		{"unknown to root", web, listening("127.0.0.1", holder{uid: 4294967294}), host, Finding{Level: Error, Message: which + "a process of user 4294967294",
			Hint: "No process has it open, so it is one of the kernel's own: end that, or choose another port."}},
		{"somebody asks about the host", web, listening("127.0.0.1", holder{}), speech{paths.System, User{"bob", 1001}}, Finding{Level: Note, Message: "only root sees who listens", Hint: "Run this as root."}},
	} {
		want := test.want
		if want == (Finding{}) {
			want = Finding{Level: OK, Message: "none of 1 port of containers and sites is taken by something else"}
		}
		expectFindings(t, test.name, checkPorts([]wantedPort{test.wanted}, test.l, test.speak), "ports", want)
	}
	expectFindings(t, "nothing wanted", checkPorts(nil, listeners{}, host), "ports", Finding{Level: OK, Message: "no container and no site wants any"})
	expectFindings(t, "unknown", checkPorts(nil, listeners{err: errNone}, host), "ports", Finding{Level: Note, Message: "not looked at: there is none"})
}

func TestWantedPorts(t *testing.T) {
	c := &descriptor.Container{Name: "web", Ports: []descriptor.Port{
		{Proto: "tcp", HostIP: netip.MustParseAddr("0.0.0.0"), HostPort: 80, HostPortEnd: 80},
		{Proto: "udp", HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: 53, HostPortEnd: 60},
		{Proto: "sctp", HostPort: 99, HostPortEnd: 99}}}
	got := wantedPorts(inputs{containers: []*descriptor.Container{c}})
	if len(got) != 2 || got[0].address() != "TCP port 0.0.0.0:80" || got[0].service != "web.service" || got[1].address() != "UDP port 127.0.0.1:53" || got[1].last != 60 {
		t.Errorf("got %+v", got)
	}
	if named := (wantedPort{Socket: site.Socket{Host: "localhost", Port: 1}}); named.address() != "TCP port localhost:1" {
		t.Error(named.address())
	}
	if everywhere := (wantedPort{Socket: site.Socket{Port: 1}}); everywhere.address() != "TCP port *:1" {
		t.Error(everywhere.address())
	}
}
