package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/systemd"
)

// oldestSystemd is the first that the units are written for.
const oldestSystemd = 252

// ErrElsewhere is why systemd is not asked about what lies below another root than its own.
var ErrElsewhere = errors.New("SITELET_ROOT stands in for the host, and systemd does not know it")

// lookAtSystemd returns the major version of the host's systemd; 0 where it is not known.
func lookAtSystemd(p paths.Paths) int { return generator.SystemdVersion(p) }

// checkSystemd is about the version, and whether systemd could be asked about units.
func checkSystemd(version int, unreachable error) []Finding {
	const check = "systemd"
	var found []Finding
	switch {
	case version == 0:
		found = one(check, Note, "its version is not known", "")
	case version < oldestSystemd:
		found = one(check, Error, fmt.Sprintf("version %d is older than %d, the first that sitelet can work with", version, oldestSystemd), "Update the host to a release with a newer systemd.")
	default:
		found = one(check, OK, fmt.Sprintf("version %d", version), "")
	}
	switch {
	case errors.Is(unreachable, ErrElsewhere):
		found = append(found, Finding{check, Note, "units were not looked at: " + unreachable.Error(), ""})
	case unreachable != nil:
		found = append(found, Finding{check, Warning, "units could not be looked at: " + unreachable.Error(), "Run this where systemd and its D-Bus run, a user's in a login session."})
	}
	return found
}

// units are those that systemd has loaded.
type units struct {
	all []systemd.Loaded
	err error // why they are not known
}

func (h Host) lookAtUnits(ctx context.Context) units {
	s, err := h.Systemd()
	if err != nil {
		return units{err: err}
	}
	all, err := s.Loaded(ctx, "sitelet-*", "skupper-*.service")
	return units{all, err}
}

// errNoSystemd stands for what checkSystemd tells once.
var errNoSystemd = errors.New("systemd could not be asked")

// state is a unit's ActiveState. One that is not loaded is inactive.
func (u units) state(name string) string {
	for _, l := range u.all {
		if l.Name == name {
			return l.State
		}
	}
	return "inactive"
}

func (u units) active(name string) bool { return u.state(name) == "active" }

// busy tells whether a one-shot is at work.
func (u units) busy(name string) bool { return u.state(name) == "activating" || u.active(name) }
