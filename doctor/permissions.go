package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/pki"
)

// permissions is what is known of who may read and write what.
type permissions struct {
	refused diag.List // inputs that are not read, and what else others may change
	foreign []owned   // directories of a user's that are not the user's
	ports   directory // registry of ports
	user    User
	scope   paths.Scope
}

// owned is a path and whose it is.
type owned struct {
	path string
	uid  int
}

// directory is one that may not be there.
type directory struct {
	path string
	mode fs.FileMode
	uid  int
	err  error
}

func lookAtPermissions(p paths.Paths, u User, in inputs) permissions {
	per := permissions{user: u, scope: p.Scope, ports: lookAtDirectory(p.PortsDir)}
	reader := generator.Reader(p)
	trust := func(paths ...string) {
		for _, path := range paths {
			if d := reader.Trust(path); d != nil && !per.has(d.Message) {
				per.refused = append(per.refused, *d)
			}
		}
	}
	_, _, found := reader.Descriptors(generator.DescriptorDirs(p, in.plan.Config))
	per.refused = append(per.refused, found...)
	trust(p.ConfigFile, p.ConfigDropIns, p.StateDir, p.NamespacesDir)
	for _, s := range in.sites {
		home := filepath.Join(p.NamespacesDir, s.Namespace)
		trust(filepath.Join(home, "runtime"), filepath.Join(home, "internal"))
		_, _, found := reader.Resources(filepath.Join(home, "input/resources"))
		per.refused = append(per.refused, found...)
		files := pki.Read(reader, home)
		for _, given := range slices.Concat(files.Issuers, files.Certs, files.Have, files.InUse) {
			if given.Bad != nil {
				per.refused = append(per.refused, *given.Bad)
			}
		}
	}
	per.refused = slices.DeleteFunc(per.refused, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	if p.Scope == paths.User {
		for _, path := range []string{filepath.Dir(p.ConfigFile), p.ContainersDir, p.NamespacesDir, p.StateDir, p.RuntimeDir} {
			if d := lookAtDirectory(path); d.err == nil && d.uid != u.UID {
				per.foreign = append(per.foreign, owned{path, d.uid})
			}
		}
	}
	return per
}

// has tells whether a message is among the refusals: one directory can be above many files.
func (per *permissions) has(message string) bool {
	return slices.ContainsFunc(per.refused, func(d diag.Diagnostic) bool { return d.Message == message })
}

func lookAtDirectory(path string) directory {
	info, err := os.Stat(path)
	if err != nil {
		return directory{path: path, err: err}
	}
	d := directory{path: path, mode: info.Mode()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		d.uid = int(stat.Uid)
	}
	return d
}

func checkPermissions(per permissions) []Finding {
	const check = "permissions"
	var found []Finding
	for _, d := range per.refused {
		message := d.Message
		if !strings.HasPrefix(message, d.File) {
			message = d.File + ": " + message
		}
		found = append(found, Finding{check, Error, message, cmp.Or(d.Hint, per.whoReads())})
	}
	for _, o := range per.foreign {
		found = append(found, Finding{check, Error, fmt.Sprintf("%s belongs to user %d, and %s has to write there", o.path, o.uid, per.user.Name),
			fmt.Sprintf("As root, run `chown -R %s: %s`.", per.user.Name, o.path)})
	}
	if f := checkPortsDir(per.ports, per.scope, per.user); f != nil {
		found = append(found, *f)
	}
	if found == nil {
		return one(check, OK, "nobody else may change what is read, and all of it can be read", "")
	}
	return found
}

// whoReads says what to do about a file that cannot be read.
func (per permissions) whoReads() string {
	if per.scope == paths.System && per.user.UID != 0 {
		return "Run this as root."
	}
	return "Let " + per.user.Name + " read it."
}

// portsMode is that of a directory in which each user has a file, as /tmp's.
const portsMode = fs.ModeDir | fs.ModeSticky | 0o777

// checkPortsDir is about the registry of ports, which each user who has a site writes to.
func checkPortsDir(d directory, scope paths.Scope, u User) *Finding {
	const check = "permissions"
	asRoot := "Run"
	if scope == paths.User {
		asRoot = "As root, run"
	}
	switch {
	case errors.Is(d.err, fs.ErrNotExist) && scope == paths.System:
		return nil // the first site makes it
	case errors.Is(d.err, fs.ErrNotExist):
		return &Finding{check, Warning, d.path + " is missing, where each user with a site notes its ports", "As root, run `systemd-tmpfiles --create`."}
	case d.err != nil:
		return &Finding{check, Error, d.err.Error(), asRoot + " `systemd-tmpfiles --create`."}
	case d.uid != 0 && d.uid != u.UID:
		return &Finding{check, Error, fmt.Sprintf("%s belongs to user %d, who could remove what others have noted there", d.path, d.uid), fmt.Sprintf("%s `chown root:root %s`.", asRoot, d.path)}
	case d.mode != portsMode:
		return &Finding{check, Error, fmt.Sprintf("%s has mode %s, where each user has to write, and none to remove what others have", d.path, octal(d.mode)),
			fmt.Sprintf("%s `chmod 1777 %s`.", asRoot, d.path)}
	}
	return nil
}

// octal is a mode as chmod has it.
func octal(mode fs.FileMode) string {
	sticky := 0
	if mode&fs.ModeSticky != 0 {
		sticky = 1
	}
	return fmt.Sprintf("%d%03o", sticky, mode.Perm())
}
