package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
	"github.com/sitelet/sitelet/internal/workload"
)

// errNoCandidate says that a new version could not be made, and that there is an older one to run instead.
var errNoCandidate = errors.New("the version before it runs on")

// createTime is how long a new version may keep the one before from running, at boot or in a restart by hand. An image that takes longer
// is pulled by the next reload, while that one runs.
var createTime = 5 * time.Minute

// Create sees to it that the container called name is of the generation of name's unit. It does nothing when it is; otherwise
// it creates one beside what is there, and only then gives it the name. A container of another generation is kept, stopped
// or running, under its candidate name; those before it are removed. Killed anywhere, the next call goes on from there.
//
// Another generation than the state's current one is on trial from then on.
func (h Hooks) Create(ctx context.Context, name string) error {
	defer h.doing(name, "making its container")()
	h = h.at(name)
	unlock, err := h.lock("create-"+name, nil)
	if err != nil {
		return err
	}
	defer unlock()
	// A run that was killed may have left secrets behind.
	if err := errors.Join(os.RemoveAll(h.keysDir(name)), os.RemoveAll(h.envPath(name))); err != nil {
		return err
	}
	m, err := h.read(name)
	if err != nil {
		return err
	}
	known, err := h.store().Read(name)
	// A rollback was cut off before the daemon-reload, and a restart came in between.
	if known.Current != nil && known.Trial == nil && known.Current.Generation != m.data.Generation && h.refuses(known, m) {
		return errors.Join(h.mark(name), fmt.Errorf("this version of %s has failed before: %w", name, errNoCandidate))
	}
	all, listErr := h.containers(ctx, name)
	if listErr != nil {
		return fmt.Errorf("looking for the containers of %s: %w", name, listErr)
	}
	current := h.named(name, all)
	if known.Current == nil && current != nil {
		h.Log("the state of %s is missing (%v): it is made again from the container", name, err)
		known.Current = rebuilt(m, generationOf(*current))
		known.Unproven = current.State == "created" // or its first start was cut off
		if err := h.store().Change(name, func(w *state.Workload) error { *w = known; return nil }); err != nil {
			return err
		}
	}
	if current != nil && generationOf(*current) == m.data.Generation {
		return errors.Join(h.record(ctx, m), h.tidy(ctx, m.name, all))
	}
	if current == nil && h.Engine.Exists(ctx, h.containerOf(name)) {
		return fmt.Errorf("there is a container named %s that sitelet did not make; rename it with `podman rename`, or give the descriptor another container_name", name)
	}
	return h.takeOver(ctx, m, known, current, all)
}

// takeOver makes a container of m's generation beside the current one, which may be none, and gives it the workload's name.
func (h Hooks) takeOver(ctx context.Context, m made, known state.Workload, current *engine.Container, all []engine.Container) error {
	// A run that was cut off between two renamings has left no current one, but the state tells which it was.
	var last workload.Digest
	if current != nil {
		last = generationOf(*current)
	} else if known.Current != nil {
		last = known.Current.Generation
	}
	making := ctx
	if last != "" && last != m.data.Generation {
		var cancel context.CancelFunc
		making, cancel = context.WithTimeout(ctx, createTime)
		defer cancel()
	}
	candidate, err := h.candidate(making, m, all)
	switch {
	case err != nil && ctx.Err() == nil && making.Err() != nil:
		return h.giveUp(ctx, m, unmadeError{fmt.Errorf("it was not made within %v: %w", createTime, err)})
	case err != nil:
		return h.giveUp(ctx, m, err)
	}
	// First, so that what is left of the renaming follows from the state.
	if err := h.record(ctx, m); err != nil {
		return err
	}
	alone := !h.marked(m.name)
	if err := h.mark(m.name); err != nil {
		return err
	}
	if err := h.promote(ctx, m, current, candidate); err != nil {
		return err
	}
	if err := h.forget(ctx, m, all, last); err != nil || !alone {
		return err
	}
	// A power cut has taken the mark of a settling or a rollback, which nobody else will end.
	return h.finish(ctx, m.name)
}

// tidy removes what a settling or a rollback that a power cut has ended left behind: the mark of it is gone with the boot.
func (h Hooks) tidy(ctx context.Context, name string, all []engine.Container) error {
	w, err := h.store().Read(name)
	if err != nil || w.Trial != nil || w.Current == nil || h.marked(name) {
		return err
	}
	var errs []error
	for _, c := range all {
		if generationOf(c) != w.Current.Generation && c.State != "running" {
			errs = append(errs, h.Engine.Remove(ctx, c.ID))
		}
	}
	return errors.Join(errs...)
}

