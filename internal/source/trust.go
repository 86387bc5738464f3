package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sitelet/sitelet/internal/diag"
)

// untrustedError says that somebody other than root and the process's own user decides what a path holds.
type untrustedError struct {
	path string // the file or directory with the wrong owner or mode
	uid  uint32
	mode fs.FileMode
	own  bool // the owner is the trouble, not the mode
}

func (e *untrustedError) Error() string { return "is not used: " + e.why() }

func (e *untrustedError) why() string {
	if e.own {
		return fmt.Sprintf("%s belongs to user %d, who could change what runs as root", e.path, e.uid)
	}
	return fmt.Sprintf("%s has mode %04o, so others than its owner could change what runs as root", e.path, e.mode.Perm())
}

func (e *untrustedError) hint() string {
	if e.own {
		return fmt.Sprintf("Run `chown root:root %s` if you trust what is in it.", e.path)
	}
	return fmt.Sprintf("Run `chmod go-w %s` if you trust what is in it.", e.path)
}

// checkOwner returns an untrustedError if path may be changed by anyone but root and the process's own user.
// Writing by the group root is writing by root.
func (r Reader) checkOwner(path string, info fs.FileInfo) error {
	if !r.Trusted {
		return nil
	}
	stat := info.Sys().(*syscall.Stat_t)
	if stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return &untrustedError{path: path, uid: stat.Uid, own: true}
	}
	if mode := info.Mode(); mode&0o002 != 0 || mode&0o020 != 0 && stat.Gid != 0 {
		return &untrustedError{path: path, mode: mode}
	}
	return nil
}

// Trust returns a finding if a path, or a directory that it lies in, may be changed by others than root and the process's own user.
// What does not exist is as good as what it would lie in.
func (r Reader) Trust(path string) *diag.Diagnostic {
	for ; path != r.Root && !exists(path); path = filepath.Dir(path) {
	}
	var untrusted *untrustedError
	if errors.As(r.checkAbove(path), &untrusted) {
		return &diag.Diagnostic{File: path, Message: untrusted.why(), Hint: untrusted.hint()}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (r Reader) checkDir(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return r.checkOwner(path, info)
}

// maxLinks bounds the symbolic links that are followed on one way, as the kernel does (path_resolution(7)).
const maxLinks = 40

// checkAbove checks a path and all that is passed on the way to it, below Root: who may rename a directory, or a symbolic link in it,
// decides what is read.
func (r Reader) checkAbove(path string) error {
	if !r.Trusted {
		return nil
	}
	at, rest := r.Root, strings.Split(strings.TrimPrefix(path, r.Root), "/")
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return nil // it does not exist, or opening it says what is wrong
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if err := r.checkBelow(next, info); err != nil {
				return err
			}
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return nil
		}
		if links++; filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return nil
}

// checkBelow checks what lies below Root, but for what no file is read from: a device that all may write is none to change the mode of.
func (r Reader) checkBelow(path string, info fs.FileInfo) error {
	if !strings.HasPrefix(path, r.Root) || !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	return r.checkOwner(path, info)
}
