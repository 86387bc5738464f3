package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (c *cli) siteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "site COMMAND",
		Short:   "Remove a Skupper site",
		Long:    "Commands for a Skupper site as a whole.",
		Example: "  sitelet site remove east",
	}
	cmd.AddCommand(c.siteRemoveCommand())
	return cmd
}

func (c *cli) siteRemoveCommand() *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use:   "remove NAMESPACE [--purge]",
		Short: "Stop a site's router and remove what was made for it",
		Long: `Stops the router of a namespace and removes its container, its certificates,
ports and identity, and everything else that sitelet has made. The resources
stay, and the next reload makes a new site of them, unless --purge removes them
too.

Exits with 0 if it is gone, 1 if something failed, 2 if it was called in a wrong
way.`,
		Example: `  sitelet site remove east
  sitelet site remove east --purge`,
		Args:              oneName,
		ValidArgsFunction: c.complete(1, namespaces),
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "remove the resources and certificates of the input as well")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := c.hooks(cmd)
		if err != nil {
			return err
		}
		if err := h.RemoveSite(cmd.Context(), args[0], purge); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "namespace %s: removed\n", args[0])
		return nil
	}
	return cmd
}
