package descriptor

import (
	"fmt"
	"net/netip"
)

// readPorts reads host_config.port_mappings, and where each of them stands.
func readPorts(host value, network string, lines *lineCounter) (ports []Port, at []Position) {
	mappings := host.get("port_mappings")
	if network == "host" && !mappings.empty() {
		mappings.failKey(`cannot be used with network_mode "host"`, "Remove it; the container's ports are the host's there.")
	}
	for _, item := range mappings.items() {
		p := Port{Proto: item.get("proto").choice("tcp", "udp", "sctp"), HostIP: readHostIP(item.get("host_ip"))}
		if v, ok := item.require("container_port", "Write the port that the container listens on."); ok {
			p.ContainerPort = readPort(v)
		}
		if v, ok := item.require("host_port", "Write a port of the host, or a range as host_port and host_port_end."); ok {
			p.HostPort = readPort(v)
		}
		p.HostPortEnd = p.HostPort
		if v := item.get("host_port_end"); v.present() && v.raw() != "0" {
			p.HostPortEnd = readPort(v)
			if p.HostPort != 0 && p.HostPortEnd != 0 && p.HostPortEnd < p.HostPort {
				v.fail(fmt.Sprintf("%d is less than host_port, which is %d", p.HostPortEnd, p.HostPort), "Write the lower one as host_port.")
			}
		}
		ports = append(ports, p)
		at = append(at, item.position(lines))
	}
	return ports, at
}

// readPort returns 0 for what was refused.
func readPort(v value) uint16 {
	n, _ := v.integer(1, 65535)
	return uint16(n)
}

// readHostIP reads host_ip. Upstream takes anything and, for what is no address, listens everywhere.
func readHostIP(v value) netip.Addr {
	s := v.text()
	switch s {
	case "":
		return netip.IPv4Unspecified()
	case "localhost":
		v.warn("is taken for 127.0.0.1", `Write "127.0.0.1".`)
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		v.fail(quote(s)+" is not an IP address", `Write one of the host's addresses, or "0.0.0.0" for all of them.`)
	} else if addr.Zone() != "" {
		v.fail(quote(s)+" has a zone", "Write it without the % and what follows.")
	}
	return addr.Unmap()
}
