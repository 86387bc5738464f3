package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

// missingMounts warns of what descriptors mount and the host does not have: Podman makes no such container.
func missingMounts(p paths.Paths, in generator.Inputs) diag.List {
	set, _ := in.Check()
	var found diag.List
	for _, c := range set {
		for i, m := range c.Mounts {
			if _, err := os.Stat(p.Below(m.Source)); errors.Is(err, fs.ErrNotExist) {
				found = append(found, c.Finding(c.MountsAt[i], fmt.Sprintf("mount_points[%d].source", i), diag.Warning,
					diag.Quote(m.Source)+" does not exist on this host", "Make it, or correct the path: until it is there no container can be made."))
			}
		}
	}
	return found
}
