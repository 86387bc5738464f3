// Package source finds and reads input files, and refuses those that somebody else may change.
package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/sitelet/sitelet/internal/diag"
)

// maxSize bounds a file: no descriptor comes near it, and a device or a log under the wrong name must not fill memory.
const maxSize = 1 << 20

// File is one input file.
type File struct {
	Path string // as a user would name it
	Data []byte
}

// Reader says what is read and whom to trust.
type Reader struct {
	Root    string // no directory above it is looked at; "/" on a host
	Trusted bool   // refuse files that anyone but root and the process's own user may write (system scope)
}

// Descriptors returns the files below dirs whose names end in .json, in lexical order of their paths, the directories that were
// looked into, and what kept other files from being read. A directory that does not exist has no files. A directory of dirs may be a symbolic link, one inside it
// is reported and not followed: links could lead around in circles.
func (r Reader) Descriptors(dirs []string) (files []File, looked []string, found diag.List) {
	s := search{reader: r, endings: []string{".json"}, instead: "Name its target under containers.directories in sitelet.toml."}
	return s.files(dirs)
}

// Resources is Descriptors for the resources of a site, a namespace's input/resources, whose names end in .yaml, .yml or .json.
func (r Reader) Resources(dir string) (files []File, looked []string, found diag.List) {
	s := search{reader: r, endings: []string{".yaml", ".yml", ".json"}, instead: "Move what is in it here."}
	return s.files([]string{dir})
}

// Both is Descriptors for a directory that may hold descriptors, resources or both.
func (r Reader) Both(dir string) (files []File, looked []string, found diag.List) {
	s := search{reader: r, endings: []string{".json", ".yaml", ".yml"}, instead: "Name its target."}
	return s.files([]string{dir})
}

// search is one look for files.
type search struct {
	reader  Reader
	endings []string // of the names that count
	instead string   // what to do instead of a link to a directory

	paths  []string
	looked []string
	found  diag.List
}

func (s *search) files(dirs []string) (files []File, looked []string, found diag.List) {
	for _, dir := range dirs {
		if err := s.reader.checkAbove(dir); err != nil {
			s.found = append(s.found, refused(dir, err))
			continue
		}
		s.walk(dir)
	}
	slices.Sort(s.paths)
	files, bad := s.reader.readAll(slices.Compact(s.paths))
	return files, s.looked, append(s.found, bad...)
}

// File returns the content of one file, or a finding that says why it cannot be used.
func (r Reader) File(path string) (File, *diag.Diagnostic) {
	data, err := r.read(path)
	if err != nil {
		d := refused(path, err)
		return File{}, &d
	}
	return File{path, data}, nil
}

// Lone is File for one that no search has found: what it lies in is checked as well.
func (r Reader) Lone(path string) (File, *diag.Diagnostic) {
	if err := r.checkAbove(path); err != nil {
		d := refused(path, err)
		return File{}, &d
	}
	return r.File(path)
}

func (s *search) walk(dir string) {
	s.looked = append(s.looked, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.found = append(s.found, refused(dir, err))
		}
		return
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case entry.IsDir():
			if err := s.reader.checkDir(path); err != nil {
				s.found = append(s.found, refused(path, err))
				continue
			}
			s.walk(path)
		case entry.Type()&fs.ModeSymlink != 0 && isDir(path):
			s.found = append(s.found, diag.Diagnostic{File: path, Severity: diag.Warning,
				Message: "a symbolic link to a directory is not followed", Hint: s.instead})
		case s.counts(path):
			s.paths = append(s.paths, path)
		case s.counts(strings.ToLower(path)):
			s.found = append(s.found, diag.Diagnostic{File: path, Severity: diag.Warning,
				Message: "is not read: only names that end in " + strings.Join(s.endings, ", ") + " in lower case are", Hint: "Rename the file."})
		}
	}
}

// counts tells whether a path ends as those of the search do.
func (s *search) counts(path string) bool {
	return slices.ContainsFunc(s.endings, func(ending string) bool { return strings.HasSuffix(path, ending) })
}

// readAll reads in parallel: at a thousand files the waiting for system calls is most of a warm generator run.
func (r Reader) readAll(paths []string) ([]File, diag.List) {
	files := make([]File, len(paths))
	bad := make([]*diag.Diagnostic, len(paths))
	var wait sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 1+len(paths)/64)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(paths); i += workers {
				files[i], bad[i] = r.File(paths[i])
			}
		})
	}
	wait.Wait()
	var found diag.List
	kept := files[:0]
	for i := range files {
		if bad[i] != nil {
			found = append(found, *bad[i])
			continue
		}
		kept = append(kept, files[i])
	}
	return kept, found
}

func (r Reader) read(path string) ([]byte, error) {
	// O_NONBLOCK: a FIFO under the name of a descriptor must not stop the boot.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) {
		if err := r.checkAbove(path); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	if err := r.checkOwner(path, info); err != nil {
		return nil, err
	}
	if info.Size() > maxSize {
		return nil, fmt.Errorf("is larger than %d bytes", maxSize)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	return data[:n], nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// refused turns an error of the system or of a check into a finding about the whole file.
func refused(path string, err error) diag.Diagnostic {
	d := diag.Diagnostic{File: path, Hint: "Mend its type, size or permissions, or move it away."}
	var untrusted *untrustedError
	var pathErr *fs.PathError
	if errors.Is(err, fs.ErrNotExist) {
		d.Hint = "Mend where it leads to, or remove it." // it is in its directory
	}
	switch {
	case errors.As(err, &untrusted):
		d.Message, d.Hint = untrusted.Error(), untrusted.hint()
	case errors.As(err, &pathErr):
		d.Message = "cannot be read: " + pathErr.Err.Error()
	default:
		d.Message = err.Error()
	}
	return d
}
