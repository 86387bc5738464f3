package generator

import (
	"os"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/workload"
)

// Below the runtime directory, all of it gone with a reboot:
//
//	cache/RENDER.service  a unit; systemd's generator directory links to it
//	cache/RENDER.create   what its container is made from (HookData), which holds secrets
//	cache/RENDER.quadlet  what the host's quadlet makes of that, until the container is made
//	manifest              what the last run made of which inputs
func cacheDir(p paths.Paths) string     { return filepath.Join(p.RuntimeDir, "cache") }
func manifestPath(p paths.Paths) string { return filepath.Join(p.RuntimeDir, "manifest") }

// unitPath is where the unit of a rendering is kept.
func unitPath(p paths.Paths, render workload.Digest) string {
	return filepath.Join(cacheDir(p), string(render)+".service")
}

// CreatePath is where it is kept what the container of a rendering is made from, for its owner's eyes only.
func CreatePath(p paths.Paths, render workload.Digest) string {
	return filepath.Join(cacheDir(p), string(render)+".create")
}

// QuadletPath is where hooks keep what quadlet makes of a rendering, for its owner's eyes only.
func QuadletPath(p paths.Paths, render workload.Digest) string {
	return filepath.Join(cacheDir(p), string(render)+".quadlet")
}

// writeFile replaces a file whole. It does not reach for the disk: nothing here outlives a boot.
func writeFile(path string, data []byte, mode os.FileMode) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, data, mode); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
