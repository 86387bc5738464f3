package machine

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

//go:embed stage.sh
var stageScript string

const freshNamespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET

// newDisk lays out in dir, as stage.sh wants it, a writable file system on top of the layers below.
// It starts with copies of the topmost layer's containers and homes.
func newDisk(dir string, below []layer) error {
	for _, part := range []string{"upper", "work", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o755); err != nil {
			return err
		}
	}
	for _, part := range []string{"kmsg", "notify"} {
		if err := os.WriteFile(filepath.Join(dir, part), nil, 0o644); err != nil {
			return err
		}
	}
	for _, part := range []string{"containers", "home"} {
		if len(below) == 0 {
			if err := os.Mkdir(filepath.Join(dir, part), 0o755); err != nil {
				return err
			}
			continue
		}
		top := filepath.Join(below[len(below)-1].dir, part)
		if err := runQuietly(exec.Command("cp", "-a", "--reflink=auto", top, dir)); err != nil {
			return err
		}
	}
	return nil
}

// stage returns the command that becomes args, as the first process of fresh namespaces, on the disk in dir on top
// of the layers below. It dies with this process, or rather with the thread that starts it.
func stage(dir string, below []layer, args ...string) *exec.Cmd {
	var lower []string
	for _, l := range slices.Backward(below) {
		lower = append(lower, filepath.Join(l.dir, "upper"))
	}
	cmd := exec.Command("unshare", append([]string{"--cgroup", "sh", "-c", stageScript, "stage"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "DIR=" + dir, "LOWER=" + strings.Join(lower, ":")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: freshNamespaces, Setsid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}
