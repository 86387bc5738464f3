package doctor

import (
	"fmt"
	"net"
	"strconv"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/state"
)

// wantedPort is one that a workload listens on, or is to.
type wantedPort struct {
	site.Socket        // whose Owner is what wants it
	last        uint16 // where any one from Port on will do
	udp         bool
	service     string // that may have it
	docker      bool   // as Docker's containers may
}

// wantedPorts lists those of descriptors and of sites.
func wantedPorts(in inputs) []wantedPort {
	var all []wantedPort
	for _, c := range in.containers {
		for _, p := range c.Ports {
			if p.Proto != "sctp" {
				all = append(all, published(c, p))
			}
		}
	}
	for _, s := range in.sites {
		w := wantedPort{service: generator.SiteWorkload(s.Namespace) + ".service"}
		for _, r := range in.records {
			if r.Namespace != s.Namespace {
				continue
			}
			w.docker = r.Platform == "docker"
			if port := r.Port(state.LocalPort); r.Router != nil && port != 0 {
				w.Socket = site.Socket{Addr: loopback, Port: port, Owner: "the router of namespace " + s.Namespace}
				all = append(all, w)
			}
		}
		for _, socket := range s.Resources.Sockets() {
			w.Socket = socket
			all = append(all, w)
		}
	}
	return all
}

func published(c *descriptor.Container, p descriptor.Port) wantedPort {
	return wantedPort{site.Socket{Addr: p.HostIP, Port: p.HostPort, Owner: "the container " + c.Name}, p.HostPortEnd, p.Proto == "udp", c.Name + ".service", false}
}

// checkPorts is about ports that something else listens on.
func checkPorts(wanted []wantedPort, l listeners, speak speech) []Finding {
	const check = "ports"
	if l.err != nil {
		return unknown(check, l.err)
	}
	var found []Finding
	for _, w := range wanted {
		if w.last > w.Port {
			continue // another one of the range is taken
		}
		for _, have := range l.all {
			if have.udp != w.udp || !w.Overlaps(have.Socket) {
				continue
			}
			h := l.holderOf(have)
			if h.pid == 0 && speak.scope == paths.System && speak.user.UID != 0 {
				return one(check, Note, "only root sees who listens", "Run this as root.")
			}
			if !w.mayHave(h, speak) {
				found = append(found, Finding{check, Error, fmt.Sprintf("%s, which %s wants, is taken by %s", w.address(), w.Owner, h), h.hint(speak) + ", or choose another port."})
				break
			}
		}
	}
	switch {
	case len(wanted) == 0:
		return one(check, OK, "no container and no site wants any", "")
	case found == nil:
		return one(check, OK, "none of "+diag.Counted(len(wanted), "port")+" of containers and sites is taken by something else", "")
	}
	return found
}

// mayHave tells whether it is the workload itself that listens.
func (w wantedPort) mayHave(h holder, speak speech) bool {
	return h.unit == w.service && h.ofUser == (speak.scope == paths.User) || w.docker && h.docker
}

func (w wantedPort) address() string {
	host := w.Host
	if w.Addr.IsValid() {
		host = w.Addr.String()
	}
	if host == "" {
		host = "*"
	}
	proto := "TCP"
	if w.udp {
		proto = "UDP"
	}
	return proto + " port " + net.JoinHostPort(host, strconv.Itoa(int(w.Port)))
}
