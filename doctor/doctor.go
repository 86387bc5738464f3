// Package doctor looks for what keeps sitelet from doing its work on a host, and says what to do about it. Each check is a function
// of what was looked up.
package doctor

import (
	"context"
	"slices"
	"time"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/systemd"
)

// Level says how bad a finding is.
type Level int

const (
	OK      Level = iota
	Note          // nothing is wrong, or it could not be looked at
	Warning       // something works less well than it could, or will not work for ever
	Error         // something does not work
)

var levels = []string{"ok", "note", "warning", "error"}

func (l Level) String() string { return levels[l] }

// MarshalText has JSON show the word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is what a check has to say. Its JSON form is what programs rely on.
type Finding struct {
	Check   string `json:"check"` // such as "podman"
	Level   Level  `json:"level"`
	Message string `json:"message"` // without a final full stop
	Hint    string `json:"hint"`    // what to do, in sentences; empty where there is nothing to do
}

// Systemd is what is asked of systemd.
type Systemd interface {
	Loaded(ctx context.Context, patterns ...string) ([]systemd.Loaded, error)
}

// Podman is what is asked of podman.
type Podman interface {
	Run(ctx context.Context, args ...string) ([]byte, error)
}

// Host is what is looked at.
type Host struct {
	Hooks   hooks.Hooks
	Podman  Podman
	Systemd func() (Systemd, error) // the error says why it cannot be asked
	User    User
}

// User is who asks.
type User struct {
	Name string
	UID  int
}

// Examine makes all checks, in a fixed order. Each of them has at least one finding.
func Examine(ctx context.Context, h Host) ([]Finding, error) {
	p, speak := h.Hooks.Paths, speech{h.Hooks.Paths.Scope, h.User}
	in := lookAtInputs(ctx, h.Hooks)
	if in.err != nil {
		return nil, in.err
	}
	loaded := h.lookAtUnits(ctx)
	info := lookAtPodman(ctx, h.Podman)
	may := lookAtPermissions(p, h.User, in)
	now := h.Hooks.Now()
	return slices.Concat(
		checkPodman(info, in.needsPodman()),
		checkQuadlet(lookAtQuadlet(ctx, p.Root), in.needsPodman()),
		checkSystemd(lookAtSystemd(p), loaded.err),
		checkKernel(lookAtKernel(p), p.Scope),
		checkCgroup(lookAtCgroup(p, h.User), speak),
		checkSELinux(lookAtSELinux(p), in.mounts),
		checkUser(p, h.User, in),
		checkPermissions(may),
		checkFiles(in.plan.Found, may.refused, speak),
		checkGenerator(in, loaded, speak),
		checkAutoReload(loaded, in.namespaces(), speak),
		checkUnits(loaded, speak),
		checkOrphans(in.plan.Actions, speak),
		checkLeftovers(lookAtLeftovers(ctx, h.Hooks, in), loaded, speak),
		checkPorts(wantedPorts(in), lookAtListeners(p), speak),
		checkCertificates(in.certificates, now, speak),
		checkRenewal(loaded, in.namespaces(), speak),
		checkStorage(info),
	), nil
}

// checkUser has the checks that only a user's services need.
func checkUser(p paths.Paths, u User, in inputs) []Finding {
	if p.Scope != paths.User {
		return nil
	}
	return slices.Concat(
		checkLinger(Lingers(p, u.Name), u),
		checkRuntimeDir(lookAtRuntimeDir(p), u),
		checkSubIDs(lookAtSubIDs(p), u, in.needsPodman()),
	)
}

// one is a check with one finding.
func one(check string, level Level, message, hint string) []Finding {
	return []Finding{{check, level, message, hint}}
}

// unknown is a check that could not look.
func unknown(check string, why error) []Finding {
	return one(check, Note, "not looked at: "+why.Error(), "")
}

// day is how dates are written.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
