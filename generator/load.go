package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sitelet/sitelet/internal/build"
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/internal/state"
)

// Inputs is all that a run reads before it decides anything.
type Inputs struct {
	Config   config.Config
	Unread   string        // why descriptors and sites are not read; empty where they are
	Files    []source.File // descriptors
	Dirs     []string      // that were looked into for them
	Found    diag.List     // what is wrong with the configuration, and which files could not be read
	Names    []string      // workloads in the state
	Sites    []state.Site  // that are to have a router, or had one
	SiteDirs []SiteDirs    // where their resources and certificates lie

	paths    paths.Paths
	store    state.Store
	quadlets []string // services that Quadlet makes of other files, as pairs of name and path
}

// Load reads the inputs of a scope. It always returns what it could read.
func Load(p paths.Paths) Inputs {
	in := Inputs{paths: p, store: state.Store{Dir: p.StateDir}, quadlets: quadletUnits(p)}
	in.Config, in.Unread, in.Found = LoadConfig(p)
	if in.Config.Mode != config.Off {
		files, dirs, found := Reader(p).Descriptors(DescriptorDirs(p, in.Config))
		in.Files, in.Dirs, in.Found = files, dirs, append(in.Found, found...)
	}
	names, err := in.store.Names()
	if err != nil {
		in.Found = append(in.Found, diag.Diagnostic{File: p.StateDir, Message: err.Error()})
	}
	in.Names = names
	in.loadSites()
	return in
}

// LoadConfig reads the configuration. With an error in it, its mode is Off, as nobody knows what was meant: what runs is kept. unread
// says why descriptors and sites are not to be read, if they are not.
func LoadConfig(p paths.Paths) (c config.Config, unread string, found diag.List) {
	c, found = config.Load(p)
	if i := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }); i >= 0 {
		c.Mode = config.Off
		return c, found[i].File + ` has errors, which has the effect of mode = "off"`, found
	}
	if c.Mode == config.Off {
		unread = `mode is "off" in ` + c.ModeFrom
	}
	return c, unread, found
}

// loadSites reads what hooks have found that sites are to run: nothing of a site is decided here.
func (in *Inputs) loadSites() {
	names, err := in.store.Sites()
	if err != nil {
		in.Found = append(in.Found, diag.Diagnostic{File: in.paths.StateDir, Message: err.Error()})
	}
	for _, name := range names {
		s, err := in.store.ReadSite(name)
		if err != nil {
			in.Found = append(in.Found, diag.Diagnostic{File: in.paths.StateDir, Message: err.Error()})
			continue
		}
		in.Sites = append(in.Sites, s)
	}
	in.SiteDirs = siteDirs(in.paths.NamespacesDir)
}

// DescriptorDirs lists the directories that hold descriptors.
func DescriptorDirs(p paths.Paths, c config.Config) []string {
	dirs := []string{p.ContainersDir}
	for _, dir := range c.Containers.Directories {
		dirs = append(dirs, p.Below(dir))
	}
	return dirs
}

// Reader reads descriptors with the trust that fits the scope.
func Reader(p paths.Paths) source.Reader {
	return source.Reader{Root: p.Root, Trusted: p.Scope == paths.System}
}

// Fingerprint digests the inputs: as long as it stays the same, so does the output.
func (in Inputs) Fingerprint() string {
	h := sha256.New()
	put(h, in.Written())
	for _, name := range in.Names {
		put(h, name, in.store.Stamp(name))
	}
	// A directory's time changes with its entries, and their names are all that matters here.
	for _, dir := range in.paths.UnitDirs {
		if info, err := os.Stat(dir); err == nil {
			put(h, dir, strconv.FormatInt(info.ModTime().UnixNano(), 10))
		}
	}
	put(h, in.quadlets...)
	return hex.EncodeToString(h.Sum(nil))
}

// Written digests what units are made from: configuration, descriptors, what sites are to run, and sitelet itself, but not what is known
// of workloads.
func (in Inputs) Written() string {
	h := sha256.New()
	put(h, build.Version, strconv.Itoa(int(in.Config.Mode)))
	put(h, in.Dirs...)
	for _, d := range in.Found {
		put(h, d.String())
	}
	for _, site := range in.SiteDirs {
		put(h, site.Namespace)
		put(h, site.Dirs...)
	}
	for _, s := range in.Sites {
		put(h, s.Namespace, s.Platform, s.ID, s.Suffix, toJSON(s.Router))
	}
	for _, f := range in.Files {
		put(h, f.Path)
		put(h, strconv.Itoa(len(f.Data)))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func put(h hash.Hash, values ...string) {
	for _, v := range values {
		io.WriteString(h, strconv.Itoa(len(v))+":"+v)
	}
	io.WriteString(h, ";")
}

// LoadNamed is Load with the files that are named, or lie in directories that are, in place of the configured ones: descriptors and
// resources of sites alike. With none named it is Load.
func LoadNamed(p paths.Paths, named []string) (Inputs, error) {
	in := Load(p)
	if len(named) == 0 {
		return in, nil
	}
	// Whoever names a file wants to know what is in it, not whose it is.
	reader := source.Reader{Root: p.Root}
	in.Files, in.Found = nil, nil
	for _, path := range named {
		info, err := os.Stat(path)
		if err != nil {
			return Inputs{}, fmt.Errorf("%s cannot be checked: %w", path, err)
		}
		if !info.IsDir() {
			in.add(reader.File(path))
			continue
		}
		before := len(in.Files) + len(in.Found)
		for _, dir := range resourceDirs(path) {
			files, _, found := reader.Both(dir)
			in.Files, in.Found = append(in.Files, files...), append(in.Found, found...)
		}
		if len(in.Files)+len(in.Found) == before {
			return Inputs{}, fmt.Errorf("there is nothing to check in %s; name descriptors (.json), resources of a site (.yaml, .yml), or directories that hold some", path)
		}
	}
	return in, nil
}

func (in *Inputs) add(file source.File, bad *diag.Diagnostic) {
	if bad != nil {
		in.Found = append(in.Found, *bad)
		return
	}
	in.Files = append(in.Files, file)
}

// resourceDirs returns where the resources lie of a namespace's directory, or of the directory of all namespaces: the rest of it is
// what sitelet has made. Any other directory is one itself.
func resourceDirs(path string) []string {
	var dirs []string
	for _, pattern := range []string{"input/resources", "*/input/resources"} {
		matches, _ := fs.Glob(os.DirFS(path), pattern)
		for _, match := range matches {
			dirs = append(dirs, filepath.Join(path, match))
		}
	}
	if len(dirs) == 0 {
		return []string{path}
	}
	return dirs
}
