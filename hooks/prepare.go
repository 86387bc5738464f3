package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/descriptor"
)

// Prepare writes what the start of a container reads: containers.conf, which podman gets as CONTAINERS_CONF_OVERRIDE, the base of
// the container's /etc/hosts with the addresses of now, and its OCI hooks. An interface without an address is an error.
func (h Hooks) Prepare(ctx context.Context, name string) error {
	m, err := h.read(name)
	if err != nil {
		return err
	}
	if m.data.Site != nil {
		return h.prepareSite(ctx, m.data.Site.Namespace)
	}
	if err := os.MkdirAll(h.dir(name), 0o700); err != nil {
		return fmt.Errorf("preparing the start of %s: %w", name, err)
	}
	var conf bytes.Buffer
	if len(m.data.Lookup) > 0 {
		hosts, err := h.baseHosts(ctx, m.data.Lookup)
		if err != nil {
			return fmt.Errorf("finding the hosts of %s: %w", name, err)
		}
		path := filepath.Join(h.dir(name), "hosts")
		if err := os.WriteFile(path, hosts, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&conf, "[containers]\nbase_hosts_file = %q\n", path)
	}
	if len(m.data.Hooks) > 0 {
		dir := filepath.Join(h.dir(name), "hooks.d")
		if err := writeHooks(dir, m.data.Hooks); err != nil {
			return fmt.Errorf("writing the hooks of %s: %w", name, err)
		}
		// The host's own hooks go on to run (containers.conf(5), "append").
		fmt.Fprintf(&conf, "[engine]\nhooks_dir = [%q, {append=true}]\n", dir)
	}
	return os.WriteFile(filepath.Join(h.dir(name), "containers.conf"), conf.Bytes(), 0o600)
}

// ociHook is the form of oci-hooks(5), version 1.0.0.
type ociHook struct {
	Version string `json:"version"`
	Hook    struct {
		Path    string   `json:"path"`
		Args    []string `json:"args,omitempty"`
		Env     []string `json:"env,omitempty"`
		Timeout int      `json:"timeout,omitempty"` // seconds
	} `json:"hook"`
	When   map[string]bool `json:"when"`
	Stages []string        `json:"stages"`
}

// writeHooks replaces the hooks in dir. They run in the order of their file names.
func writeHooks(dir string, hooks []descriptor.Hook) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	for i, hook := range hooks {
		var o ociHook
		o.Version = "1.0.0"
		o.Hook.Path, o.Hook.Args, o.Hook.Env, o.Hook.Timeout = hook.Path, hook.Args, hook.Env, hook.Timeout
		o.When = map[string]bool{"always": true}
		o.Stages = []string{hook.Stage}
		text, err := json.MarshalIndent(o, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d-%s.json", i, hook.Stage)), append(text, '\n'), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// RefreshHosts writes the addresses of now into the /etc/hosts of those of the workloads that run: a container that they look
// up has started, perhaps with another address. Kanto does the same (network/libnet_mgr.go, refreshConnectedContainers).
func (h Hooks) RefreshHosts(ctx context.Context, names ...string) error {
	var errs []error
	for _, name := range names {
		if err := h.refresh(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("refreshing the hosts of %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (h Hooks) refresh(ctx context.Context, name string) error {
	old, err := os.ReadFile(filepath.Join(h.dir(name), "hosts"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has not been started in this boot
	}
	if err != nil {
		return err
	}
	m, err := h.read(name)
	if err != nil {
		return err
	}
	fresh, err := h.baseHosts(ctx, m.data.Lookup)
	if err != nil {
		return err
	}
	if bytes.Equal(old, fresh) {
		return nil
	}
	if err := os.WriteFile(filepath.Join(h.dir(name), "hosts"), fresh, 0o644); err != nil {
		return err
	}
	path, err := h.Engine.HostsFile(ctx, name)
	if err != nil || path == "" {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// In place: the container has the file itself mounted, not its name.
	return os.WriteFile(path, replaceLookups(now, fresh, m.data.Lookup), 0o644)
}
