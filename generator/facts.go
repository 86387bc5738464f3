package generator

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
)

// Facts is what rendering needs to know of the host. Rendering is a function of the model and of these alone.
type Facts struct {
	Scope   paths.Scope
	Podman  quadlet.Version
	Systemd int // major version; 0 when it is not known, which counts as old
}

// restartSteps is the systemd that knows RestartSteps=, RestartMaxDelaySec= and RestartMode= (NEWS 254).
const restartSteps = 254

// Tool is the host's quadlet.
type Tool struct {
	Path     string
	Identity string // changes when the binary is replaced
}

// findTool returns the host's quadlet, or an error that says what to install.
func findTool(p paths.Paths) (Tool, error) {
	path, err := quadlet.Find(p.Root)
	if err != nil {
		return Tool{}, err
	}
	identity, err := quadlet.Identity(path)
	if err != nil {
		return Tool{}, err
	}
	return Tool{path, identity}, nil
}

// settled is the Podman since which the same text is written for all, and probe a file that Quadlet takes since then. Whether it
// does tells as much as its version, for which it would have to be started once more.
var settled = quadlet.Version{Major: 5, Minor: 3}

const (
	probe     = "[Container]\nImage=localhost/probe\nAddHost=probe:127.0.0.1\n"
	probeName = "_probe" // that no container can have
)

// systemdVersion reads the version out of the name of systemd's private library: a generator must not ask PID 1.
func systemdVersion(p paths.Paths) int {
	// The first one is Debian's; * alone for its first star would list every directory of /usr/lib.
	for _, pattern := range []string{"/usr/lib/*-linux-*/systemd/libsystemd-shared-*.so", "/usr/lib/systemd/libsystemd-shared-*.so", "/usr/lib64/systemd/libsystemd-shared-*.so"} {
		found, _ := filepath.Glob(p.Below(pattern))
		for _, path := range found {
			name := strings.TrimPrefix(filepath.Base(path), "libsystemd-shared-")
			digits := strings.TrimRight(name, "abcdefghijklmnopqrstuvwxyz.")
			if i := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
				digits = digits[:i]
			}
			if version, err := strconv.Atoi(digits); err == nil {
				return version
			}
		}
	}
	return 0
}
