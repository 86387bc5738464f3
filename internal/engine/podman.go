// Package engine drives the container engine through its command line: there is no socket that must be up first.
package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Podman runs the podman command.
type Podman struct {
	Command string   // empty for podman in $PATH
	Env     []string // NAME=VALUE, besides the process's own
}

// Container is what Podman says of one container.
type Container struct {
	ID     string `json:"Id"`
	Names  []string
	Labels map[string]string
	State  string // "created", "running", "exited", ...
	Ports  []Port
}

// Port is a run of Range ports, from HostPort on the host and ContainerPort in the container. HostIP is empty for all addresses.
type Port struct {
	HostIP        string `json:"host_ip"`
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

// Exists tells whether any container has the name.
func (p Podman) Exists(ctx context.Context, name string) bool {
	_, err := p.Run(ctx, "container", "exists", "--", name)
	return err == nil
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
	command := p.Command
	if command == "" {
		command = "podman"
	}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env = append(os.Environ(), p.Env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			return nil, fmt.Errorf("podman: %s", strings.TrimPrefix(text, "Error: "))
		}
		return nil, fmt.Errorf("podman: %w", err)
	}
	return out.Bytes(), nil
}

// Create runs podman with args, which are those of podman create, and with more variables in its environment.
func (p Podman) Create(ctx context.Context, args, env []string) error {
	p.Env = append(p.Env[:len(p.Env):len(p.Env)], env...)
	_, err := p.Run(ctx, args...)
	return err
}
