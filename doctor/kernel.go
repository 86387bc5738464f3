package doctor

import (
	"fmt"
	"os"
	"strings"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
)

// rootlessOverlay is the kernel from which on users may mount overlay file systems, which Podman keeps images in (overlay in user
// namespaces, Linux 5.11).
var rootlessOverlay = quadlet.Version{Major: 5, Minor: 11}

// kernel is the release of the one that runs, such as 6.12.57+deb13-amd64.
type kernel struct {
	release string
	err     error
}

func lookAtKernel(p paths.Paths) kernel {
	text, err := os.ReadFile(p.Below("/proc/sys/kernel/osrelease"))
	return kernel{strings.TrimSpace(string(text)), err}
}

func checkKernel(k kernel, scope paths.Scope) []Finding {
	const check = "kernel"
	if k.err != nil {
		return unknown(check, k.err)
	}
	version, err := quadlet.ParseVersion(k.release)
	if err != nil {
		return one(check, Note, fmt.Sprintf("its release is %q", k.release), "")
	}
	if scope == paths.User && !version.AtLeast(rootlessOverlay) {
		return one(check, Warning, fmt.Sprintf("version %s does not let users mount overlay file systems, so that Podman needs fuse-overlayfs", k.release),
			"Install fuse-overlayfs, or a kernel from 5.11 on.")
	}
	return one(check, OK, "version "+k.release, "")
}
