package pki

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/source"
)

// Input is what lies beside a namespace's resources. Each slice is sorted by name.
type Input struct {
	Issuers   []Given // input/issuers: CAs of the user's
	Certs     []Given // input/certs: certificates of the user's
	Have      []Given // runtime/issuers: the CAs in use
	InUse     []Given // runtime/certs: the certificates in use
	LocalPort uint16  // of skupper-local, for connect.json
}

// Given is a directory with ca.crt, tls.crt and tls.key, or some of them.
type Given struct {
	Name   string
	Dir    string // as a user would name it
	Bundle Bundle
	Bad    *diag.Diagnostic // why a file of it could not be read
}

// Read reads the input, the CAs and the certificates in use from a namespace's directory. Of a directory that cannot be read there is nothing.
func Read(reader source.Reader, namespace string) Input {
	return Input{
		Issuers: readDirs(reader, filepath.Join(namespace, "input", "issuers")),
		Certs:   readDirs(reader, filepath.Join(namespace, "input", "certs")),
		Have:    readDirs(reader, filepath.Join(namespace, "runtime", "issuers")),
		InUse:   readDirs(reader, filepath.Join(namespace, "runtime", "certs")),
	}
}

// Names names the certificates of input/certs, good or bad.
func (in Input) Names() []string {
	var names []string
	for _, given := range in.Certs {
		names = append(names, given.Name)
	}
	return names
}

func readDirs(reader source.Reader, parent string) []Given {
	entries, _ := os.ReadDir(parent)
	var all []Given
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || !safeName(entry.Name()) {
			continue
		}
		given := Given{Name: entry.Name(), Dir: dir}
		for _, file := range given.Bundle.files() {
			*file.data = given.read(reader, file.name)
		}
		if !given.Bundle.empty() || given.Bad != nil {
			all = append(all, given)
		}
	}
	return all
}

func (g *Given) read(reader source.Reader, name string) []byte {
	path := filepath.Join(g.Dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file, bad := reader.Lone(path)
	if bad != nil && g.Bad == nil {
		g.Bad = bad
	}
	return file.Data
}

// file is one of the files that a Bundle is stored as.
type file struct {
	name string
	data *[]byte
}

func (b *Bundle) files() []file {
	return []file{{"ca.crt", &b.CA}, {"tls.crt", &b.Cert}, {"tls.key", &b.Key}}
}

func find(all []Given, name string) *Given {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
