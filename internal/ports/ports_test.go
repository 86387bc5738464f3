package ports

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/site"
)

func registry(t *testing.T) Registry {
	return Registry{Dir: filepath.Join(t.TempDir(), "ports"), UID: os.Getuid(), Bindable: func(uint16) bool { return true }}
}

// claim takes the first free port from 5671 on.
func (r Registry) claim(t *testing.T, namespace string) uint16 {
	t.Helper()
	var port uint16
	err := r.Update(t.Context(), namespace, func(table Table) ([]site.Socket, error) {
		var err error
		port, err = table.Free(5671)
		socket := site.SocketAt("127.0.0.1", port)
		socket.Owner = "the router of " + namespace
		return []site.Socket{socket}, err
	})
	if err != nil {
		t.Error(err)
	}
	return port
}

// Ten namespaces that are made at the same moment get ten ports (skupperproject/skupper#1966).
func TestAtTheSameMoment(t *testing.T) {
	r := registry(t)
	var wait sync.WaitGroup
	ports := make([]uint16, 10)
	for i := range ports {
		wait.Go(func() { ports[i] = r.claim(t, "myns-"+strconv.Itoa(i+1)) })
	}
	wait.Wait()
	seen := map[uint16]bool{}
	for _, port := range ports {
		if port < 5671 || port > 5680 || seen[port] {
			t.Errorf("ports %v", ports)
		}
		seen[port] = true
	}
	if again := r.claim(t, "myns-3"); again != ports[2] {
		t.Errorf("its own port counts as taken: %d, then %d", ports[2], again)
	}
}

func TestAnotherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can write a file of another user's")
	}
	r := registry(t)
	r.claim(t, "east")
	other := filepath.Join(r.Dir, "1000")
	text := `{"Version":1,"Namespaces":[{"Name":"east","Sockets":[{"Port":5672,"Owner":"the Listener \"a\""}]}]}`
	if err := os.WriteFile(other, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	// Root's file under another's name is not theirs, and neither is a link.
	table, err := r.Look("west")
	if err != nil || len(table.Taken) != 1 {
		t.Errorf("taken %v, %v", table.Taken, err)
	}
	if err := os.Chown(other, 1000, 1000); err != nil {
		t.Fatal(err)
	}
	table, err = r.Look("west")
	local := site.SocketAt("127.0.0.1", 5671)
	local.Owner = "the router of east"
	want := []site.Socket{local, {Port: 5672, Owner: `the Listener "a" of user 1000`}}
	if diff := cmp.Diff(want, table.Taken, cmp.Comparer(func(a, b site.Socket) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if port, err := table.Free(5671, 5673); err != nil || port != 5674 {
		t.Errorf("free is %d, %v", port, err)
	}
}

// What another namespace finds of a socket is the same socket, be it at an address, at a name or everywhere.
func TestHosts(t *testing.T) {
	r := registry(t)
	var want []site.Socket
	for i, host := range []string{"", "0.0.0.0", "127.0.0.1", "::1", "localhost"} {
		socket := site.SocketAt(host, uint16(8080+i))
		socket.Owner = "the Listener a"
		want = append(want, socket)
	}
	if err := r.Update(t.Context(), "east", func(Table) ([]site.Socket, error) { return want, nil }); err != nil {
		t.Fatal(err)
	}
	table, err := r.Look("west")
	if diff := cmp.Diff(want, table.Taken, cmp.Comparer(func(a, b site.Socket) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// writeAs writes another user's file.
func (r Registry) writeAs(t *testing.T, uid int, text string) {
	t.Helper()
	path := filepath.Join(r.Dir, strconv.Itoa(uid))
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chown(path, uid, uid)); err != nil {
		t.Fatal(err)
	}
}

// TestHostile has another user claim what is somebody's already, what he may not listen on, and what fills memory.
func TestHostile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can write a file of another user's")
	}
	r := registry(t)
	r.Unprivileged = 1024
	r.claim(t, "east")
	r.writeAs(t, 1000, `{"Version":1,"Namespaces":[{"Name":"x","Sockets":[{"Port":5671},{"Port":443},{"Port":8080,"Owner":"`+strings.Repeat("x", 10000)+`"}]}]}`)
	table, err := r.Look("east")
	if err != nil || len(table.Taken) != 1 || table.Taken[0].Port != 8080 || len(table.Taken[0].Owner) > 100 {
		t.Errorf("taken %.200v, %v", table.Taken, err)
	}
	// A new namespace has nothing yet, and sees that both want it.
	if table, err := r.Look("west"); err != nil || len(table.Taken) != 3 {
		t.Errorf("taken %.200v, %v", table.Taken, err)
	}
	text := `{"Version":1,"Namespaces":[{"Name":"x","Sockets":[` + strings.Repeat(`{"Port":1024},`, 70000) + `{"Port":1024}]}]}`
	for uid := range 20 {
		r.writeAs(t, 100000+uid, text)
	}
	if table, err := r.Look("west"); err != nil || len(table.Taken) > 6*70000 {
		t.Errorf("%d ports are taken, %v", len(table.Taken), err)
	}
}

// Whoever keeps the lock keeps nobody from having ports.
func TestLockKept(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 20 * time.Millisecond
	r := registry(t)
	r.claim(t, "east")
	dir, err := os.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	var said []string
	r.Log = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	alone := 0
	r.Alone = func(do func() error) error { alone++; return do() }
	if port := r.claim(t, "west"); port != 5672 || alone != 1 || len(said) != 1 || !strings.Contains(said[0], "fuser -v "+r.Dir) {
		t.Errorf("west has %d, alone %d times, %q", port, alone, said)
	}
}

func TestGivenUp(t *testing.T) {
	r := registry(t)
	r.claim(t, "east")
	if err := r.Update(t.Context(), "east", func(Table) ([]site.Socket, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if port := r.claim(t, "west"); port != 5671 {
		t.Errorf("a port that was given up is taken: west has %d", port)
	}
}

func TestDamaged(t *testing.T) {
	r := registry(t)
	r.claim(t, "east")
	path := filepath.Join(r.Dir, strconv.Itoa(r.UID))
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Look("west"); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("a damaged file: %v", err)
	}
}

// A port that something listens on is not free, on one address or on all.
func TestBindable(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	if bindable(port) {
		t.Error("a port that is listened on counts as free")
	}
	l.Close()
	if !bindable(port) {
		t.Error("a free port counts as taken")
	}
}

// What somebody else has put where our file belongs is replaced, and so is what a killed write has left behind.
func TestForeign(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink("/etc/passwd", path) },
		"file": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("{"), 0o644), os.Chown(path, os.Getuid()+1, os.Getgid()))
		},
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"fifo":      func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"socket": func(path string) error {
			return syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "file" && os.Getuid() != 0 {
				t.Skip("needs root, to give a file away")
			}
			r := registry(t)
			if err := os.Mkdir(r.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
			left := filepath.Join(r.Dir, "."+strconv.Itoa(r.UID)+"123")
			if err := errors.Join(put(filepath.Join(r.Dir, strconv.Itoa(r.UID))), os.WriteFile(left, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if port := r.claim(t, "east"); port != 5671 {
					t.Errorf("east has %d", port)
				}
			}
			if table, err := r.Look("west"); err != nil || len(table.Taken) != 1 {
				t.Errorf("taken %v, %v", table.Taken, err)
			}
			if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("left behind: %v", err)
			}
		})
	}
}
