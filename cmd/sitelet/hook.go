package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/doctor"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/systemd"
)

// hookCommand holds what units call. It is hidden: people have systemctl.
func (c *cli) hookCommand() *cobra.Command {
	hook := &cobra.Command{
		Use:     "hook COMMAND",
		Short:   "What units call",
		Long:    "Holds what the units of sitelet call. People have systemctl instead.",
		Example: "  systemctl cat web sitelet-create@web",
		Hidden:  true,
	}
	hook.AddCommand(
		c.hook("create NAME", "Make the container of a workload", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.Create(ctx, args[0])
		}),
		c.step("prepare NAME", "Write what the start of a container reads", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.Prepare(ctx, args[0])
		}),
		c.step("refresh-hosts NAME...", "Look up the hosts of running containers again", someNames, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.RefreshHosts(ctx, args...)
		}),
		c.hook("trial NAME", "Watch a new version, and keep it or not", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.Trial(ctx, args[0])
		}),
		c.hook("rollback NAME", "Go back from a version that has failed", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.Rollback(ctx, args[0])
		}),
		c.step("sync NAMESPACE", "Bring a running router to what its site says", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.SyncSite(ctx, args[0])
		}),
		c.step("started NAMESPACE", "Wait for a router that was started", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.StartedSite(ctx, args[0])
		}),
		c.hook("run NAME", "Run a container that Docker has", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.RunContainer(ctx, args[0])
		}),
		c.hook("stop NAME", "Stop a container that Docker has", oneName, func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.StopContainer(ctx, args[0])
		}),
		c.hook("ended NAME INVOCATION", "Note whether a service that has ended badly was stopped", cobra.ExactArgs(2), func(ctx context.Context, h hooks.Hooks, args []string) error {
			return h.Ended(ctx, args[0], args[1])
		}),
		c.hook("boot", "Take up inputs that came with a later mount", noArgument, func(ctx context.Context, h hooks.Hooks, _ []string) error {
			return h.Boot(ctx)
		}),
	)
	return hook
}

// hook returns the command of one hook, which ends early, and cleanly, when systemd stops its unit.
func (c *cli) hook(use, short string, args cobra.PositionalArgs, do func(context.Context, hooks.Hooks, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: short + ".", Args: args}
	cmd.Example = "  sitelet hook " + strings.NewReplacer("NAME...", "web db", "NAMESPACE", "east", "NAME", "web", "INVOCATION", "1f0e7a").Replace(use)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		h, err := c.hooks(cmd)
		if err != nil {
			return err
		}
		return do(ctx, h, args)
	}
	return cmd
}

// step returns the command of a hook that is a step of a workload's own service. When it is told to end, an operator stops that
// service, which is no failure of it.
func (c *cli) step(use, short string, args cobra.PositionalArgs, do func(context.Context, hooks.Hooks, []string) error) *cobra.Command {
	return c.hook(use, short, args, func(ctx context.Context, h hooks.Hooks, args []string) error {
		err := do(ctx, h, args)
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
}

// hooks returns what works on the host of a command's scope.
func (c *cli) hooks(cmd *cobra.Command) (hooks.Hooks, error) {
	p, err := c.paths(cmd)
	if err != nil {
		return hooks.Hooks{}, err
	}
	connect := sync.OnceValues(func() (hooks.Manager, error) {
		manager, err := systemd.Connect(cmd.Context(), p.Scope)
		if err != nil && p.Scope == paths.User {
			name := caller().Name
			return nil, fmt.Errorf("%w; log in as %s, not with su, or run `%s`; `sitelet plan` works everywhere", err, name, doctor.EnableLinger(name))
		}
		if err != nil {
			return nil, fmt.Errorf("%w; this works only where systemd and its D-Bus run, `sitelet plan` everywhere", err)
		}
		return manager, nil
	})
	return hooks.Hooks{
		Paths:   p,
		Engine:  engine.Podman{},
		Systemd: func(context.Context) (hooks.Manager, error) { return connect() },
		Log:     func(format string, args ...any) { fmt.Fprint(c.err, harmless(format+"\n", args...)) },
		Now:     time.Now,
		Poll:    200 * time.Millisecond,
	}, nil
}
