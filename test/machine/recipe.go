package machine

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const suite = "trixie"

var (
	//go:embed packages.txt
	packages string
	//go:embed setup.sh
	setupScript string
)

// Prepare makes what machines with that package (none if empty) start from, so that the first does not wait for it.
func Prepare(deb string) error {
	if err := Available(); err != nil {
		return err
	}
	_, err := layers(deb)
	return err
}

// layers returns what a machine with that package (none if empty) stands on, the lowest first.
func layers(deb string) ([]layer, error) {
	below, err := debian()
	if err != nil || deb == "" {
		return below, err
	}
	return withDeb(below, deb)
}

// base returns the lowest layer, a plain Debian. The first call on a host downloads it, which takes about a minute
// and is announced on standard error.
func base() (layer, error) {
	return cached(baseName(), bootstrap)
}

func baseName() string {
	return layerName("base", suite, runtime.GOARCH, packages)
}

// debian returns the layers of a machine without sitelet.
func debian() ([]layer, error) {
	base, err := base()
	if err != nil {
		return nil, err
	}
	below := []layer{base}
	setup, err := cached(layerName("setup", base.dir, setupScript, stageScript), func(dir string) error {
		return buildOn(below, dir, strings.NewReader(setupScript), "sh")
	})
	if err != nil {
		return nil, err
	}
	return append(below, setup), nil
}

// withDeb puts a layer on top of below that has the Debian package at path installed, as on a machine that
// is not running: what the package enables starts at the next boot.
func withDeb(below []layer, path string) ([]layer, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	top := below[len(below)-1]
	deb, err := cached(layerName("deb", top.dir, string(content)), func(dir string) error {
		return buildOn(below, dir, bytes.NewReader(content), "sh", "-ec", "cat >/run/package.deb; dpkg --install /run/package.deb")
	})
	if err != nil {
		return nil, err
	}
	return append(below, deb), nil
}

// layerName returns a name that is the same only for the same kind made from the same inputs.
func layerName(kind string, inputs ...string) string {
	return fmt.Sprintf("%s-%.6x", kind, sha256.Sum256([]byte(strings.Join(inputs, "\x00"))))
}

// buildOn makes a layer in dir by running a command, with the input if there is one, on the layers below.
func buildOn(below []layer, dir string, input io.Reader, args ...string) error {
	if err := newDisk(dir, below); err != nil {
		return err
	}
	cmd := stage(dir, below, args...)
	cmd.Stdin = input
	return runQuietly(cmd)
}

// bootstrap makes the lowest layer in dir.
func bootstrap(dir string) error {
	if err := findBootstrapper(); err != nil {
		return err
	}
	if err := newDisk(dir, nil); err != nil {
		return err
	}
	mirror := debianMirror(os.DirFS("/"))
	fmt.Fprintf(os.Stderr, "test machine: downloading Debian %s from %s into %s; this takes about a minute, once\n", suite, mirror, dir)
	args := []string{"--variant=apt", "--dpkgopt=force-unsafe-io", "--include=" + strings.Join(strings.Fields(packages), ",")}
	for _, option := range aptOptions() {
		args = append(args, "--aptopt="+option)
	}
	cmd := exec.Command("mmdebstrap", append(args, suite, filepath.Join(dir, "upper"), mirror)...)
	// In a process namespace of its own nothing of it outlives this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	return runQuietly(cmd)
}

// findBootstrapper returns an error where the lowest layer cannot be made.
func findBootstrapper() error {
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return errors.New("machines are made by mmdebstrap, which is missing; install it with: apt-get install mmdebstrap")
	}
	return nil
}

// aptOptions returns what the host's apt.conf(5) says of reaching its mirror, such as a proxy.
func aptOptions() []string {
	out, err := exec.Command("apt-config", "dump", "--no-empty", "--format=%f \"%v\";%n",
		"Acquire::http", "Acquire::https", "Acquire::Check-Valid-Until").Output()
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// runQuietly runs a command whose output is of interest only when it fails.
func runQuietly(cmd *exec.Cmd) error {
	// The kernel sends Pdeathsig when the thread ends that started the command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Args[0], err, out)
	}
	return nil
}
