package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

// cgroup is what is known of control groups.
type cgroup struct {
	v2          bool
	controllers []string // that services of the scope can have
	err         error
}

// lookAtCgroup reads the controllers of the root group, or of the group of a user's systemd (cgroups(7), user@.service(5)).
func lookAtCgroup(p paths.Paths, u User) cgroup {
	root := p.Below("/sys/fs/cgroup")
	if _, err := os.Stat(root); err != nil {
		return cgroup{err: err}
	}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err != nil {
		return cgroup{}
	}
	dir := root
	if p.Scope == paths.User {
		dir = filepath.Join(root, fmt.Sprintf("user.slice/user-%d.slice/user@%d.service", u.UID, u.UID))
	}
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	return cgroup{v2: true, controllers: strings.Fields(string(text)), err: err}
}

// limiting are the controllers that limits need: those of descriptors, and Podman's own of processes.
var limiting = []string{"memory", "pids"}

func checkCgroup(c cgroup, speak speech) []Finding {
	const check = "cgroup"
	switch {
	case c.err != nil:
		return unknown(check, c.err)
	case !c.v2:
		return one(check, Error, "the host has version 1, which has no limits for services of users, and which newer releases of Podman do not know", "Boot it with systemd.unified_cgroup_hierarchy=1 on the kernel's command line.")
	}
	missing := slices.DeleteFunc(slices.Clone(limiting), func(name string) bool { return slices.Contains(c.controllers, name) })
	if len(missing) == 0 {
		return one(check, OK, "version 2 with "+diag.AllOf(limiting), "")
	}
	hint := "See which ones the kernel lacks or its command line disables in /proc/cgroups; for memory, boot with cgroup_enable=memory."
	if speak.scope == paths.User {
		hint = "As root, put `[Service]` and `Delegate=memory pids` into /etc/systemd/system/user@.service.d/delegate.conf, run `systemctl daemon-reload`, and log in anew."
	}
	verb := "is"
	if len(missing) > 1 {
		verb = "are"
	}
	return one(check, Warning, fmt.Sprintf("version 2, but %s %s not available, so limits of containers that need it do nothing", diag.AllOf(missing), verb), hint)
}
