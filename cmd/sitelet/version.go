package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/build"
)

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  sitelet version",
		Args:    noMore,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := fmt.Fprintln(c.out, "sitelet", build.Version)
			return err
		},
	}
}
