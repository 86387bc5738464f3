package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// Native stands for programs of the host's own, which need no container: a file below Dir keeps the name and the labels that a
// container would have, so that updates and rollbacks go the same way for both. It has no images and no output.
type Native struct{ Dir string }

func (n Native) path(id string) string { return filepath.Join(n.Dir, id+".json") }

// Containers lists what a filter of the form label=NAME=VALUE matches; all of it counts as running, as systemd knows better.
func (n Native) Containers(_ context.Context, filter string) ([]Container, error) {
	key, value, _ := strings.Cut(strings.TrimPrefix(filter, "label="), "=")
	entries, err := os.ReadDir(n.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []Container
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		c, err := n.read(id)
		if err != nil {
			return nil, err
		}
		if c.Labels[key] == value {
			list = append(list, c)
		}
	}
	return list, nil
}

func (n Native) read(id string) (Container, error) {
	data, err := os.ReadFile(n.path(id))
	if err != nil {
		return Container{}, err
	}
	var c Container
	if err := json.Unmarshal(data, &c); err != nil {
		return Container{}, fmt.Errorf("reading %s: %w", n.path(id), err)
	}
	return c, nil
}

func (n Native) write(c Container) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(n.Dir, 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(n.path(c.ID), data, 0o600)
}

// Create takes the --name= and --label= flags of args; the id is the first name.
func (n Native) Create(_ context.Context, args, _ []string) error {
	c := Container{Labels: map[string]string{}, State: "running"}
	for _, arg := range args {
		if name, ok := strings.CutPrefix(arg, "--name="); ok {
			c.ID, c.Names = name, []string{name}
		}
		if label, ok := strings.CutPrefix(arg, "--label="); ok {
			key, value, _ := strings.Cut(label, "=")
			c.Labels[key] = value
		}
	}
	return n.write(c)
}

// Rename gives another name.
func (n Native) Rename(_ context.Context, id, name string) error {
	c, err := n.read(id)
	if err != nil {
		return err
	}
	c.Names = []string{name}
	return n.write(c)
}

// Remove forgets one.
func (n Native) Remove(_ context.Context, id string) error {
	if err := os.Remove(n.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Kill is Remove: systemd has stopped the program.
func (n Native) Kill(ctx context.Context, id string) error { return n.Remove(ctx, id) }

// Exists is for containers that somebody else has made.
func (n Native) Exists(context.Context, string) bool { return false }

// ImageExists holds for all: there are none to be had.
func (n Native) ImageExists(context.Context, string) bool { return true }

// Unhealthy is never known.
func (n Native) Unhealthy(context.Context, string) bool { return false }

// Logs are in the journal.
func (n Native) Logs(context.Context, string, int) []string { return nil }

// EnsureNetwork does nothing.
func (n Native) EnsureNetwork(context.Context, string) error { return nil }

// HostsFile is none.
func (n Native) HostsFile(context.Context, string) (string, error) { return "", nil }

// Addresses are the host's.
func (n Native) Addresses(context.Context, string) ([]string, error) { return nil, nil }

// Update has nothing to update.
func (n Native) Update(context.Context, string, []string) error { return nil }

// Pull has nothing to pull.
func (n Native) Pull(context.Context, string, []string) (string, error) { return "", nil }
