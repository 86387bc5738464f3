package hooks

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/unit"
)

// command is what makes a container, under its candidate name.
type command struct {
	args, env []string // of podman create
	file      []string // lines of an --env-file for it
	err       error    // why there is none
}

// unmadeError is why the host's Podman can make no container of a version; another Podman may.
type unmadeError struct{ error }

// unmade is a version that it can make none of.
type unmade struct {
	generator.Rendered
	reason string
}

// commands returns what makes the containers of ms, as the host's quadlet has it: in one run for all that it has not been asked
// for before. The error is for a host without a quadlet that can be used.
func (h Hooks) commands(ctx context.Context, ms ...made) ([]command, error) {
	dir := h.Paths.RuntimeDir
	if err := os.MkdirAll(filepath.Dir(generator.QuadletPath(h.Paths, "")), 0o755); err != nil {
		dir = os.TempDir() // whoever may not write there can still ask for a plan
	}
	tool, err := quadlet.Host(ctx, h.Paths.Root, filepath.Join(h.Paths.RuntimeDir, "podman-version"))
	if err != nil {
		return nil, err
	}
	commands := make([]command, len(ms))
	stamp := []byte("# " + tool.Identity + "\n") // at the end: what is only half written has none
	var todo []*quadlet.Job
	var at []int
	for i, m := range ms {
		if m.data.Site != nil && m.data.Site.Platform != "podman" {
			commands[i].args = append([]string{"create", "--name=" + candidateName(h.containerOf(m.name), m.data.Generation)}, m.data.Site.Argv...)
			continue
		}
		kept, _ := os.ReadFile(generator.QuadletPath(h.Paths, m.render))
		if text, ok := bytes.CutSuffix(kept, stamp); ok {
			commands[i] = h.commandOf(m, text)
			continue
		}
		todo, at = append(todo, &quadlet.Job{Name: m.name, File: m.data.Quadlet}), append(at, i)
	}
	if len(todo) == 0 {
		return commands, nil
	}
	if err := h.convert(ctx, tool, dir, todo); err != nil {
		return nil, err
	}
	for k, j := range todo {
		i := at[k]
		if j.Err != nil {
			commands[i].err = j.Err
			continue
		}
		commands[i] = h.commandOf(ms[i], j.Unit)
		// For the process that creates the container; where this fails, that asks quadlet itself.
		_ = os.WriteFile(generator.QuadletPath(h.Paths, ms[i].render), slices.Concat(j.Unit, stamp), 0o600)
	}
	return commands, nil
}

// convert has quadlet do jobs. What a run that was killed has left in sitelet's own directory, secrets among it, goes first.
func (h Hooks) convert(ctx context.Context, tool quadlet.Tool, dir string, jobs []*quadlet.Job) error {
	user := h.Paths.Scope == paths.User
	if dir != h.Paths.RuntimeDir {
		tool.Convert(ctx, dir, user, jobs)
		return nil
	}
	return h.holding("quadlet", func() error {
		left, _ := filepath.Glob(filepath.Join(dir, "quadlet-*"))
		for _, path := range left {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
		tool.Convert(ctx, dir, user, jobs)
		return nil
	})
}

// commandOf reads the command in the unit that quadlet has made, as systemd would.
func (h Hooks) commandOf(m made, text []byte) command {
	fail := func(err error) command {
		return command{err: fmt.Errorf("reading what Quadlet makes of %s: %w", m.name, err)}
	}
	parsed, err := unit.Parse(text)
	if err != nil {
		return fail(err)
	}
	specifier := func(letter byte) (string, bool) {
		switch letter {
		case 'n':
			return m.name + ".service", true
		case 'N':
			return m.name, true
		case 't':
			return filepath.Dir(h.Paths.RuntimeDir), true
		}
		return "", false
	}
	line, _ := parsed.Last("Service", "ExecStart")
	env := unit.Environment(parsed.All("Service", "Environment"), specifier)
	commands, err := unit.Commands(line, env.Lookup, specifier)
	if err != nil {
		return fail(err)
	}
	if len(commands) != 1 {
		return fail(fmt.Errorf("it has %d commands instead of one", len(commands)))
	}
	var c command
	c.args, c.env, c.file, c.err = createCommand(commands[0].Argv, m.data.Image, candidateName(h.containerOf(m.name), m.data.Generation))
	return c
}

// refuseUnmade takes the workloads out of a plan that the host's Podman can make no container of, and says why.
func (h Hooks) refuseUnmade(ctx context.Context, p *Planned) {
	var ms []made
	var rendered []generator.Rendered
	for _, a := range p.Actions {
		if a.Verb != plan.Create && a.Verb != plan.Recreate {
			continue
		}
		r := p.rendered[slices.IndexFunc(p.rendered, func(r generator.Rendered) bool { return r.Name == a.Name })]
		if r.Site != nil && r.Site.Platform != "podman" {
			continue
		}
		m := made{name: r.Name, render: r.Render}
		m.data.Generation, m.data.Image, m.data.Quadlet, m.data.Site = r.Generation, r.Image, r.Quadlet, r.Site
		ms, rendered = append(ms, m), append(rendered, r)
	}
	if len(ms) == 0 {
		return
	}
	refuse := func(i int, reason string) {
		p.unmade = append(p.unmade, unmade{rendered[i], reason})
		a := &p.Actions[slices.IndexFunc(p.Actions, func(a plan.Action) bool { return a.Name == ms[i].name })]
		a.Verb, a.Restart, a.Note = plan.Refused, false, reason
	}
	commands, err := h.commands(ctx, ms...)
	if err != nil {
		p.Host = diag.List{WithoutPodman(err)}
		for i := range ms {
			refuse(i, "there is no Podman that can be used; see `sitelet doctor`")
		}
	}
	for i, c := range commands {
		if c.err != nil {
			p.Found = append(p.Found, diag.Diagnostic{File: rendered[i].Source, Message: c.err.Error()})
			refuse(i, c.err.Error())
		}
	}
	p.Found.Sort()
}

// WithoutPodman is the finding about a host that has no quadlet that can be used, and why.
func WithoutPodman(err error) diag.Diagnostic {
	return diag.Diagnostic{File: "podman", Message: quadlet.Finding(err), Hint: "No container can be made until then. " + quadlet.InstallHint}
}

// postponeUnmade has the daemon-reload leave the units of what refuseUnmade has found.
func (h Hooks) postponeUnmade(p Planned) error {
	for _, u := range p.unmade {
		if err := h.postpone(u.Rendered, u.reason); err != nil {
			return err
		}
	}
	return nil
}
