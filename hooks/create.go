package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/state"
)

// Create sees to it that the container called name is of the generation of name's unit. It does nothing when it is; otherwise
// it creates one beside what is there, and only then gives it the name. A container of another generation is kept, stopped
// or running, under its candidate name; those before it are removed. Killed anywhere, the next call goes on from there.
func (h Hooks) Create(ctx context.Context, name string) error {
	m, err := h.read(name)
	if err != nil {
		return err
	}
	all, err := h.Engine.Containers(ctx, "label="+generator.LabelWorkload+"="+name)
	if err != nil {
		return fmt.Errorf("looking for the containers of %s: %w", name, err)
	}
	current := find(all, func(c engine.Container) bool { return c.Named(name) })
	if current != nil && current.Labels[generator.LabelGeneration] == string(m.data.Generation) {
		return h.remember(m)
	}
	if current == nil && h.Engine.Exists(ctx, name) {
		return fmt.Errorf("there is a container named %s that sitelet did not make; rename it with `podman rename`, or give the descriptor another container_name", name)
	}
	// A run that was cut off between two renamings has left no current one, but did not get to remember.
	last := ""
	if current != nil {
		last = current.Labels[generator.LabelGeneration]
	} else if w, err := h.store().Read(name); err == nil {
		last = string(w.Generation)
	}
	candidate, err := h.candidate(ctx, m, all)
	if err != nil {
		return err
	}
	if err := h.promote(ctx, m, current, candidate); err != nil {
		return err
	}
	if err := h.remember(m); err != nil {
		return err
	}
	return h.forget(ctx, m, all, last)
}

func find(all []engine.Container, is func(engine.Container) bool) *engine.Container {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// candidate returns the name or id of a container of m's generation, and creates it unless a run before has.
func (h Hooks) candidate(ctx context.Context, m made, all []engine.Container) (string, error) {
	of := func(c engine.Container) bool { return c.Labels[generator.LabelGeneration] == string(m.data.Generation) }
	if c := find(all, of); c != nil {
		return c.ID, nil
	}
	name := candidateName(m.name, m.data.Generation)
	args, env, err := createCommand(m.argv, m.data.Image, name)
	if err != nil {
		return "", err
	}
	env = append(env, "PODMAN_SYSTEMD_UNIT="+m.name+".service")
	if m.data.Bridge {
		if err := h.Engine.EnsureNetwork(ctx, generator.Network); err != nil {
			return "", fmt.Errorf("making the network %s: %w", generator.Network, err)
		}
	}
	if m.data.LogDir != "" {
		if err := os.MkdirAll(h.Paths.Below(m.data.LogDir), 0o750); err != nil {
			return "", fmt.Errorf("making the log directory: %w", err)
		}
	}
	keys, forgetKeys, err := h.decryptionKeys(m)
	if err != nil {
		return "", err
	}
	defer forgetKeys()
	args = slices.Insert(args, slices.Index(args, "create")+1, keys...)
	unlock, err := h.lockPorts()
	if err != nil {
		return "", err
	}
	defer unlock()
	if args, err = h.choosePorts(ctx, m, args); err != nil {
		return "", err
	}
	h.Log("creating the container of %s from %s", m.name, m.data.Image)
	if err := h.Engine.Create(ctx, args, env); err != nil {
		return "", fmt.Errorf("creating the container of %s: %w", m.name, err)
	}
	return name, nil
}

// promote gives the workload's name to the candidate. There is a moment without a container of that name; a run that finds it
// so does the second half.
func (h Hooks) promote(ctx context.Context, m made, current *engine.Container, candidate string) error {
	if current != nil {
		old := m.name + ".old"
		if generation := current.Labels[generator.LabelGeneration]; len(generation) >= 12 {
			old = m.name + "." + generation[:12]
		}
		if err := h.Engine.Rename(ctx, current.ID, old); err != nil {
			return fmt.Errorf("setting the old container of %s aside: %w", m.name, err)
		}
	}
	if err := h.Engine.Rename(ctx, candidate, m.name); err != nil {
		return fmt.Errorf("giving the new container its name %s: %w", m.name, err)
	}
	return nil
}

// remember keeps what the container was made from, so that it can be run without its descriptor.
func (h Hooks) remember(m made) error {
	known, err := h.store().Read(m.name)
	if err == nil && known.Render == m.render {
		return nil
	}
	wanted := false
	for _, entry := range generator.ReadManifest(h.Paths).Units {
		wanted = wanted || entry.Name == m.name && entry.Wanted
	}
	return h.store().Write(state.Workload{
		Name: m.name, Source: m.source, Generation: m.data.Generation, Render: m.render, Wanted: wanted,
		Unit: string(m.unit), Create: string(m.create),
	})
}

// forget removes the containers of generations before the last.
func (h Hooks) forget(ctx context.Context, m made, all []engine.Container, last string) error {
	var errs []error
	for _, c := range all {
		generation := c.Labels[generator.LabelGeneration]
		if generation == last || generation == string(m.data.Generation) || c.State == "running" {
			continue
		}
		h.Log("removing the container of an earlier generation of %s", m.name)
		errs = append(errs, h.Engine.Remove(ctx, c.ID))
	}
	return errors.Join(errs...)
}

// decryptionKeys writes the passwords of an encrypted image's keys where only podman finds them, and returns podman's flags.
// The form KEY:file=PASSWORDFILE is that of containers/ocicrypt, helpers/parse_helpers.go.
func (h Hooks) decryptionKeys(m made) (flags []string, remove func(), err error) {
	dir := filepath.Join(h.dir(m.name), "keys")
	remove = func() { os.RemoveAll(dir) }
	for i, key := range m.data.Keys {
		flag := "--decryption-key=" + key.Path
		if key.Password != "" {
			file := filepath.Join(dir, fmt.Sprint(i))
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, []byte(key.Password), 0o600)); err != nil {
				remove()
				return nil, nil, fmt.Errorf("passing on the password of %s: %w", key.Path, err)
			}
			flag += ":file=" + file
		}
		flags = append(flags, flag)
	}
	return flags, remove, nil
}

// isPublish returns the value of a --publish flag at i, and where it stands.
func isPublish(args []string, i int) (at int, value string, ok bool) {
	if value, ok := strings.CutPrefix(args[i], "--publish="); ok {
		return i, value, true
	}
	if args[i] == "--publish" && i+1 < len(args) {
		return i + 1, args[i+1], true
	}
	return 0, "", false
}
