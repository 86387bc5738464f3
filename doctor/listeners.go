package doctor

import (
	"fmt"
	"net/netip"
	"os/user"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/site"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// listener is a socket that something listens on.
type listener struct {
	site.Socket
	udp   bool
	inode uint64
	uid   int // of who opened it
}

// holder is who listens.
type holder struct {
	pid    int    // 0 where it is not known: only root sees the files of others
	name   string // of the process
	uid    int    // of who opened the socket
	unit   string // that the process is of, such as nginx.service; empty for none
	ofUser bool   // the unit is of a user's systemd
	owner  string // the user's name
	docker bool   // it runs in a container of Docker's
}

// listeners are all of a host, and who listens.
type listeners struct {
	all      []listener
	holderOf func(listener) holder
	err      error
}

// Numbers of states in /proc/net/tcp and udp (enum in net/tcp_states.h): a UDP socket that is not connected has that of close.
const (
	tcpListen = 10
	udpOpen   = 7
)

// lookAtListeners reads /proc/net. Who listens is looked up when it is asked for: that reads all processes.
func lookAtListeners(p paths.Paths) listeners {
	fs, err := procfs.NewFS(p.Below("/proc"))
	if err != nil {
		return listeners{err: err}
	}
	var all []listener
	//lint:ignore SA1019 sockets of another root than the host's are in files only, not in netlink
	tcp, err := fs.NetTCP()
	if err != nil {
		return listeners{err: err}
	}
	//lint:ignore SA1019 as above
	tcp6, _ := fs.NetTCP6() // a kernel without IPv6 has none
	for _, l := range append(tcp, tcp6...) {
		if l.St == tcpListen {
			all = append(all, newListener(l.LocalAddr, l.LocalPort, false, l.Inode, l.UID))
		}
	}
	udp, _ := fs.NetUDP()
	udp6, _ := fs.NetUDP6()
	for _, l := range append(udp, udp6...) {
		if l.St == udpOpen {
			all = append(all, newListener(l.LocalAddr, l.LocalPort, true, l.Inode, l.UID))
		}
	}
	var found map[uint64]holder
	return listeners{all: all, holderOf: func(l listener) holder {
		if found == nil {
			found = holders(fs)
		}
		h := found[l.inode]
		h.uid = l.uid
		return h
	}}
}

func newListener(ip []byte, port uint64, udp bool, inode, uid uint64) listener {
	addr, _ := netip.AddrFromSlice(ip)
	return listener{Socket: site.Socket{Addr: addr.Unmap(), Port: uint16(port)}, udp: udp, inode: inode, uid: int(uid)}
}

// holders finds out which process has which socket. Of several, as a service and what it has started, it is the first.
func holders(fs procfs.FS) map[uint64]holder {
	found := map[uint64]holder{}
	processes, _ := fs.AllProcs()
	for _, p := range processes {
		files, _ := p.FileDescriptorTargets() // those of others are for root
		for _, file := range files {
			text, isSocket := strings.CutPrefix(file, "socket:[")
			inode, err := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64)
			if !isSocket || err != nil || found[inode].pid != 0 {
				continue
			}
			found[inode] = newHolder(p)
		}
	}
	return found
}

func newHolder(p procfs.Proc) holder {
	h := holder{pid: p.PID}
	h.name, _ = p.Comm()
	groups, _ := p.Cgroups()
	for _, g := range groups {
		if g.HierarchyID == 0 {
			h.place(g.Path)
		}
	}
	return h
}

// place reads the unit out of the path of a control group (systemd.slice(5)): the innermost service or scope, which is a user's below
// user@UID.service.
func (h *holder) place(group string) {
	for part := range strings.SplitSeq(group, "/") {
		uid, isManager := strings.CutPrefix(strings.TrimSuffix(part, ".service"), "user@")
		switch {
		case isManager:
			h.ofUser, h.owner = true, userName(uid)
		case path.Ext(part) == ".service", path.Ext(part) == ".scope":
			h.unit = part
		}
		h.docker = h.docker || strings.HasPrefix(part, "docker")
	}
}

// userName returns the name of a user, or the number where there is none.
func userName(uid string) string {
	if u, err := user.LookupId(uid); err == nil {
		return u.Username
	}
	return uid
}

func (h holder) String() string {
	switch {
	case h.pid == 0:
		return "a process of user " + userName(strconv.Itoa(h.uid))
	case h.unit == "":
		return fmt.Sprintf("%s, process %d", diag.Harmless(h.name), h.pid)
	case h.ofUser:
		return fmt.Sprintf("%s, process %d of %s of user %s", diag.Harmless(h.name), h.pid, h.unit, h.owner)
	}
	return fmt.Sprintf("%s, process %d of %s", diag.Harmless(h.name), h.pid, h.unit)
}

// podmanScope is the unit of a container that no service of systemd's runs, and of its monitor (podman, libpod/oci_conmon).
var podmanScope = regexp.MustCompile(`^libpod-(?:conmon-)?([0-9a-f]{12})[0-9a-f]*\.scope$`)

// hint says how to end a holder, without a full stop.
func (h holder) hint(speak speech) string {
	container := podmanScope.FindStringSubmatch(h.unit)
	switch {
	case h.pid == 0 && speak.user.UID == 0:
		return "No process has it open, so it is one of the kernel's own: end that"
	case h.pid == 0:
		return "As root, run `sitelet doctor` to see which one it is, and end it"
	case container != nil:
		return "Run `podman stop " + container[1] + "`"
	case path.Ext(h.unit) != ".service":
		return fmt.Sprintf("Run `kill %d`", h.pid)
	case !h.ofUser && speak.scope == paths.User:
		return "As root, run `systemctl stop " + h.unit + "`"
	case h.ofUser && speak.scope == paths.System:
		return "Run `systemctl --user --machine=" + h.owner + "@ stop " + h.unit + "`"
	}
	return "Run " + speak.systemctl("stop "+h.unit)
}