// refuses tells whether m has failed, and its descriptor is still the same.
func (h Hooks) refuses(w state.Workload, m made) bool {
	text := h.text(m.name, m.source, m.data.Inputs)
	return text != nil && w.Refuses(m.data.Generation, text)
}

// rebuilt makes up for a lost state: the text of m with the generation of the container that is there. Its command is not
// that container's, but as long as the container is there it is not used.
func rebuilt(m made, generation workload.Digest) *state.Version {
	v := m.version()
	swap := func(text string) string {
		return strings.ReplaceAll(text, string(v.Generation), string(generation))
	}
	render := workload.Digest(swap(string(v.Render)) + "-rebuilt")
	v.Unit = strings.ReplaceAll(swap(v.Unit), "Render="+string(v.Render), "Render="+string(render))
	v.Create, v.Render, v.Generation, v.Inputs = swap(v.Create), render, generation, nil
	return &v
}

// giveUp remembers that m's container could not be made. If there is one to go back to, the mark has that done.
func (h Hooks) giveUp(ctx context.Context, m made, failure error) error {
	fallback := false
	err := h.store().Change(m.name, func(w *state.Workload) error {
		fallback = w.Current != nil && w.Current.Generation != m.data.Generation
		if fallback {
			if err := h.mark(m.name); err != nil {
				return err
			}
		}
		w.Refused = &state.Refusal{
			Generation: m.data.Generation, Text: h.textDigest(m.name, m.version()), Reason: failure.Error(), At: h.now(),
			// Whatever was wrong with Podman, the registry or the way to it may be right the next time.
			Retry: !fallback || errors.As(failure, new(unmadeError)) || !h.Engine.ImageExists(ctx, m.data.Image),
		}
		return nil
	})
	if err == nil && fallback {
		return fmt.Errorf("%w; %w", failure, errNoCandidate)
	}
	return errors.Join(failure, err)
}

// candidate returns the name or id of a container of m's generation, and creates it unless a run before has.
func (h Hooks) candidate(ctx context.Context, m made, all []engine.Container) (string, error) {
	if c := find(all, func(c engine.Container) bool { return generationOf(c) == m.data.Generation }); c != nil {
		return c.ID, nil
	}
	name := candidateName(h.containerOf(m.name), m.data.Generation)
	commands, err := h.commands(ctx, m)
	if err == nil {
		err = commands[0].err
	}
	if err != nil {
		return "", unmadeError{err}
	}
	args, env := commands[0].args, append(commands[0].env, "PODMAN_SYSTEMD_UNIT="+m.name+".service")
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
	if file := commands[0].file; len(file) > 0 {
		path := h.envPath(m.name)
		defer os.Remove(path)
		if err := writeEnv(path, file); err != nil {
			return "", fmt.Errorf("passing on the environment of %s: %w", m.name, err)
		}
		args = slices.Insert(args, slices.Index(args, "create")+1, "--env-file="+path)
	}
	unlock, err := h.lock("ports", nil)
	if err != nil {
		return "", err
	}
	defer unlock()
	if args, err = h.choosePorts(ctx, m, args); err != nil {
		return "", err
	}
	args = h.sameImage(ctx, m, args)
	h.Log("creating the container of %s from %s", m.name, m.data.Image)
	if err := h.Engine.Create(ctx, args, env); err != nil {
		return "", fmt.Errorf("creating the container of %s: %w", m.name, err)
	}
	_ = os.Remove(generator.QuadletPath(h.Paths, m.render)) // where it is left, the generator sweeps it up
	return name, nil
}

// sameImage returns the arguments of podman create for the image that a version which was gone back to had, if that is still there.
func (h Hooks) sameImage(ctx context.Context, m made, args []string) []string {
	w, err := h.store().Read(m.name)
	at := slices.Index(args, m.data.Image)
	if err != nil || at < 0 || w.Current == nil || w.Current.Generation != m.data.Generation || w.Current.ImageID == "" || !h.Engine.ImageExists(ctx, w.Current.ImageID) {
		return args
	}
	return slices.Concat(args[:at], []string{"--pull=never", w.Current.ImageID}, args[at+1:])
}

