package ports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sitelet/sitelet/internal/site"
)

// file is what a user's namespaces have. Its form is fixed: others of another version of sitelet read it.
type file struct {
	Version    int
	Namespaces []entry

	path string // empty where there is none yet
}

type entry struct {
	Name    string
	Sockets []socket
}

type socket struct {
	Host  string `json:",omitempty"` // address or name; empty: all addresses
	Port  uint16
	Owner string
}

const (
	version = 1
	maxSize = 1 << 20
	// maxOthers bounds what is read of all other users together: one of them may have a range of subordinate user ids, subuid(5), with
	// a file for each.
	maxOthers = 4 << 20
)

func newSocket(s site.Socket) socket { return socket{s.At(), s.Port, s.Owner} }

func (s socket) socket() site.Socket {
	at := site.SocketAt(s.Host, s.Port)
	at.Owner = s.Owner
	return at
}

// userFile is a file of the directory, called by the number of a user, and a hyphen and more where somebody else has that name.
type userFile struct {
	path string
	uid  int
}

// list returns the files by user: subordinate ids are the greatest.
func (r Registry) list() ([]userFile, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the registry of ports: %w", err)
	}
	var all []userFile
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		if uid, err := strconv.Atoi(number); err == nil && strconv.Itoa(uid) == number {
			all = append(all, userFile{filepath.Join(r.Dir, e.Name()), uid})
		}
	}
	slices.SortStableFunc(all, func(a, b userFile) int { return cmp.Compare(a.uid, b.uid) })
	return all, nil
}

var errForeign = errors.New("is not a file of user")

// read takes a file for its user's only if it is: the directory is everyone's. size is how much was read for it.
func (u userFile) read() (content file, size int, err error) {
	foreign := fmt.Errorf("%s: %w %d", u.path, errForeign, u.uid)
	f, err := os.OpenFile(u.path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil { // a link, a socket, or one that is not for us: ours can be opened
		return file{}, 0, foreign
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return file{}, 0, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.Mode().IsRegular() || int(stat.Uid) != u.uid {
		return file{}, 0, foreign
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return file{}, len(data), err
	}
	if err := json.Unmarshal(data, &content); err != nil || content.Version != version {
		return file{}, len(data), fmt.Errorf("%s is damaged", u.path)
	}
	return content, len(data), nil
}
