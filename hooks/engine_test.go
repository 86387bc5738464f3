package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/systemd"
)

// memory is an engine in memory: it keeps containers, and fails its failAt-th call, before or after it took effect.
type memory struct {
	containers []engine.Container
	networks   []string
	hostsFiles map[string]string   // by name
	addresses  map[string][]string // by name
	created    [][]string          // arguments of each creation
	creating   func(args []string) // called within each
	env        [][]string          // and its environment
	removed    []string            // names of removed containers
	missing    []string            // images that cannot be had
	updates    [][]string
	unhealthy  bool
	pulling    func(context.Context) (string, error)

	calls       int
	failAt      int // from 1; 0 for never
	afterEffect bool
}

var errCut = errors.New("the power was cut")

// step counts a call with an effect and tells whether it fails now.
func (m *memory) step(effect func()) error {
	m.calls++
	if m.calls == m.failAt {
		if m.afterEffect {
			effect()
		}
		return errCut
	}
	effect()
	return nil
}

func (m *memory) Containers(_ context.Context, filter string) ([]engine.Container, error) {
	key, value, _ := strings.Cut(strings.TrimPrefix(filter, "label="), "=")
	var out []engine.Container
	for _, c := range m.containers {
		if got, ok := c.Labels[key]; ok && (value == "" || got == value) {
			out = append(out, c)
		}
	}
	return out, nil
}

func (m *memory) index(idOrName string) int {
	return slices.IndexFunc(m.containers, func(c engine.Container) bool { return c.ID == idOrName || c.Named(idOrName) })
}

func (m *memory) Exists(_ context.Context, name string) bool { return m.index(name) >= 0 }

func (m *memory) Rename(_ context.Context, id, name string) error {
	i := m.index(id)
	if i < 0 {
		return fmt.Errorf("no container %s", id)
	}
	if m.index(name) >= 0 {
		return fmt.Errorf("the name %s is in use", name)
	}
	return m.step(func() { m.containers[i].Names = []string{name} })
}

func (m *memory) Remove(_ context.Context, id string) error {
	i := m.index(id)
	if i < 0 {
		return nil
	}
	if m.containers[i].State == "running" {
		return fmt.Errorf("container %s is running", id)
	}
	return m.step(func() {
		m.removed = append(m.removed, m.containers[i].Names[0])
		m.containers = slices.Delete(m.containers, i, i+1)
	})
}

func (m *memory) EnsureNetwork(_ context.Context, name string) error {
	if slices.Contains(m.networks, name) {
		return nil
	}
	return m.step(func() { m.networks = append(m.networks, name) })
}

func (m *memory) HostsFile(_ context.Context, id string) (string, error) {
	return m.hostsFiles[id], nil
}

func (m *memory) Addresses(_ context.Context, id string) ([]string, error) {
	return m.addresses[id], nil
}

func (m *memory) Create(ctx context.Context, args, env []string) error {
	c := engine.Container{ID: fmt.Sprintf("id%d", len(m.created)+1), State: "created", Labels: map[string]string{}}
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "--name="); ok {
			c.Names = []string{name}
		}
		if arg == "--label" {
			key, value, _ := strings.Cut(args[i+1], "=")
			c.Labels[key] = value
		}
		if _, text, ok := isPublish(args, i); ok {
			if p, err := parseMapping(text); err == nil {
				c.Ports = append(c.Ports, engine.Port{HostPort: p.first, ContainerPort: p.container, Protocol: p.proto, Range: 1})
			}
		}
	}
	if m.index(c.Names[0]) >= 0 {
		return fmt.Errorf("the name %s is in use", c.Names[0])
	}
	if m.creating != nil {
		m.creating(args)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.step(func() {
		m.created = append(m.created, args)
		m.env = append(m.env, env)
		m.containers = append(m.containers, c)
	})
}

func (m *memory) Kill(_ context.Context, id string) error {
	i := m.index(id)
	if i < 0 {
		return nil
	}
	return m.step(func() {
		m.removed = append(m.removed, m.containers[i].Names[0])
		m.containers = slices.Delete(m.containers, i, i+1)
	})
}

func (m *memory) ImageExists(_ context.Context, image string) bool {
	return !slices.Contains(m.missing, image)
}

func (m *memory) Logs(context.Context, string, int) []string { return []string{"last words"} }

func (m *memory) Unhealthy(context.Context, string) bool { return m.unhealthy }

func (m *memory) Update(_ context.Context, container string, flags []string) error {
	return m.step(func() { m.updates = append(m.updates, append([]string{container}, flags...)) })
}

func (m *memory) Pull(ctx context.Context, image string, _ []string) (string, error) {
	if m.pulling != nil {
		return m.pulling(ctx)
	}
	if slices.Contains(m.missing, image) {
		return "", fmt.Errorf("no registry has %s", image)
	}
	return "sha256:" + image, nil
}

// scripted is a systemd whose one unit is what run says, and whose restarts make and run its container.
type scripted struct {
	stopping string // the unit that is to be stopped
	h        *Hooks
	m        *memory
	unit     systemd.Unit
	startErr error
	others   map[string]systemd.Unit
	calls    []string
	reloads  func() // what the generator does at a daemon-reload
}

func (s *scripted) Reload(context.Context) error {
	s.calls = append(s.calls, "reload")
	if s.reloads != nil {
		s.reloads()
	}
	return nil
}

func (s *scripted) Enqueue(_ context.Context, unit string) error {
	s.calls = append(s.calls, "start "+unit)
	return nil
}

func (s *scripted) Restart(ctx context.Context, unit string) error {
	s.calls = append(s.calls, "restart "+unit)
	name := strings.TrimSuffix(unit, ".service")
	for i := range s.m.containers {
		s.m.containers[i].State = "exited"
	}
	if err := s.h.Create(ctx, name); err != nil {
		return err
	}
	s.m.containers[s.m.index(name)].State = "running"
	s.unit = systemd.Unit{ActiveState: "active", InvocationID: s.unit.InvocationID + "+"}
	return nil
}

func (s *scripted) Stop(_ context.Context, unit string) error {
	s.calls = append(s.calls, "stop "+unit)
	for i := range s.m.containers {
		s.m.containers[i].State = "exited"
	}
	return nil
}

func (s *scripted) ReloadUnit(context.Context, string) error { return nil }

func (s *scripted) Start(context.Context, string) error { return s.startErr }

func (s *scripted) ResetFailed(_ context.Context, unit string) error {
	s.calls = append(s.calls, "reset "+unit)
	return nil
}

func (s *scripted) Stopping(_ context.Context, unit string) (bool, error) {
	return s.stopping == unit, nil
}

func (s *scripted) Unit(_ context.Context, unit string) (systemd.Unit, error) {
	if u, ok := s.others[unit]; ok {
		return u, nil
	}
	return s.unit, nil
}

func (s *scripted) States(_ context.Context, units []string) (map[string]string, error) {
	states := map[string]string{}
	for _, unit := range units {
		states[unit] = s.unit.ActiveState
	}
	return states, nil
}

func (s *scripted) LastLines(context.Context, string, int) []string { return []string{"last lines"} }

func (s *scripted) Inactive(context.Context) ([]string, error) { return nil, nil }

func (s *scripted) Active(context.Context, string) bool { return false }
