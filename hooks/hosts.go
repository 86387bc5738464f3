package hooks

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/descriptor"
)

// baseHosts is the host's own /etc/hosts, which Podman would take as the base, behind the addresses that were looked up. An
// address of a container that does not run is left out: its start brings it.
func (h Hooks) baseHosts(ctx context.Context, lookups []descriptor.Host) ([]byte, error) {
	var out bytes.Buffer
	for _, host := range lookups {
		address, err := h.address(ctx, host)
		if err != nil {
			return nil, err
		}
		if address == "" {
			h.Log("%s has no address yet: no container with the host name %s is running", host.Name, host.Value)
			continue
		}
		fmt.Fprintf(&out, "%s\t%s\n", address, host.Name)
	}
	own, err := os.ReadFile(h.Paths.Below("/etc/hosts"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	out.Write(own)
	return out.Bytes(), nil
}

func (h Hooks) address(ctx context.Context, host descriptor.Host) (string, error) {
	if host.Kind == descriptor.HostInterface {
		return interfaceAddress(host.Value)
	}
	all, err := h.Engine.Containers(ctx, "label="+generator.LabelHost+"="+host.Value)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if c.State != "running" {
			continue
		}
		addresses, err := h.Engine.Addresses(ctx, c.ID)
		if err != nil {
			return "", err
		}
		if len(addresses) > 0 {
			return addresses[0], nil
		}
	}
	return "", nil
}

// interfaceAddress returns the first IPv4 address of an interface that is no loopback address, as Kanto does.
func interfaceAddress(name string) (string, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return "", fmt.Errorf("there is no network interface %s; correct host_ip_%s, or wait for the interface", name, name)
	}
	addresses, err := i.Addrs()
	if err != nil {
		return "", fmt.Errorf("reading the addresses of %s: %w", name, err)
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			return p.Addr().String(), nil
		}
	}
	return "", fmt.Errorf("the network interface %s has no IPv4 address; give it one, or write an address in place of host_ip_%s", name, name)
}

// replaceLookups returns hosts, a container's /etc/hosts, with the lines of the names looked up taken from the beginning of fresh.
func replaceLookups(hosts, fresh []byte, lookups []descriptor.Host) []byte {
	looked := func(line string) bool {
		fields := strings.Fields(line)
		return len(fields) == 2 && slices.ContainsFunc(lookups, func(h descriptor.Host) bool { return h.Name == fields[1] })
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(fresh)) {
		if looked(line) {
			out.WriteString(line)
		}
	}
	for line := range strings.Lines(string(hosts)) {
		if !looked(line) {
			out.WriteString(line)
		}
	}
	return out.Bytes()
}
