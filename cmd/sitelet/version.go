package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/internal/build"
)

func (c *cli) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version [-o FORMAT]",
		Short: "Print the version",
		Long: `Prints the version.

Exits with 0, or with 2 if it was called in a wrong way.`,
		Example: `  sitelet version
  sitelet version -o json`,
		Args:              noArgument,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	output := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if *output == formatJSON {
			return printJSON(c.out, map[string]string{"version": build.Version})
		}
		_, err := fmt.Fprintln(c.out, "sitelet", build.Version)
		return err
	}
	return cmd
}
