package generator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/unit"
)

// takenBy returns where another unit of the host has the name of a workload's unit. A mask is no such unit: it is how an
// administrator says that the workload must not run.
func (in Inputs) takenBy() func(name string) (where string, ok bool) {
	dirs := distinct(in.paths.UnitDirs)
	var listed map[string]bool
	if len(in.Files) > manyNames {
		listed = namesIn(dirs)
	}
	return func(name string) (string, bool) {
		if where, ok := in.routerNamed(name); ok {
			return where, true
		}
		if listed != nil && !listed[name+".service"] {
			return in.quadletOf(name)
		}
		for _, dir := range dirs {
			path := filepath.Join(dir, name+".service")
			target, err := os.Readlink(path)
			if target == "/dev/null" || errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				return path, true
			}
		}
		return in.quadletOf(name)
	}
}

// routerNamed returns the file of the Site whose router's service or container has the name.
func (in Inputs) routerNamed(name string) (where string, ok bool) {
	for _, s := range in.Sites {
		if s.Router != nil && (name == SiteWorkload(s.Namespace) || name == RouterContainer(s.Namespace)) {
			return s.Router.Source, true
		}
	}
	return "", false
}

// manyNames is from when on it is quicker to read directories than to look each name up in them.
const manyNames = 40

// namesIn returns the names of the files in all of the directories.
func namesIn(dirs []string) map[string]bool {
	names := map[string]bool{}
	for _, path := range dirs {
		dir, err := os.Open(path)
		if err != nil {
			continue
		}
		files, _ := dir.Readdirnames(-1)
		dir.Close()
		for _, name := range files {
			names[name] = true
		}
	}
	return names
}

// distinct returns the directories that exist, each once: /lib is /usr/lib on most hosts.
func distinct(dirs []string) []string {
	var paths []string
	var infos []fs.FileInfo
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err == nil && !slices.ContainsFunc(infos, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
			paths, infos = append(paths, dir), append(infos, info)
		}
	}
	return paths
}

// quadletOf returns the file of the administrator's that Quadlet makes a unit of this name of.
func (in Inputs) quadletOf(name string) (path string, ok bool) {
	for i := 0; i < len(in.quadlets); i += 2 {
		if in.quadlets[i] == name {
			return in.quadlets[i+1], true
		}
	}
	return "", false
}

// quadletUnits lists the services that Quadlet makes of the administrator's files, as pairs of name and path
// (podman-systemd.unit(5)).
func quadletUnits(p paths.Paths) []string {
	q := quadletFiles{seen: map[string]bool{}}
	if p.Scope == paths.System {
		// What is in there is for users.
		q.seen[p.Below("/etc/containers/systemd/users")] = true
	}
	for _, dir := range p.QuadletDirs {
		q.walk(dir)
	}
	return q.units
}

// quadletFiles is the work of quadletUnits.
type quadletFiles struct {
	units []string
	seen  map[string]bool // directories, without symbolic links: Quadlet follows those
}

func (q *quadletFiles) walk(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || q.seen[real] {
		return
	}
	q.seen[real] = true
	entries, err := os.ReadDir(real)
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir() && filepath.Base(dir) == "users" && isNumber(entry.Name()):
			// A user's own: the one that counts is in QuadletDirs itself.
		case info.IsDir():
			q.walk(path)
		case info.Mode().IsRegular():
			if name := serviceOf(path); name != "" {
				q.units = append(q.units, name, path)
			}
		}
	}
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// serviceOf returns the name of the service that Quadlet makes of a file, or that a drop-in of one gives it.
func serviceOf(path string) string {
	ext := filepath.Ext(path)
	name := strings.TrimSuffix(filepath.Base(path), ext)
	switch ext {
	case ".container", ".kube":
	case ".pod", ".volume", ".network", ".image", ".build", ".artifact":
		name += "-" + ext[1:]
	case ".conf":
		name = ""
	default:
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return name
	}
	file, _ := unit.Parse(text)
	for _, a := range file {
		if a.Key == "ServiceName" {
			name = a.Value
		}
	}
	return name
}
