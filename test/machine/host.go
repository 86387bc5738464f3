package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Available returns nil where machines can run, or an error whose text is a sentence that says why not
// and what to do. It finds out by starting a small stack of namespaces and mounts once a process.
var Available = sync.OnceValue(func() error {
	if os.Geteuid() != 0 {
		return errors.New("machines need root; run the tests as root")
	}
	for _, tool := range []string{"cp", "mount", "umount", "nsenter", "unshare", "pivot_root", "mknod"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("machines need the command %s; install util-linux, mount and coreutils", tool)
		}
	}
	if _, err := cgroupRoot(); err != nil {
		return err
	}
	if !isCached(baseName()) {
		if err := findBootstrapper(); err != nil {
			return err
		}
	}
	run, err := thisRun()
	if err != nil {
		return fmt.Errorf("machines need a directory for their disks: %w; name a usable one in SITELET_TEST_CACHE", err)
	}
	return tryNamespaces(filepath.Join(run.dir, "try"))
})

// tryNamespaces mounts in fresh namespaces what a machine mounts there, an overlay with its parts in dir first of all.
func tryNamespaces(dir string) error {
	defer os.RemoveAll(dir)
	for _, part := range []string{"lower", "upper", "work", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o755); err != nil {
			return err
		}
	}
	const script = `set -e
mount --make-rprivate /
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,volatile overlay root
mount -t proc proc root
umount root/
mount -t sysfs -o ro sysfs root
mount -t cgroup2 cgroup2 root/fs/cgroup`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: freshNamespaces}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("machines need namespaces and an overlayfs on %s (%w: %s); "+
			"in a container, run it privileged and name a directory of the host in SITELET_TEST_CACHE", dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// cgroupRoot returns where the host has cgroup v2 mounted: /sys/fs/cgroup, or beside version 1 on hybrid hosts.
func cgroupRoot() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("machines need /proc: %w", err)
	}
	for line := range strings.Lines(string(mounts)) {
		mount, filesystem, _ := strings.Cut(line, " - ")
		if strings.HasPrefix(filesystem, "cgroup2 ") {
			return strings.Fields(mount)[4], nil
		}
	}
	return "", errors.New("machines need cgroup v2; mount it with: mount -t cgroup2 cgroup2 /sys/fs/cgroup")
}
