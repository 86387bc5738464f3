// Package paths knows where everything of sitelet's lives: it resolves each path once, from a scope and a root. Whatever else of the
// host is looked at is found by Paths.Below.
package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Scope is whose systemd is served.
type Scope int

const (
	System Scope = iota // the host's systemd, PID 1
	User                // one user's systemd, `systemctl --user`
)

// String returns "system" or "user", the words of SYSTEMD_SCOPE= in systemd.generator(7).
func (s Scope) String() string {
	if s == User {
		return "user"
	}
	return "system"
}

// Systemctl returns the command that talks to the scope's systemd, for what people are told to run.
func (s Scope) Systemctl() string {
	if s == User {
		return "systemctl --user"
	}
	return "systemctl"
}

// Paths holds absolute, clean paths, all below Root. Nothing says that they exist.
type Paths struct {
	Scope Scope
	Root  string // "/", or the directory that stands in for it in tests

	ConfigFile    string // sitelet.toml
	ConfigDropIns string // directory of *.toml files that are read after ConfigFile
	ContainersDir string // container descriptors, *.json at any depth
	NamespacesDir string // one directory a site, laid out as Skupper does
	StateDir      string // outlives a boot
	PortsDir      string // ports that sites have, of all scopes: everyone may write there (mode 1777)
	RuntimeDir    string // does not
	GeneratorDir  string // where systemd has generators put their units; the first of their three arguments

	UnitDirs    []string // where units of other origin lie, from the most important down
	QuadletDirs []string // where Quadlet looks for files of other origin; below a system's it skips "users" in /etc
}

// New resolves the paths of a scope below root; an empty root is "/", a relative one starts at the working directory.
//
// System scope reads no environment: systemd starts generators without HOME. User scope follows the XDG base directory
// specification, where a variable that is empty or holds a relative path counts as unset, and fails if it needs HOME and
// HOME is no absolute path.
func New(scope Scope, root string, getenv func(string) string) (Paths, error) {
	if root == "" {
		root = "/"
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return Paths{}, fmt.Errorf("the root directory %s is relative and the working directory is unknown: %w", root, err)
	}
	if scope == System {
		return system().below(root), nil
	}
	x, err := readXDG(getenv, strconv.Itoa(os.Getuid()))
	if err != nil {
		return Paths{}, err
	}
	return user(x).below(root), nil
}

// Below returns where an absolute path of the host's lies when Root stands in for "/".
func (p Paths) Below(path string) string {
	return filepath.Join(p.Root, filepath.Clean("/"+path))
}

// portsDir is the same for all scopes, because a host has its ports once.
const portsDir = "/var/lib/sitelet-ports"

// system returns the host's paths. The order of UnitDirs is that of systemd.unit(5), the order of QuadletDirs that of
// podman-systemd.unit(5).
func system() Paths {
	return Paths{
		Scope:         System,
		ConfigFile:    "/etc/sitelet/sitelet.toml",
		ConfigDropIns: "/etc/sitelet/sitelet.toml.d",
		ContainersDir: "/etc/sitelet/containers",
		NamespacesDir: "/var/lib/skupper/namespaces",
		StateDir:      "/var/lib/sitelet",
		PortsDir:      portsDir,
		RuntimeDir:    "/run/sitelet",
		GeneratorDir:  "/run/systemd/generator",
		UnitDirs: []string{
			"/etc/systemd/system",
			"/run/systemd/system",
			"/usr/local/lib/systemd/system",
			"/usr/lib/systemd/system",
			"/lib/systemd/system",
		},
		QuadletDirs: []string{
			"/run/containers/systemd",
			"/etc/containers/systemd",
			"/usr/share/containers/systemd",
		},
	}
}

// user returns the paths of the user whose directories x names, with the sources of system.
func user(x xdg) Paths {
	p := Paths{
		Scope:         User,
		ConfigFile:    filepath.Join(x.config, "sitelet/sitelet.toml"),
		ConfigDropIns: filepath.Join(x.config, "sitelet/sitelet.toml.d"),
		ContainersDir: filepath.Join(x.config, "sitelet/containers"),
		NamespacesDir: filepath.Join(x.data, "skupper/namespaces"),
		StateDir:      filepath.Join(x.state, "sitelet"),
		PortsDir:      portsDir,
		RuntimeDir:    filepath.Join(x.runtime, "sitelet"),
		GeneratorDir:  filepath.Join(x.runtime, "systemd/generator"),
		QuadletDirs: []string{
			filepath.Join(x.runtime, "containers/systemd"),
			filepath.Join(x.config, "containers/systemd"),
			"/etc/containers/systemd/users",
			"/etc/containers/systemd/users/" + x.uid,
			"/usr/share/containers/systemd/users",
			"/usr/share/containers/systemd/users/" + x.uid,
		},
	}
	bases := slices.Concat([]string{x.config}, x.configDirs, []string{"/etc", x.runtime, "/run", x.data}, x.dataDirs,
		[]string{"/usr/local/lib", "/usr/lib"})
	for _, base := range bases {
		p.UnitDirs = append(p.UnitDirs, filepath.Join(base, "systemd/user"))
	}
	return p
}

// below returns p with every path moved below root.
func (p Paths) below(root string) Paths {
	p.Root = root
	for _, path := range []*string{
		&p.ConfigFile, &p.ConfigDropIns, &p.ContainersDir, &p.NamespacesDir, &p.StateDir, &p.PortsDir, &p.RuntimeDir, &p.GeneratorDir,
	} {
		*path = filepath.Join(root, *path)
	}
	for _, dirs := range [][]string{p.UnitDirs, p.QuadletDirs} {
		for i := range dirs {
			dirs[i] = filepath.Join(root, dirs[i])
		}
	}
	return p
}

// xdg holds a user's base directories, all absolute.
type xdg struct {
	uid                          string
	config, data, state, runtime string
	configDirs, dataDirs         []string
}

// readXDG applies the rules of the XDG Base Directory Specification 0.8. The runtime directory defaults to the one that
// pam_systemd(8) makes, so that commands also work where no session was opened, such as under `su`.
func readXDG(getenv func(string) string, uid string) (xdg, error) {
	x := xdg{uid: uid}
	var missing []string
	dir := func(variable, inHome string) string {
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		if home := getenv("HOME"); filepath.IsAbs(home) {
			return filepath.Join(home, inHome)
		}
		missing = append(missing, variable)
		return ""
	}
	x.config = dir("XDG_CONFIG_HOME", ".config")
	x.data = dir("XDG_DATA_HOME", ".local/share")
	x.state = dir("XDG_STATE_HOME", ".local/state")
	if missing != nil {
		return xdg{}, fmt.Errorf("your home directory is unknown; set HOME, or %s, to an absolute path", strings.Join(missing, " and "))
	}
	x.runtime = "/run/user/" + uid
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		x.runtime = dir
	}
	x.configDirs = absolute(getenv("XDG_CONFIG_DIRS"), "/etc/xdg")
	x.dataDirs = absolute(getenv("XDG_DATA_DIRS"), "/usr/local/share", "/usr/share")
	return x, nil
}

// absolute returns the absolute paths of a list with colons, or the defaults if it has none.
func absolute(list string, defaults ...string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(list) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	if dirs == nil {
		return defaults
	}
	return dirs
}
