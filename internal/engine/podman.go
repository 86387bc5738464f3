// Package engine drives the container engine through its command line: there is no socket that must be up first.
package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Podman runs the podman command.
type Podman struct {
	Command string   // empty for podman in $PATH
	Env     []string // NAME=VALUE, besides the process's own
}

// Container is what Podman says of one container.
type Container struct {
	ID      string `json:"Id"`
	ImageID string
	Names   []string
	Labels  map[string]string
	State   string // "created", "running", "exited", ...
	Status  string // the same for people, with the health in brackets
	Created int64  // in seconds since 1970
	Ports   []Port
}

// Health returns "starting", "healthy" or "unhealthy", or nothing where no health check runs (podman, cmd/podman/containers/ps.go).
func (c Container) Health() string {
	for _, health := range []string{"starting", "healthy", "unhealthy"} {
		if c.State == "running" && strings.HasSuffix(c.Status, " ("+health+")") {
			return health
		}
	}
	return ""
}

// Port is a run of Range ports, from HostPort on the host and ContainerPort in the container.
type Port struct {
	ContainerPort uint16 `json:"container_port"`
	HostPort      uint16 `json:"host_port"`
	Range         uint16 `json:"range"`
	Protocol      string `json:"protocol"`
}

// Named tells whether the container goes by name.
func (c Container) Named(name string) bool { return len(c.Names) > 0 && c.Names[0] == name }

// Containers lists containers, running or not, that a filter of podman ps --filter matches.
func (p Podman) Containers(ctx context.Context, filter string) ([]Container, error) {
	out, err := p.Run(ctx, "ps", "--all", "--no-trunc", "--format", "json", "--filter", filter)
	if err != nil {
		return nil, err
	}
	var list []Container
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("reading the answer of podman ps: %w", err)
	}
	return list, nil
}

// Exists tells whether any container has the name. `podman container exists` would also take it for the beginning of an id: each
// sixteenth container has one that begins with "a".
func (p Podman) Exists(ctx context.Context, name string) bool {
	all, err := p.Containers(ctx, "name=^"+regexp.QuoteMeta(name)+"$")
	return err == nil && slices.ContainsFunc(all, func(c Container) bool { return c.Named(name) })
}

// Rename gives a container, running or not, another name.
func (p Podman) Rename(ctx context.Context, id, name string) error {
	_, err := p.Run(ctx, "rename", id, name)
	return err
}

// Remove removes a container that is not running, with its anonymous volumes.
func (p Podman) Remove(ctx context.Context, id string) error {
	_, err := p.Run(ctx, "rm", "--volumes", "--ignore", id)
	return err
}

// EnsureNetwork makes a bridge network if there is none of that name.
func (p Podman) EnsureNetwork(ctx context.Context, name string) error {
	if _, err := p.Run(ctx, "network", "exists", name); err == nil {
		return nil
	}
	_, err := p.Run(ctx, "network", "create", "--ignore", name)
	return err
}

// HostsFile returns the path of a container's /etc/hosts on the host.
func (p Podman) HostsFile(ctx context.Context, id string) (string, error) {
	out, err := p.Run(ctx, "container", "inspect", "--format", "{{.HostsPath}}", id)
	return strings.TrimSpace(string(out)), err
}

// Addresses returns the container's addresses in its networks.
func (p Podman) Addresses(ctx context.Context, id string) ([]string, error) {
	out, err := p.Run(ctx, "container", "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}", id)
	return strings.Fields(string(out)), err
}

// Run runs podman and returns what it printed. The error holds what it said, and never its arguments, which may be secret.
func (p Podman) Run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := p.command(ctx, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = 5 * time.Second // for what a podman that was killed has started
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			return nil, fmt.Errorf("%s: %s", cmd.Args[0], strings.TrimPrefix(text, "Error: "))
		}
		return nil, fmt.Errorf("%s: %w", cmd.Args[0], err)
	}
	return out.Bytes(), nil
}

func (p Podman) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, cmp.Or(p.Command, "podman"), args...)
	cmd.Env = append(os.Environ(), p.Env...)
	return cmd
}

// Create runs podman with args, which are those of podman create, and with more variables in its environment.
func (p Podman) Create(ctx context.Context, args, env []string) error {
	p.Env = append(p.Env[:len(p.Env):len(p.Env)], env...)
	_, err := p.Run(ctx, args...)
	return err
}

// Kill stops a container at once, or nearly so, and removes it with its anonymous volumes.
func (p Podman) Kill(ctx context.Context, id string) error {
	_, err := p.Run(ctx, "rm", "--force", "--time", "2", "--volumes", "--ignore", id)
	return err
}

// ImageExists tells whether an image is on the host.
func (p Podman) ImageExists(ctx context.Context, image string) bool {
	_, err := p.Run(ctx, "image", "exists", "--", image)
	return err == nil
}

// Logs returns the last lines of a container's output, and of a long one its end; none if there is no reading it.
func (p Podman) Logs(ctx context.Context, container string, lines int) []string {
	cmd := p.command(ctx, "logs", "--tail", strconv.Itoa(lines), container)
	var out ending
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return nil
	}
	return out.lines()
}

// Unhealthy tells whether a container's health check has failed as often as it may.
func (p Podman) Unhealthy(ctx context.Context, container string) bool {
	out, err := p.Run(ctx, "container", "inspect", "--format", "{{with .State.Health}}{{.Status}}{{end}}", container)
	return err == nil && strings.TrimSpace(string(out)) == "unhealthy"
}

// Update changes the limits of a container, running or not; flags are those of podman update.
func (p Podman) Update(ctx context.Context, container string, flags []string) error {
	_, err := p.Run(ctx, append(append([]string{"update"}, flags...), container)...)
	return err
}

// Pull fetches an image and returns its id; flags are those of podman pull.
func (p Podman) Pull(ctx context.Context, image string, flags []string) (id string, err error) {
	out, err := p.Run(ctx, append(append([]string{"pull", "--quiet"}, flags...), "--", image)...)
	return strings.TrimSpace(string(out)), err
}