// promote gives the workload's name to the candidate. There is a moment without a container of that name; a run that finds it
// so does the second half.
func (h Hooks) promote(ctx context.Context, m made, current *engine.Container, candidate string) error {
	if current != nil {
		old := m.name + ".old"
		if generation := generationOf(*current); len(generation) >= shortLength {
			old = candidateName(h.containerOf(m.name), generation)
		}
		if err := h.Engine.Rename(ctx, current.ID, old); err != nil {
			return fmt.Errorf("setting the old container of %s aside: %w", m.name, err)
		}
	}
	if err := h.Engine.Rename(ctx, candidate, h.containerOf(m.name)); err != nil {
		return fmt.Errorf("giving the new container its name %s: %w", m.name, err)
	}
	return nil
}

// record keeps what the container called by the workload's name was made from: as the current version, or as one on trial.
func (h Hooks) record(ctx context.Context, m made) error {
	watched := false
	err := h.store().Change(m.name, func(w *state.Workload) error {
		v := m.version()
		switch {
		case w.Current == nil:
			w.Current, w.Unproven = &v, true
			w.Note(h.event(v, m.data.Image, "created", ""))
		case w.Current.Generation == v.Generation:
			// The same one, perhaps with another text, or one gone back to.
			w.Current, w.Trial = &v, nil
		case w.Trial != nil && w.Trial.Generation == v.Generation:
			w.Trial.Version = v
		default:
			trial, err := h.beginTrial(ctx, m.name, v)
			if err != nil {
				return err
			}
			w.Trial = trial
		}
		watched = w.Trial != nil || w.Unproven
		return nil
	})
	if err != nil || !watched {
		return err
	}
	if err := h.mark(m.name); err != nil {
		return err
	}
	return h.watchStart(ctx, m.name)
}

// watchStart has the trial unit started for a start that is waiting for this hook. That start wants it, too, but may have been
// asked for while the trial of the version before was at work, and then counts that one.
func (h Hooks) watchStart(ctx context.Context, name string) error {
	manager, err := h.Systemd(ctx)
	if err != nil {
		return nil // then no start is waiting
	}
	if u, err := manager.Unit(ctx, name+".service"); err != nil || !u.Queued {
		return err
	}
	return manager.Enqueue(ctx, "sitelet-trial@"+name+".service")
}

// beginTrial notes what runs before the version does.
func (h Hooks) beginTrial(ctx context.Context, name string, v state.Version) (*state.Trial, error) {
	trial := &state.Trial{Version: v}
	manager, err := h.Systemd(ctx)
	if err != nil {
		return nil, err
	}
	u, err := manager.Unit(ctx, name+".service")
	if err != nil {
		return nil, err
	}
	trial.Before = u.InvocationID
	trial.Dependants = dependants(ctx, manager, u)
	return trial, nil
}

// dependants lists what runs and requires a unit, and what requires that.
func dependants(ctx context.Context, manager Manager, u systemd.Unit) []string {
	all := slices.Clone(u.RequiredBy)
	for i := 0; i < len(all); {
		d, err := manager.Unit(ctx, all[i])
		// One with a job waits for this very start, at boot or within a restart of both.
		if err != nil || !d.Queued && d.ActiveState != "active" && d.ActiveState != "activating" {
			all = slices.Delete(all, i, i+1)
			continue
		}
		for _, more := range d.RequiredBy {
			if !slices.Contains(all, more) {
				all = append(all, more)
			}
		}
		i++
	}
	return all
}

// forget removes the containers of generations before the last.
func (h Hooks) forget(ctx context.Context, m made, all []engine.Container, last workload.Digest) error {
	var errs []error
	for _, c := range all {
		generation := generationOf(c)
		if generation == last || generation == m.data.Generation || c.State == "running" {
			continue
		}
		h.Log("removing the container of an earlier generation of %s", m.name)
		errs = append(errs, h.Engine.Remove(ctx, c.ID))
	}
	return errors.Join(errs...)
}

func (h Hooks) keysDir(name string) string { return filepath.Join(h.dir(name), "keys") }

func (h Hooks) envPath(name string) string { return filepath.Join(h.dir(name), "env") }

// decryptionKeys writes the passwords of an encrypted image's keys where only podman finds them, and returns podman's flags.
// The form KEY:file=PASSWORDFILE is that of containers/ocicrypt, helpers/parse_helpers.go.
func (h Hooks) decryptionKeys(m made) (flags []string, remove func(), err error) {
	dir := h.keysDir(m.name)
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
