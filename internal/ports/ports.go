// Package ports keeps which TCP ports the sites of a host have, so that no two of them get or want the same one: one directory
// for all namespaces of all users, with a file a user.
package ports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	"github.com/sitelet/sitelet/internal/site"
)

// Registry is the directory and the user on whose behalf it is used.
type Registry struct {
	Dir string // mode 1777, as that of everyone; made if it can be
	UID int
	// Bindable tells whether a port can be listened on at all addresses now; nil asks the kernel.
	Bindable func(port uint16) bool
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

// file is what a user's namespaces have. Its form is fixed: others of another version of sitelet read it.
type file struct {
	Version    int
	Namespaces []entry
}

type entry struct {
	Name    string
	Sockets []socket
}

type socket struct {
	Host  string `json:",omitempty"` // empty: all addresses
	Port  uint16
	Owner string
}

const (
	version = 1
	maxSize = 1 << 20
	// patience is how long the lock is waited for: whoever holds it works for milliseconds, and anyone may hold it.
	patience = 10 * time.Second
)

// Update has change decide which sockets a namespace has, while no other namespace does, and keeps them. With an error nothing
// changes.
func (r Registry) Update(ctx context.Context, namespace string, change func(Table) ([]site.Socket, error)) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
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

// Look returns what a namespace would see in Update, without a lock. A registry that is not there is empty.
func (r Registry) Look(namespace string) (Table, error) {
	t, _, err := r.read(namespace)
	return t, err
}

// lock takes the directory's lock, which needs no permission to write.
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { dir.Close() }, nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			dir.Close()
			return nil, fmt.Errorf("locking the registry of ports %s: %w; `fuser %s` shows who holds it", r.Dir, err, r.Dir)
		}
	}
}

func (r Registry) read(namespace string) (t Table, own file, err error) {
	t.bindable = r.Bindable
	if t.bindable == nil {
		t.bindable = bindable
	}
	entries, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return t, own, nil
	}
	if err != nil {
		return t, own, fmt.Errorf("reading the registry of ports: %w", err)
	}
	for _, e := range entries {
		uid, err := strconv.Atoi(e.Name())
		if err != nil || strconv.Itoa(uid) != e.Name() {
			continue
		}
		f, err := readFile(filepath.Join(r.Dir, e.Name()), uid)
		// What somebody else put there under our number is replaced, if it can be.
		if err != nil && uid == r.UID && !errors.Is(err, errForeign) {
			return t, own, fmt.Errorf("reading the registry of ports: %w; remove the file, and the next reload writes it anew", err)
		}
		for _, n := range f.Namespaces {
			if uid == r.UID && n.Name == namespace {
				continue
			}
			for _, s := range n.Sockets {
				t.Taken = append(t.Taken, s.socket(uid, r.UID))
			}
		}
		if uid == r.UID {
			own = f
		}
	}
	return t, own, nil
}

func (s socket) socket(uid, reader int) site.Socket {
	owner := s.Owner
	if uid != reader {
		owner += " of user " + strconv.Itoa(uid)
	}
	at := site.SocketAt(s.Host, s.Port)
	at.Owner = owner
	return at
}

var errForeign = errors.New("is not a file of user")

// readFile reads a user's file, and takes it for his only if it is: the directory is everyone's.
func readFile(path string, uid int) (file, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return file{}, fmt.Errorf("%s: %w %d", path, errForeign, uid)
	}
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return file{}, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.Mode().IsRegular() || int(stat.Uid) != uid {
		return file{}, fmt.Errorf("%s: %w %d", path, errForeign, uid)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return file{}, err
	}
	var content file
	if err := json.Unmarshal(data, &content); err != nil || content.Version != version {
		return file{}, fmt.Errorf("%s is damaged", path)
	}
	return content, nil
}

func (r Registry) write(own file, namespace string, sockets []site.Socket) error {
	e := entry{Name: namespace}
	for _, s := range sockets {
		e.Sockets = append(e.Sockets, socket{s.At(), s.Port, s.Owner})
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
	if err := renameio.WriteFile(filepath.Join(r.Dir, strconv.Itoa(r.UID)), append(data, '\n'), 0o644, renameio.WithTempDir(r.Dir), renameio.WithStaticPermissions(0o644)); err != nil {
		return fmt.Errorf("writing the registry of ports: %w", err)
	}
	return nil
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
