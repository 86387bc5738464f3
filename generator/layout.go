package generator

import (
	"os"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/workload"
)

// Below the runtime directory, all of it gone with a reboot:
//
//	quadlet/NAME.container  Quadlet's input, while it runs
//	units/NAME.service      Quadlet's output, while it runs
//	cache/RENDER.service    a finished unit; systemd's generator directory links to it
//	cache/RENDER.quadlet    Quadlet's own text of it, which holds secrets
//	manifest                what the last run made of which inputs
func cacheDir(p paths.Paths) string     { return filepath.Join(p.RuntimeDir, "cache") }
func inputDir(p paths.Paths) string     { return filepath.Join(p.RuntimeDir, "quadlet") }
func outputDir(p paths.Paths) string    { return filepath.Join(p.RuntimeDir, "units") }
func manifestPath(p paths.Paths) string { return filepath.Join(p.RuntimeDir, "manifest") }

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
	if err := os.WriteFile(temp, data, mode); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
