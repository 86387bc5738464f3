// Package config reads sitelet.toml and its drop-ins. settings.go lists the keys, document.go finds them in a file.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/source"
)

// Config is the configuration; its zero value holds the defaults.
type Config struct {
	Mode       Mode
	ModeFrom   string // path of the file that sets it; empty where none does
	Prune      bool   // remove what has no descriptor any more
	Containers Containers
	Update     Updates
	Platform   string // of the sites that have none yet: "podman", "docker" or "linux"; empty for podman
	Router     Router
	Docker     Docker
}

// Docker configures the engine of the platform of that name.
type Docker struct {
	Endpoint string // URL or path of a socket; empty for what the environment says, or the scope's own
}

// Router configures the routers of sites.
type Router struct {
	Image   string // empty for DefaultRouterImage
	Upgrade Upgrade
}

// DefaultRouterImage is upstream's, as its own commands use it.
const DefaultRouterImage = "quay.io/skupper/skupper-router:main"

// Upgrade says when a router gets another image than the one that it was started with.
type Upgrade int

const (
	Newer  Upgrade = iota // when the configured one has a higher version, or a tag without one differs
	Always                // when the configured one is another
	Never                 // not at all
)

var upgradeNames = []string{Newer: "newer", Always: "always", Never: "never"}

// WithEnvironment returns the configuration with what Skupper's own variables set: SKUPPER_PLATFORM and SKUPPER_ROUTER_IMAGE.
func (c Config) WithEnvironment(getenv func(string) string) (Config, error) {
	if platform := getenv("SKUPPER_PLATFORM"); platform != "" {
		if !IsPlatform(platform) {
			return c, fmt.Errorf("SKUPPER_PLATFORM is %q; set it to %s, or unset it", platform, platformList)
		}
		c.Platform = platform
	}
	if image := getenv("SKUPPER_ROUTER_IMAGE"); image != "" {
		if !isImage(image) {
			return c, fmt.Errorf("SKUPPER_ROUTER_IMAGE is %q, which is no image; set it to one such as %s, or unset it", image, DefaultRouterImage)
		}
		c.Router.Image = image
	}
	return c, nil
}

// Updates configures how a changed workload is taken up.
type Updates struct {
	Trial time.Duration // how long a new version must run without a restart; 0 for defaultProbation
	Pull  bool          // look for moved tags at each reload
}

// defaultProbation is update.probation where it is not set.
const defaultProbation = 10 * time.Second

// Probation returns how long a new version must run without a restart before the old one is given up.
func (u Updates) Probation() time.Duration {
	if u.Trial == 0 {
		return defaultProbation
	}
	return u.Trial
}

// Containers configures where descriptors come from.
type Containers struct {
	Directories []string // read besides paths.Paths.ContainersDir; absolute and clean, without the root of the paths
}

// Mode says what is done with descriptors at boot and at a daemon-reload.
type Mode int

const (
	Update Mode = iota // new ones become services, and services change with their descriptors
	Init               // new ones become services; those whose containers were made before stay as they are
	Off                // they are not read; services whose containers were made before stay as they are
)

var modeNames = []string{Update: "update", Init: "init", Off: "off"}

// File is a configuration file that was read.
type File struct {
	Path string // as the user would name it
	Data []byte
}

// Read makes one configuration out of files; what a later file sets replaces what an earlier one set. All findings are
// errors. A file that is no TOML is left out as a whole, and a value that is refused leaves its key as it was.
func Read(files []File) (Config, diag.List) {
	var c Config
	var found diag.List
	for _, file := range files {
		found = append(found, c.add(file)...)
	}
	return c, found
}

// Load reads the configuration files of p: ConfigFile, then those of ConfigDropIns by name. What does not exist is no
// error. What others may change is not read in system scope.
func Load(p paths.Paths) (Config, diag.List) {
	names := []string{p.ConfigFile}
	entries, err := os.ReadDir(p.ConfigDropIns)
	var found diag.List
	if err != nil {
		found = append(found, unreadable(p.ConfigDropIns, err)...)
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".toml") && !strings.HasPrefix(name, ".") {
			names = append(names, filepath.Join(p.ConfigDropIns, name))
		}
	}
	reader := source.Reader{Root: p.Root, Trusted: p.Scope == paths.System}
	var files []File
	for _, name := range names {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		file, bad := reader.Lone(name)
		if bad != nil {
			bad.Hint = cmp.Or(bad.Hint, mend)
			found = append(found, *bad)
			continue
		}
		files = append(files, File{Path: name, Data: file.Data})
	}
	c, more := Read(files)
	return c, append(found, more...)
}

// mend is what to do about a path that cannot be read.
const mend = "Mend its type or its permissions, or move it away."

// unreadable reports that a path could not be read, unless it is because there is none.
func unreadable(path string, err error) diag.List {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var reason *fs.PathError
	if errors.As(err, &reason) {
		err = reason.Err
	}
	return diag.List{{File: path, Message: "cannot be read: " + err.Error(), Hint: mend}}
}
