package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Docker runs the docker command, which has most of podman's.
type Docker struct{ Podman }

// NewDocker returns the docker in $PATH that talks to an endpoint, such as unix:///run/docker.sock.
func NewDocker(endpoint string) Docker {
	return Docker{Podman{Command: "docker", Env: []string{"DOCKER_HOST=" + endpoint}}}
}

// inspected is what docker inspect says of a container.
type inspected struct {
	ID     string `json:"Id"`
	Image  string
	Name   string // with a slash before it
	Config struct{ Labels map[string]string }
	State  struct{ Status string }
}

// Containers lists containers, running or not, that a filter of docker ps --filter matches.
func (d Docker) Containers(ctx context.Context, filter string) ([]Container, error) {
	out, err := d.Run(ctx, "ps", "--all", "--no-trunc", "--quiet", "--filter", filter)
	ids := strings.Fields(string(out))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if out, err = d.Run(ctx, append([]string{"container", "inspect"}, ids...)...); err != nil {
		return nil, err
	}
	var all []inspected
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("reading the answer of docker inspect: %w", err)
	}
	var list []Container
	for _, c := range all {
		list = append(list, Container{ID: c.ID, ImageID: c.Image, Names: []string{strings.TrimPrefix(c.Name, "/")},
			Labels: c.Config.Labels, State: c.State.Status})
	}
	return list, nil
}

// Exists tells whether any container has the name.
func (d Docker) Exists(ctx context.Context, name string) bool {
	all, err := d.Containers(ctx, "name=^/"+regexp.QuoteMeta(name)+"$")
	return err == nil && slices.ContainsFunc(all, func(c Container) bool { return c.Named(name) })
}

// Remove removes a container that is not running, with its anonymous volumes. One that is gone is no error.
func (d Docker) Remove(ctx context.Context, id string) error {
	_, err := d.Run(ctx, "rm", "--volumes", id)
	return gone(err)
}

// Kill stops a container at once, or nearly so, and removes it with its anonymous volumes.
func (d Docker) Kill(ctx context.Context, id string) error {
	_, err := d.Run(ctx, "stop", "--time", "2", id)
	_, removing := d.Run(ctx, "rm", "--force", "--volumes", id)
	return errors.Join(gone(err), gone(removing))
}

// gone makes nothing of an error that says that there is no such container.
func gone(err error) error {
	if err != nil && strings.Contains(err.Error(), "No such container") {
		return nil
	}
	return err
}

// ImageExists tells whether an image is on the host.
func (d Docker) ImageExists(ctx context.Context, image string) bool {
	_, err := d.Run(ctx, "image", "inspect", "--format", "{{.Id}}", image)
	return err == nil
}

// Pull fetches an image and returns its id. Docker has no flags for what podman pull has.
func (d Docker) Pull(ctx context.Context, image string, _ []string) (id string, err error) {
	if _, err := d.Run(ctx, "pull", "--quiet", image); err != nil {
		return "", err
	}
	out, err := d.Run(ctx, "image", "inspect", "--format", "{{.Id}}", image)
	return strings.TrimSpace(string(out)), err
}

// Stop stops a container and waits as long as it was created to.
func (d Docker) Stop(ctx context.Context, id string) error {
	_, err := d.Run(ctx, "stop", id)
	return gone(err)
}
