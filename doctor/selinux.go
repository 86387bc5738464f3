package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sitelet/sitelet/internal/paths"
)

// selinux is the mode that the kernel is in.
type selinux struct {
	mode string // "disabled", "permissive" or "enforcing"
	err  error
}

func lookAtSELinux(p paths.Paths) selinux {
	text, err := os.ReadFile(p.Below("/sys/fs/selinux/enforce"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return selinux{mode: "disabled"}
	case err != nil:
		return selinux{err: err}
	case strings.TrimSpace(string(text)) == "1":
		return selinux{mode: "enforcing"}
	}
	return selinux{mode: "permissive"}
}

// checkSELinux says what bind mounts of descriptors need: they keep the labels that they have, where the directories of sites are
// given theirs.
func checkSELinux(s selinux, mounts []string) []Finding {
	const check = "selinux"
	switch {
	case s.err != nil:
		return unknown(check, s.err)
	case s.mode != "enforcing" || len(mounts) == 0:
		return one(check, OK, s.mode, "")
	}
	return one(check, Note, fmt.Sprintf("%s, so containers can only use mounted directories whose label lets them: %s", s.mode, strings.Join(mounts, ", ")),
		"Where a container is refused, run `chcon -R -t container_file_t DIRECTORY`, or `semanage fcontext` and `restorecon` to have that stay.")
}
