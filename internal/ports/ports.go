// Package ports keeps which TCP ports the sites of a host have, so that no two of them get or want the same one: one directory
// for all namespaces of all users, with a file a user.
package ports

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/site"
)

// Registry is the directory and the user on whose behalf it is used. Everyone may write there and lock it, so that what other users do
// counts for no more than what they could do without it: listen on a port that nobody has and that needs no privileges.
type Registry struct {
	Dir string // mode 1777, as that of everyone; made if it can be
	UID int
	// Bindable tells whether a port can be listened on at all addresses now; nil asks the kernel.
	Bindable func(port uint16) bool
	// Unprivileged is the first port that every user may listen on; 0 asks the kernel.
	Unprivileged int
	// Alone does something while no other process of the user's does; nil where there is none.
	Alone func(do func() error) error
	Log   func(format string, args ...any)
}

// Table is what one namespace sees of the registry.
type Table struct {
	Taken    []site.Socket // of all other namespaces, of all users
	bindable func(uint16) bool
}

// Free returns the first port from the given one on that no other namespace has, that is not among mine, and that nobody listens
// on.
func (t Table) Free(from uint16, mine ...uint16) (uint16, error) {
	for port := int(from); port <= 65535; port++ {
		p := uint16(port)
		taken := slices.ContainsFunc(t.Taken, func(s site.Socket) bool { return s.Port == p })
		if !taken && !slices.Contains(mine, p) && t.bindable(p) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("no port from %d on is free; stop what listens there, or name ports in the resources", from)
}

// Update has change decide which sockets a namespace has, while no other namespace does, and keeps them. With an error nothing
// changes.
func (r Registry) Update(ctx context.Context, namespace string, change func(Table) ([]site.Socket, error)) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	update := func() error {
		t, own, err := r.read(namespace)
		if err != nil {
			return err
		}
		sockets, err := change(t)
		if err != nil {
			return err
		}
		return r.write(own, namespace, sockets)
	}
	if r.Alone == nil {
		return update()
	}
	return r.Alone(update)
}

// Look returns what a namespace would see in Update, without a lock. A registry that is not there is empty.
func (r Registry) Look(namespace string) (Table, error) {
	t, _, err := r.read(namespace)
	return t, err
}

// patience is how long the lock is waited for: whoever has it works for milliseconds.
var patience = 3 * time.Second

// lock takes the directory's lock, which needs no permission to write. So anyone can keep it for good, and it is done without then:
// at worst two users get one port.
func (r Registry) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the registry of ports: %w; systemd-tmpfiles --create makes it as root", err)
	}
	dir, err := os.Open(r.Dir)
	if err != nil {
		return nil, fmt.Errorf("locking the registry of ports: %w", err)
	}
	if r.UID == 0 {
		if err := dir.Chmod(0o777 | fs.ModeSticky); err != nil {
			dir.Close()
			return nil, fmt.Errorf("opening the registry of ports to users: %w", err)
		}
	}
	unlock = func() { dir.Close() }
	end := time.After(patience)
	for syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-end:
			r.Log("somebody keeps the registry of ports %s locked, which is done without; `fuser -v %[1]s` shows who", r.Dir)
			return unlock, nil
		case <-ctx.Done():
			unlock()
			return nil, fmt.Errorf("locking the registry of ports %s: %w", r.Dir, ctx.Err())
		}
	}
	return unlock, nil
}

// read returns what a namespace sees. What it has already it does not lose to another user, who comes later or is not honest.
func (r Registry) read(namespace string) (t Table, own file, err error) {
	t.bindable = r.Bindable
	if t.bindable == nil {
		t.bindable = bindable
	}
	all, err := r.list()
	if err != nil {
		return t, own, err
	}
	own, err = r.readOwn(all)
	if err != nil {
		return t, own, err
	}
	var has []site.Socket
	for _, n := range own.Namespaces {
		for _, s := range n.Sockets {
			if n.Name == namespace {
				has = append(has, s.socket())
			} else {
				t.Taken = append(t.Taken, s.socket())
			}
		}
	}
	t.Taken = append(t.Taken, r.others(all, has)...)
	return t, own, nil
}

// others returns what other users have, but for what cannot be theirs.
func (r Registry) others(all []userFile, has []site.Socket) (taken []site.Socket) {
	first, left := r.Unprivileged, maxOthers
	if first == 0 {
		first = unprivileged()
	}
	for _, u := range all {
		if u.uid == r.UID || left <= 0 {
			continue
		}
		f, size, err := u.read()
		if left -= size; err != nil {
			continue
		}
		for _, n := range f.Namespaces {
			for _, s := range n.Sockets {
				if u.uid != 0 && int(s.Port) < first || slices.ContainsFunc(has, s.socket().Overlaps) {
					continue
				}
				s.Owner = diag.Shorten(s.Owner) + " of user " + strconv.Itoa(u.uid)
				taken = append(taken, s.socket())
			}
		}
	}
	return taken
}

// readOwn returns the user's own file. What somebody else put there under our number is none.
func (r Registry) readOwn(all []userFile) (own file, err error) {
	for _, u := range all {
		if u.uid != r.UID {
			continue
		}
		own, _, err = u.read()
		switch {
		case err == nil:
			own.path = u.path
			return own, nil
		case !errors.Is(err, errForeign):
			return own, fmt.Errorf("reading the registry of ports: %w; remove the file, and the next reload writes it anew", err)
		}
	}
	return file{}, nil
}

func (r Registry) write(own file, namespace string, sockets []site.Socket) error {
	e := entry{Name: namespace}
	for _, s := range sockets {
		e.Sockets = append(e.Sockets, newSocket(s))
	}
	i, found := slices.BinarySearchFunc(own.Namespaces, namespace, func(e entry, name string) int {
		return strings.Compare(e.Name, name)
	})
	switch {
	case found && slices.Equal(own.Namespaces[i].Sockets, e.Sockets), !found && len(sockets) == 0:
		return nil
	case found && len(sockets) == 0:
		own.Namespaces = slices.Delete(own.Namespaces, i, i+1)
	case found:
		own.Namespaces[i] = e
	default:
		own.Namespaces = slices.Insert(own.Namespaces, i, e)
	}
	own.Version = version
	data, err := json.MarshalIndent(own, "", "\t")
	if err != nil {
		return err
	}
	r.sweep()
	name := filepath.Join(r.Dir, strconv.Itoa(r.UID))
	err = r.replace(cmp.Or(own.path, name), data)
	if err != nil && own.path == "" {
		// Somebody else has taken the name, which only root may replace, and not even root if it is a directory's.
		err = r.replace(name+"-"+rand.Text(), data)
	}
	if err != nil {
		return fmt.Errorf("writing the registry of ports: %w", err)
	}
	return nil
}

func (r Registry) replace(path string, data []byte) error {
	return renameio.WriteFile(path, append(data, '\n'), 0o644, renameio.WithTempDir(r.Dir), renameio.WithStaticPermissions(0o644))
}

// sweep removes what writes that were killed have left behind, as far as it is ours: nobody else is writing now.
func (r Registry) sweep() {
	left, _ := filepath.Glob(filepath.Join(r.Dir, ".*"))
	for _, path := range left {
		os.Remove(path)
	}
}

// bindable tries a port out on all addresses, of IPv6 too where the host has it.
func bindable(port uint16) bool {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(int(port)))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// unprivileged returns the first port that needs no privileges (ip_unprivileged_port_start of ip-sysctl).
func unprivileged() int {
	const usual = 1024
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if err != nil {
		return usual
	}
	first, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return usual
	}
	return first
}
