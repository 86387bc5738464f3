package doctor

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/paths"
)

// runtimeDir is the directory that XDG_RUNTIME_DIR names, or would.
type runtimeDir struct {
	path   string
	exists bool
}

func lookAtRuntimeDir(p paths.Paths) runtimeDir {
	path := filepath.Dir(p.RuntimeDir)
	info, err := os.Stat(path)
	return runtimeDir{path, err == nil && info.IsDir()}
}

func checkRuntimeDir(d runtimeDir, u User) []Finding {
	const check = "runtime-directory"
	if d.exists {
		return one(check, OK, d.path, "")
	}
	return one(check, Error, d.path+" does not exist, so no systemd of yours runs, and Podman has no place for what it needs to run",
		fmt.Sprintf("Run `%s`, or log in, which su and sudo are not; as root, `machinectl shell %s@` is.", EnableLinger(u.Name), u.Name))
}
