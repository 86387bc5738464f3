// Package hooks does what units and commands have done: it makes containers and prepares their starts, takes up changed
// descriptors, watches new versions and goes back from those that fail.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
	"github.com/sitelet/sitelet/internal/unit"
	"github.com/sitelet/sitelet/internal/workload"
)

// Engine is what the hooks need of what has containers: Podman, Docker, or engine.Native for none.
type Engine interface {
	Containers(ctx context.Context, filter string) ([]engine.Container, error)
	Exists(ctx context.Context, name string) bool
	Rename(ctx context.Context, id, name string) error
	Remove(ctx context.Context, id string) error
	EnsureNetwork(ctx context.Context, name string) error
	HostsFile(ctx context.Context, id string) (string, error)
	Addresses(ctx context.Context, id string) ([]string, error)
	Create(ctx context.Context, args, env []string) error
	Kill(ctx context.Context, id string) error
	ImageExists(ctx context.Context, image string) bool
	Logs(ctx context.Context, container string, lines int) []string
	Unhealthy(ctx context.Context, container string) bool
	Update(ctx context.Context, container string, flags []string) error
	Pull(ctx context.Context, image string, flags []string) (id string, err error)
}

// Manager is what the hooks need of systemd.
type Manager interface {
	Reload(ctx context.Context) error
	Enqueue(ctx context.Context, unit string) error
	Restart(ctx context.Context, unit string) error
	Start(ctx context.Context, unit string) error
	Stop(ctx context.Context, unit string) error
	ReloadUnit(ctx context.Context, unit string) error
	ResetFailed(ctx context.Context, unit string) error
	Unit(ctx context.Context, unit string) (systemd.Unit, error)
	States(ctx context.Context, units []string) (map[string]string, error)
	LastLines(ctx context.Context, unit string, lines int) []string
	Inactive(ctx context.Context) ([]string, error)
	Active(ctx context.Context, unit string) bool
	Stopping(ctx context.Context, unit string) (bool, error)
}

// Hooks serves the units of one scope.
type Hooks struct {
	Paths   paths.Paths
	Engine  Engine
	Systemd func(context.Context) (Manager, error) // connects when it is needed first
	Log     func(format string, args ...any)
	Doing   func(what string) (end func()) // if not nil, is told of what may take more than a second
	Now     func() time.Time
	Poll    time.Duration // between two looks at a unit

	keepRouter bool // a router is not to be another than the state says: only a reload decides that
}

func (h Hooks) now() time.Time { return h.Now().UTC().Truncate(time.Second) }

// doing tells that something is being done to a workload, until end is called.
func (h Hooks) doing(name, what string) (end func()) {
	if h.Doing == nil {
		return func() {}
	}
	return h.Doing(name + ": " + what)
}

// text returns what a version of a workload is made from, as generator.Rendered.Text has it: the descriptor as it is now, which may be
// gone, or a router's inputs.
func (h Hooks) text(name, source string, inputs []workload.Input) []byte {
	if _, _, ok := h.siteOf(name); ok {
		return generator.SiteText(inputs)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return nil
	}
	return text
}

// textDigest digests it; what is gone has none.
func (h Hooks) textDigest(name string, v state.Version) string {
	text := h.text(name, v.Source, v.Inputs)
	if text == nil {
		return ""
	}
	return state.TextDigest(text)
}

func (h Hooks) event(v state.Version, image, result, reason string) state.Event {
	return state.Event{At: h.now(), Generation: v.Generation, Image: image, Result: result, Reason: reason}
}

func (h Hooks) store() state.Store { return state.Store{Dir: h.Paths.StateDir} }

// dir is the runtime directory of a workload; its units know it as %t/sitelet/workloads/NAME.
func (h Hooks) dir(name string) string { return filepath.Join(h.Paths.RuntimeDir, "workloads", name) }

// made is a workload as its unit stands in systemd's generator directory.
type made struct {
	name   string
	unit   []byte
	create []byte // data as text
	render workload.Digest
	data   generator.HookData
	source string
}

// version is m as the state keeps it.
func (m made) version() state.Version {
	return state.Version{
		Generation: m.data.Generation, Revision: m.data.Revision, Render: m.render, Source: m.source,
		Wanted: m.data.Wanted, Inputs: m.data.Inputs, Unit: string(m.unit), Create: string(m.create),
	}
}

// read reads the unit that a workload has now.
func (h Hooks) read(name string) (made, error) {
	m := made{name: name}
	path := filepath.Join(h.Paths.GeneratorDir, name+".service")
	var err error
	if m.unit, err = os.ReadFile(path); err != nil {
		return m, fmt.Errorf("reading the unit of %s: %w", name, err)
	}
	parsed, err := unit.Parse(m.unit)
	if err != nil {
		return m, fmt.Errorf("reading %s: %w", path, err)
	}
	render, ok := parsed.Last("X-Sitelet", "Render")
	if !ok {
		return m, fmt.Errorf("%s is not a unit of sitelet's; run %s daemon-reload", path, h.Paths.Scope.Systemctl())
	}
	m.render = workload.Digest(render)
	m.source, _ = parsed.Last("Unit", "SourcePath")
	if m.create, err = h.createText(m); err != nil {
		return m, err
	}
	err = json.Unmarshal(m.create, &m.data)
	if err == nil && len(m.data.Generation) < shortLength {
		err = errors.New("it has no generation")
	}
	if err != nil {
		return m, fmt.Errorf("what the container of %s is made from cannot be read (%w); put its descriptor right and run `sitelet reload`", name, err)
	}
	return m, nil
}

// createText finds what the container of a unit is made from: where the generator put it, or in the state.
func (h Hooks) createText(m made) ([]byte, error) {
	text, err := os.ReadFile(generator.CreatePath(h.Paths, m.render))
	if err == nil {
		return text, nil
	}
	if w, stateErr := h.store().Read(m.name); stateErr == nil && w.Runs() != nil && w.Runs().Render == m.render {
		return []byte(w.Runs().Create), nil
	}
	return nil, fmt.Errorf("the command that makes %s is gone: %w; run %s daemon-reload", m.name, err, h.Paths.Scope.Systemctl())
}
