package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/router"
)

// prepareSite writes what a router reads when it starts. Where its input has become impossible, it starts with what it had.
func (h Hooks) prepareSite(ctx context.Context, namespace string) error {
	if err := h.checkHome(namespace); err != nil {
		return err
	}
	if h.isFrozen(namespace) {
		a := h.starting(namespace)
		a.Config = string(router.Marshal(h.rendered(namespace)))
		return h.noteApplied(namespace, a)
	}
	h.keepRouter = true
	s, err := h.refreshSite(ctx, namespace)
	if err := h.noteApplied(namespace, h.starting(namespace)); err != nil {
		return err
	}
	if err == nil && !s.impossible() && s.Entities != nil {
		return nil
	}
	if _, missing := os.Stat(filepath.Join(h.home(namespace), "runtime/router/skrouterd.json")); missing != nil {
		return errors.Join(err, fmt.Errorf("there is nothing to run in namespace %s yet; `sitelet check` says what is wrong", namespace))
	}
	h.Log("namespace %s: starting with the configuration from before; `sitelet check` says what is wrong now", namespace)
	if err != nil {
		h.Log("namespace %s: %v", namespace, err)
	}
	return nil
}

// starting is what counts as applied to a router that is about to start and to read everything anew: nothing, and only files that change
// from here on are rotated.
func (h Hooks) starting(namespace string) applied {
	entities := h.rendered(namespace)
	return applied{Profiles: h.profileDigests(namespace, entities), Shut: shutAtStart(entities)}
}

// isFrozen tells whether the configuration's mode has a site stay as it was deployed.
func (h Hooks) isFrozen(namespace string) bool {
	c, _ := config.Load(h.Paths)
	_, missing := os.Stat(filepath.Join(h.home(namespace), "runtime/router/skrouterd.json"))
	return c.Mode != config.Update && missing == nil
}

// RunContainer becomes the docker client that a workload's container runs attached to: Docker tells systemd nothing about it.
func (h Hooks) RunContainer(ctx context.Context, name string) error {
	m, err := h.read(name)
	if err != nil {
		return err
	}
	docker, ok := h.engineOf(name).(engine.Docker)
	if !ok {
		return fmt.Errorf("%s does not run on Docker", name)
	}
	all, err := h.at(name).containers(ctx, name)
	if err != nil {
		return err
	}
	c := find(all, func(c engine.Container) bool { return generationOf(c) == m.data.Generation })
	if c == nil {
		return fmt.Errorf("there is no container of %s of this version; %s restart %[1]s makes it", name, h.Paths.Scope.Systemctl())
	}
	path, err := exec.LookPath(docker.Command)
	if err != nil {
		return err
	}
	return syscall.Exec(path, []string{docker.Command, "start", "--attach", c.ID}, append(os.Environ(), docker.Env...))
}

// StopContainer stops whatever container of a workload Docker runs.
func (h Hooks) StopContainer(ctx context.Context, name string) error {
	docker, ok := h.engineOf(name).(engine.Docker)
	if !ok {
		return fmt.Errorf("%s does not run on Docker", name)
	}
	all, err := h.at(name).containers(ctx, name)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range all {
		if c.State == "running" {
			errs = append(errs, docker.Stop(ctx, c.ID))
		}
	}
	return errors.Join(errs...)
}

// siteOf returns the namespace that a workload is the router of.
func (h Hooks) siteOf(name string) (namespace, platform string, ok bool) {
	namespace, ok = strings.CutPrefix(name, generator.SiteWorkload(""))
	if !ok {
		return "", "", false
	}
	record, err := h.store().ReadSite(namespace)
	return namespace, record.Platform, err == nil
}

// at returns hooks that work with the engine of a workload.
func (h Hooks) at(name string) Hooks {
	h.Engine = h.engineOf(name)
	return h
}

// engineOf returns what runs a workload's container.
func (h Hooks) engineOf(name string) Engine {
	switch _, platform, _ := h.siteOf(name); platform {
	case "docker":
		c, _ := config.Load(h.Paths)
		return engine.NewDocker(engine.Endpoint("docker", c.Docker.Endpoint, filepath.Dir(h.Paths.RuntimeDir), os.Getenv))
	case "linux":
		return engine.Native{Dir: filepath.Join(h.Paths.StateDir, "native")}
	}
	return h.Engine
}

// containerOf names a workload's container.
func (h Hooks) containerOf(name string) string {
	if namespace, _, ok := h.siteOf(name); ok {
		return generator.RouterContainer(namespace)
	}
	return name
}
