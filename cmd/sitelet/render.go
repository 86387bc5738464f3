package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

func (c *cli) renderCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "render -d DIR",
		Short: "Write units, Quadlet files and router configurations to a directory",
		Long: `Writes the units, the Quadlet files for the host's Podman or else for the newest
one, and the configurations of sites' routers, below DIR at the paths that they
would have on the host; no certificates are made. Nothing outside DIR is
touched, and neither systemd nor root is needed.

Exits with 0 if everything was rendered, 1 if there were errors (the
others are rendered all the same), 2 if it was called in a wrong way.`,
		Example: `  sitelet render -d /tmp/rendered
  SITELET_ROOT=testdata/01 sitelet render -d /tmp/rendered`,
		Args:              noArgument,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return usageError{errors.New("render needs -d DIR, the directory to write to")}
			}
			p, err := c.paths(cmd)
			if err != nil {
				return err
			}
			return c.render(p, dir)
		},
	}
	cmd.Flags().StringVarP(&dir, "directory", "d", "", "write below `DIR`, which is made if it is not there")
	return cmd
}

func (c *cli) render(p paths.Paths, dir string) error {
	_, unread, _ := generator.LoadConfig(p)
	c.printUnread(unread)
	h := hooks.Hooks{Paths: p, Now: time.Now}
	sites, found, err := h.WriteSites(dir)
	if err == nil {
		var more diag.List
		more, err = generator.WriteTree(p, dir, sites)
		found = append(found, more...)
	}
	found.Sort()
	diag.Print(c.err, found, readSource, colour(c.err))
	if err != nil {
		return fmt.Errorf("%w; name another directory with -d", err)
	}
	if found.HasErrors() {
		return errFindings
	}
	return nil
}
