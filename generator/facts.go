package generator

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/paths"
)

// hostFacts is what rendering needs to know of the host. Rendering is a function of the model and of these alone.
type hostFacts struct {
	scope   paths.Scope
	systemd int // major version; 0 when it is not known, which counts as old
}

// restartSteps is the systemd that knows RestartSteps=, RestartMaxDelaySec= and RestartMode= (NEWS 254).
const restartSteps = 254

// SystemdVersion returns the major version of the host's systemd, 0 where it is not known. It is in the name of systemd's private
// library: a generator must not ask PID 1.
func SystemdVersion(p paths.Paths) int {
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
