package pki

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sitelet/sitelet/internal/source"
)

// The parents below a namespace's runtime directory.
const (
	issuers = "issuers"
	certs   = "certs"
)

// staged is where a directory is made ready. It lies beside what it will replace, to get the SELinux label that a container may
// read, and no certificate can have its name.
const staged = ".new"

// store keeps the directories of certificates below dir.
type store struct {
	dir  string
	step func() // called before each change on disk; a seam for tests, which stop there
}

// content is what a directory of a certificate holds.
type content struct {
	Bundle
	connect  []byte // connect.json
	password []byte // password.txt
	other    bool   // there is something else too
}

// entry is a file of a content with its mode: keys and passwords are secrets.
type entry struct {
	name string
	data *[]byte
	mode fs.FileMode
}

func (c *content) entries() []entry {
	return []entry{{"ca.crt", &c.CA, 0o644}, {"tls.crt", &c.Cert, 0o644}, {"tls.key", &c.Key, 0o600},
		{"connect.json", &c.connect, 0o644}, {"password.txt", &c.password, 0o600}}
}

const dirMode = 0o755

// Load returns what runtime/certs below dir, a namespace's runtime directory, holds under a name, and its connect.json. What is
// not there is empty.
func Load(dir, name string) (b Bundle, connect []byte, err error) {
	c, err := store{dir: dir}.read(certs, name)
	return c.Bundle, c.connect, err
}

func (s store) before() {
	if s.step != nil {
		s.step()
	}
}

// prepare makes a parent directory and clears away what a crash has left in it.
func (s store) prepare(parent string) error {
	path := filepath.Join(s.dir, parent)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		s.before()
		if err := os.MkdirAll(path, dirMode); err != nil {
			return fmt.Errorf("making room for certificates: %w", err)
		}
	}
	if err := s.setMode(path, dirMode); err != nil {
		return err
	}
	return s.discard(parent)
}

func (s store) discard(parent string) error {
	path := filepath.Join(s.dir, parent, staged)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.before()
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("clearing away an unfinished certificate: %w", err)
	}
	return nil
}

// read returns what is stored under a name. What is no directory, or has files that are none, counts as something else.
func (s store) read(parent, name string) (content, error) {
	var c content
	path := filepath.Join(s.dir, parent, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && !info.IsDir() {
		return content{other: true}, nil
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return c, fmt.Errorf("reading a certificate: %w", err)
	}
	known := 0
	for _, e := range c.entries() {
		file := filepath.Join(path, e.name)
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if *e.data, err = source.Made(file); err != nil {
			return c, fmt.Errorf("reading a certificate: %w", err)
		}
		known++
	}
	c.other = known != len(files)
	return c, nil
}

// put stores want where have was read, and tells whether that changed anything but modes.
func (s store) put(parent, name string, have, want content) (bool, error) {
	if want.same(have) {
		return false, s.setModes(parent, name, want)
	}
	if err := s.stage(parent, want); err != nil {
		return false, err
	}
	if err := s.swap(parent, name); err != nil {
		return false, fmt.Errorf("storing a certificate: %w", err)
	}
	return true, s.discard(parent)
}

func (c content) same(o content) bool {
	return c.other == o.other && c.equal(o.Bundle) && bytes.Equal(c.connect, o.connect) && bytes.Equal(c.password, o.password)
}

func (s store) stage(parent string, c content) error {
	dir := filepath.Join(s.dir, parent, staged)
	s.before()
	if err := os.Mkdir(dir, dirMode); err != nil {
		return fmt.Errorf("storing a certificate: %w", err)
	}
	for _, e := range c.entries() {
		if len(*e.data) == 0 {
			continue
		}
		if err := s.write(filepath.Join(dir, e.name), *e.data, e.mode); err != nil {
			return fmt.Errorf("storing a certificate: %w", err)
		}
	}
	if err := s.setMode(dir, dirMode); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("storing a certificate: %w", err)
	}
	return nil
}

// write makes a file that survives a power cut. It has the mode from the first byte on, but for the umask.
func (s store) write(path string, data []byte, mode fs.FileMode) error {
	s.before()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer f.Close()
	s.before()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// swap puts the staged directory in the place of name, and name's there, in one step. File systems that cannot do that get the
// files one by one, each whole; a cut there leaves a pair that does not fit, which the next Ensure makes anew, or gets again
// from the user. A CA that is renewed keeps its key, so that its pair always fits.
func (s store) swap(parent, name string) error {
	from, to := filepath.Join(s.dir, parent, staged), filepath.Join(s.dir, parent, name)
	_, err := os.Lstat(to)
	s.before()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Rename(from, to)
	case err == nil:
		err = unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EXDEV) {
		err = s.move(from, to)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Join(s.dir, parent))
}

// move makes the directory to hold exactly the files of from.
func (s store) move(from, to string) error {
	var c content
	known := func(name string) bool {
		return slices.ContainsFunc(c.entries(), func(e entry) bool { return e.name == name })
	}
	if err := s.remove(to, known); err != nil {
		return err
	}
	for _, e := range c.entries() {
		s.before()
		err := os.Rename(filepath.Join(from, e.name), filepath.Join(to, e.name))
		if errors.Is(err, fs.ErrNotExist) {
			err = os.RemoveAll(filepath.Join(to, e.name))
		}
		if err != nil {
			return err
		}
	}
	return syncDir(to)
}

func (s store) setModes(parent, name string, c content) error {
	dir := filepath.Join(s.dir, parent, name)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range c.entries() {
		if len(*e.data) == 0 {
			continue
		}
		if err := s.setMode(filepath.Join(dir, e.name), e.mode); err != nil {
			return err
		}
	}
	return s.setMode(dir, dirMode)
}

func (s store) setMode(path string, mode fs.FileMode) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Perm() != mode {
		s.before()
		err = chmod(path, mode)
	}
	if err != nil {
		return fmt.Errorf("setting the mode of a certificate: %w", err)
	}
	return nil
}

// chmod sets a mode, and not that of what a link leads to: the router can put one there.
func chmod(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Chmod(mode)
}

// remove removes what a directory holds and is not to be kept.
func (s store) remove(dir string, keep func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing certificates: %w", err)
	}
	for _, entry := range entries {
		if keep(entry.Name()) {
			continue
		}
		s.before()
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("removing certificates: %w", err)
		}
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
