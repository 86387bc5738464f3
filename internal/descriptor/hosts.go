package descriptor

import (
	"net/netip"
	"strings"
)

// readHosts reads host_config.extra_hosts: NAME:IP, NAME:host_ip, NAME:host_ip_INTERFACE or NAME:container_HOSTNAME.
func readHosts(host value, c *Container, lines *lineCounter) (hosts []Host, at []Position) {
	seen := make(map[Host]bool)
	for _, item := range host.get("extra_hosts").items() {
		name, target, ok := strings.Cut(item.text(), ":")
		if !ok {
			item.fail(quote(item.text())+" is not of the form NAME:ADDRESS", "Write an IP address, host_ip, host_ip_INTERFACE or container_HOSTNAME after the colon.")
			continue
		}
		if p := hostNameProblem(name, 253); p.message != "" {
			item.fail(p.message, p.hint)
		}
		h, p := hostTarget(target, c)
		if p.message != "" {
			item.fail(p.message, p.hint)
		}
		if h.Name = name; !seen[h] {
			seen[h] = true
			hosts = append(hosts, h)
			at = append(at, item.position(lines))
		}
	}
	return hosts, at
}

// hostTarget reads what is after the first colon, for container c.
func hostTarget(target string, c *Container) (Host, problem) {
	if iface, ok := strings.CutPrefix(target, "host_ip"); ok && (iface == "" || iface[0] == '_') {
		if c.Network == "host" {
			return Host{}, problem{`host_ip has no meaning with network_mode "host"`, "Write 127.0.0.1, which is the host there."}
		}
		if iface == "" {
			return Host{Kind: HostGateway}, problem{}
		}
		return interfaceTarget(iface[1:])
	}
	if peer, ok := strings.CutPrefix(target, "container_"); ok {
		if p := hostNameProblem(peer, maxHostName); p.message != "" {
			return Host{}, p
		}
		if peer == c.HostName {
			return Host{}, problem{quote(peer) + " is this container itself", "Write 127.0.0.1."}
		}
		return Host{Kind: HostContainer, Value: peer}, problem{}
	}
	addr, err := netip.ParseAddr(withoutBrackets(target))
	switch {
	case err != nil:
		return Host{}, problem{quote(target) + " is not an address", "Write an IP address, host_ip, host_ip_INTERFACE or container_HOSTNAME."}
	case addr.Zone() != "":
		return Host{}, problem{quote(target) + " has a zone, which /etc/hosts has not", "Write it without the % and what follows."}
	}
	return Host{Kind: HostAddress, Value: addr.Unmap().String()}, problem{}
}

func withoutBrackets(target string) string {
	if len(target) > 2 && target[0] == '[' && target[len(target)-1] == ']' {
		return target[1 : len(target)-1]
	}
	return target
}

// interfaceTarget checks a name as Linux does (dev_valid_name in net/core/dev.c).
func interfaceTarget(name string) (Host, problem) {
	if name == "" || len(name) > 15 || name == "." || name == ".." || strings.ContainsAny(name, "/: \t\n\v\f\r") {
		return Host{}, problem{quote(name) + " is not the name of a network interface", "Write host_ip_INTERFACE with a name of at most 15 bytes."}
	}
	return Host{Kind: HostInterface, Value: name}, problem{}
}
