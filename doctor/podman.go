package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sitelet/sitelet/internal/quadlet"
)

// podmanInfo is what is used of podman info.
type podmanInfo struct {
	Version struct{ Version string }
	Store   struct {
		GraphRoot          string
		GraphRootAllocated uint64 // size of its file system
		GraphRootUsed      uint64 // of that
	}
	err error
}

func lookAtPodman(ctx context.Context, p Podman) podmanInfo {
	var info podmanInfo
	out, err := p.Run(ctx, "info", "--format", "json")
	if err == nil {
		err = json.Unmarshal(out, &info)
	}
	if err == nil && info.Version.Version == "" {
		err = errors.New("podman info does not say its version")
	}
	info.err = err
	return info
}

// errNoPodman stands for what checkPodman tells once.
var errNoPodman = errors.New("podman could not be asked")

func checkPodman(info podmanInfo, needed bool) []Finding {
	const check = "podman"
	bad := Error
	if !needed {
		bad = Note
	}
	if info.err != nil {
		return one(check, bad, "no container can be made: "+info.err.Error(), quadlet.InstallHint)
	}
	version, err := quadlet.ParseVersion(info.Version.Version)
	switch {
	case err != nil:
		return one(check, bad, err.Error(), quadlet.InstallHint)
	case !version.AtLeast(quadlet.Minimum):
		return one(check, bad, fmt.Sprintf("version %v is older than %v, the first that sitelet can work with", version, quadlet.Minimum), quadlet.InstallHint)
	}
	return one(check, OK, "version "+version.String(), "")
}

// hostQuadlet is the host's, or why there is none that can be used.
type hostQuadlet struct {
	quadlet.Tool
	err error
}

func lookAtQuadlet(ctx context.Context, root string) hostQuadlet {
	tool, err := quadlet.Host(ctx, root, "")
	return hostQuadlet{tool, err}
}

func checkQuadlet(q hostQuadlet, needed bool) []Finding {
	const check = "quadlet"
	if q.err != nil {
		level := Error
		if !needed {
			level = Note
		}
		return one(check, level, quadlet.Finding(q.err), quadlet.InstallHint)
	}
	return one(check, OK, "version "+q.Version.String()+", "+q.Path, "")
}
