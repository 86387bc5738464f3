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
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/build"
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/source"
	"github.com/sitelet/sitelet/internal/state"
)

// Inputs is all that a run reads before it decides anything.
type Inputs struct {
	Config  config.Config
	Files   []source.File // descriptors
	Found   diag.List     // what is wrong with the configuration, and which files could not be read
	Names   []string      // workloads in the state
	Tool    Tool
	ToolErr error // why there is no tool

	paths paths.Paths
	store state.Store
}

// Load reads the inputs of a scope. It always returns what it could read.
func Load(p paths.Paths) Inputs {
	in := Inputs{paths: p, store: state.Store{Dir: p.StateDir}}
	in.Config, in.Found = config.Load(p)
	if in.Found.HasErrors() {
		// Nobody knows what was meant: keep what runs.
		in.Config.Mode = config.Off
	}
	if in.Config.Mode != config.Off {
		files, found := Reader(p).Descriptors(DescriptorDirs(p, in.Config))
		in.Files, in.Found = files, append(in.Found, found...)
	}
	names, err := in.store.Names()
	if err != nil {
		in.Found = append(in.Found, diag.Diagnostic{File: p.StateDir, Message: err.Error()})
	}
	in.Names = names
	in.Tool, in.ToolErr = findTool(p)
	return in
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
	put(h, build.Version, strconv.Itoa(int(in.Config.Mode)), in.Tool.Identity)
	put(h, in.Config.Containers.Directories...)
	put(h, in.Names...)
	for _, d := range in.Found {
		put(h, d.String())
	}
	for _, f := range in.Files {
		put(h, f.Path)
		put(h, strconv.Itoa(len(f.Data)))
		h.Write(f.Data)
	}
	// A directory's time changes with its entries, and their names are all that matters here.
	for _, dir := range in.paths.UnitDirs {
		if info, err := os.Stat(dir); err == nil {
			put(h, dir, strconv.FormatInt(info.ModTime().UnixNano(), 10))
		}
	}
	put(h, quadletUnits(in.paths)...)
	return hex.EncodeToString(h.Sum(nil))
}

func put(h hash.Hash, values ...string) {
	for _, v := range values {
		io.WriteString(h, strconv.Itoa(len(v))+":"+v)
	}
	io.WriteString(h, ";")
}

// takenBy returns where another unit of the host has the name of a workload's unit. A mask is no such unit: it is how an
// administrator says that the workload must not run.
func takenBy(p paths.Paths) func(name string) (where string, ok bool) {
	quadlets := quadletUnits(p)
	return func(name string) (string, bool) {
		for _, dir := range p.UnitDirs {
			path := filepath.Join(dir, name+".service")
			if target, err := os.Readlink(path); err == nil && target == "/dev/null" {
				continue
			}
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				return path, true
			}
		}
		for i := 0; i < len(quadlets); i += 2 {
			if quadlets[i] == name {
				return quadlets[i+1], true
			}
		}
		return "", false
	}
}

// quadletUnits lists the services that Quadlet makes of the administrator's files, as pairs of name and path
// (podman-systemd.unit(5)).
func quadletUnits(p paths.Paths) []string {
	var out []string
	for _, dir := range p.QuadletDirs {
		filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return fs.SkipDir
			}
			if entry.IsDir() {
				return nil
			}
			if name := serviceOf(entry.Name()); name != "" {
				out = append(out, name, path)
			}
			return nil
		})
	}
	return out
}

func serviceOf(file string) string {
	ext := filepath.Ext(file)
	base := strings.TrimSuffix(file, ext)
	switch ext {
	case ".container", ".kube":
		return base
	case ".pod", ".volume", ".network", ".image", ".build", ".artifact":
		return fmt.Sprintf("%s-%s", base, ext[1:])
	}
	return ""
}

// LoadNamed is Load with the files and directories that are named in place of the configured ones; with none named it is Load.
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
		if info.IsDir() {
			files, found := reader.Descriptors([]string{path})
			in.Files, in.Found = append(in.Files, files...), append(in.Found, found...)
			continue
		}
		file, bad := reader.File(path)
		if bad != nil {
			in.Found = append(in.Found, *bad)
			continue
		}
		in.Files = append(in.Files, file)
	}
	return in, nil
}
