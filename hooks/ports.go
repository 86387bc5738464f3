package hooks

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
)

// mapping is a published port as in --publish IP:FIRST-LAST:CONTAINER/PROTO, the form that the generator writes.
type mapping struct {
	ip          string // as written, in brackets for IPv6
	first, last uint16
	container   uint16
	proto       string
}

func parseMapping(text string) (mapping, error) {
	fail := fmt.Errorf("%q is not IP:PORT:PORT/PROTO", text)
	rest, proto, ok := strings.Cut(text, "/")
	containerAt := strings.LastIndexByte(rest, ':')
	if !ok || containerAt < 0 {
		return mapping{}, fail
	}
	hostAt := strings.LastIndexByte(rest[:containerAt], ':')
	if hostAt < 0 {
		return mapping{}, fail
	}
	firstText, lastText, isRange := strings.Cut(rest[hostAt+1:containerAt], "-")
	if !isRange {
		lastText = firstText
	}
	first, err1 := strconv.ParseUint(firstText, 10, 16)
	last, err2 := strconv.ParseUint(lastText, 10, 16)
	container, err3 := strconv.ParseUint(rest[containerAt+1:], 10, 16)
	if err1 != nil || err2 != nil || err3 != nil || last < first {
		return mapping{}, fail
	}
	return mapping{rest[:hostAt], uint16(first), uint16(last), uint16(container), proto}, nil
}

// choosePorts replaces each range of host ports by one port: that of the container's predecessor, or else the first free one.
func (h Hooks) choosePorts(ctx context.Context, m made, args []string) ([]string, error) {
	args = slices.Clone(args)
	var ours, others []engine.Port
	read := false
	for i := 0; i < len(args) && args[i] != m.data.Image; i++ {
		at, text, ok := isPublish(args, i)
		if !ok {
			continue
		}
		p, err := parseMapping(text)
		if err != nil {
			return nil, err
		}
		if p.first == p.last {
			continue
		}
		if !read {
			read = true
			if ours, others, err = h.publishedPorts(ctx, m.name); err != nil {
				return nil, err
			}
		}
		port, err := p.choose(ours, others, m.data.Reserved)
		if err != nil {
			return nil, err
		}
		others = append(others, engine.Port{HostPort: port, Range: 1, Protocol: p.proto})
		args[at] = strings.TrimSuffix(args[at], text) + fmt.Sprintf("%s:%d:%d/%s", p.ip, port, p.container, p.proto)
	}
	return args, nil
}

// publishedPorts lists the host ports of this workload's containers and of all others of sitelet's, running or not.
func (h Hooks) publishedPorts(ctx context.Context, name string) (ours, others []engine.Port, err error) {
	all, err := h.Engine.Containers(ctx, "label="+generator.LabelWorkload)
	if err != nil {
		return nil, nil, fmt.Errorf("looking for ports in use: %w", err)
	}
	for _, c := range all {
		if c.Labels[generator.LabelWorkload] == name {
			ours = append(ours, c.Ports...)
		} else {
			others = append(others, c.Ports...)
		}
	}
	return ours, others, nil
}

func (p mapping) choose(ours, others []engine.Port, reserved []string) (uint16, error) {
	for _, o := range ours {
		if o.ContainerPort == p.container && o.Protocol == p.proto && o.HostPort >= p.first && o.HostPort <= p.last && !taken(others, o.HostPort, p.proto) {
			return o.HostPort, nil
		}
	}
	for port := p.first; ; port++ {
		if !taken(others, port, p.proto) && !slices.Contains(reserved, p.proto+"/"+strconv.Itoa(int(port))) && p.free(port) {
			return port, nil
		}
		if port == p.last {
			return 0, fmt.Errorf("no port of %d to %d/%s is free on %s; widen the range or stop what uses it (`ss -ltnup`)", p.first, p.last, p.proto, p.ip)
		}
	}
}

func taken(ports []engine.Port, port uint16, proto string) bool {
	return slices.ContainsFunc(ports, func(o engine.Port) bool {
		return o.Protocol == proto && port >= o.HostPort && int(port) < int(o.HostPort)+max(1, int(o.Range))
	})
}

// free tells whether the port could be bound just now.
func (p mapping) free(port uint16) bool {
	ip, err := netip.ParseAddr(strings.Trim(p.ip, "[]"))
	if err != nil {
		return false
	}
	address := netip.AddrPortFrom(ip, port).String()
	switch p.proto {
	case "tcp":
		l, err := net.Listen("tcp", address)
		if err == nil {
			l.Close()
		}
		return err == nil
	case "udp":
		l, err := net.ListenPacket("udp", address)
		if err == nil {
			l.Close()
		}
		return err == nil
	}
	return true // Go has no sockets of sctp: Podman will say so at the start
}

// isPublish returns the value of a --publish flag at i, and where it stands.
func isPublish(args []string, i int) (at int, value string, ok bool) {
	if value, ok := strings.CutPrefix(args[i], "--publish="); ok {
		return i, value, true
	}
	if args[i] == "--publish" && i+1 < len(args) {
		return i + 1, args[i+1], true
	}
	return 0, "", false
}
