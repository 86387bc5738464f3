package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/systemd"
)

// hookCommand holds what units call. It is hidden: people have systemctl.
func (c *cli) hookCommand() *cobra.Command {
	hook := &cobra.Command{Use: "hook", Short: "What units call", Hidden: true}
	verb := func(use, short string, args cobra.PositionalArgs, do func(context.Context, hooks.Hooks, []string) error) {
		hook.AddCommand(&cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			h, err := c.hooks(cmd)
			if err != nil {
				return err
			}
			return do(ctx, h, args)
		}})
	}
	verb("create NAME", "Make the container of a workload", cobra.ExactArgs(1), func(ctx context.Context, h hooks.Hooks, args []string) error {
		return h.Create(ctx, args[0])
	})
	verb("prepare NAME", "Write what the start of a container reads", cobra.ExactArgs(1), func(ctx context.Context, h hooks.Hooks, args []string) error {
		return h.Prepare(ctx, args[0])
	})
	verb("refresh-hosts NAME...", "Look up the hosts of running containers again", cobra.MinimumNArgs(1), func(ctx context.Context, h hooks.Hooks, args []string) error {
		return h.RefreshHosts(ctx, args...)
	})
	verb("boot", "Take up inputs that came with a later mount", noMore, func(ctx context.Context, h hooks.Hooks, args []string) error {
		return h.Boot(ctx, func(ctx context.Context) (hooks.Manager, error) { return systemd.Connect(ctx, h.Paths.Scope) })
	})
	return hook
}

func (c *cli) hooks(cmd *cobra.Command) (hooks.Hooks, error) {
	p, err := c.paths(cmd)
	if err != nil {
		return hooks.Hooks{}, err
	}
	return hooks.Hooks{
		Paths:  p,
		Engine: engine.Podman{},
		Log:    func(format string, args ...any) { fmt.Fprintf(c.err, format+"\n", args...) },
	}, nil
}
