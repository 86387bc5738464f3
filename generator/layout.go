package generator

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/workload"
)

// Below the runtime directory, all of it gone with a reboot:
//
//	quadlet/N/in/NAME.container  Quadlet's input, while it runs
//	quadlet/N/out/NAME.service   Quadlet's output, while it runs
//	cache/RENDER.service    a finished unit; systemd's generator directory links to it
//	cache/RENDER.quadlet    Quadlet's own text of it, which holds secrets
//	manifest                what the last run made of which inputs
func cacheDir(p paths.Paths) string     { return filepath.Join(p.RuntimeDir, "cache") }
func inputDir(p paths.Paths) string     { return filepath.Join(p.RuntimeDir, "quadlet") }
func manifestPath(p paths.Paths) string { return filepath.Join(p.RuntimeDir, "manifest") }
func podmanPath(p paths.Paths) string   { return filepath.Join(cacheDir(p), "podman-version") }

// UnitPath is where the finished unit of a rendering is kept.
func UnitPath(p paths.Paths, render workload.Digest) string {
	return filepath.Join(cacheDir(p), string(render)+".service")
}

// CreatePath is where Quadlet's text of the unit is kept, for its owner's eyes only.
func CreatePath(p paths.Paths, render workload.Digest) string {
	return filepath.Join(cacheDir(p), string(render)+".quadlet")
}

// writeFile replaces a file whole. It does not reach for the disk: nothing here outlives a boot.
func writeFile(path string, data []byte, mode os.FileMode) error {
	temp := path + ".new"
	if err := createFile(temp, data, mode); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// createFile is os.WriteFile for a regular file.
func createFile(path string, data []byte, mode os.FileMode) error {
	f, err := openFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// readFile reads a regular file into a buffer and gives the file a mode.
func readFile(into *bytes.Buffer, path string, mode os.FileMode) error {
	f, err := openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	into.Reset()
	_, err = into.ReadFrom(f)
	return errors.Join(err, f.Chmod(mode))
}

// openFile is os.OpenFile for a regular file. O_NONBLOCK means nothing to that, but without it package os takes four more system
// calls to try out whether the file can be waited for.
func openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NONBLOCK, mode)
}
