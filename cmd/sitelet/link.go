package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (c *cli) linkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "link COMMAND",
		Short:   "Print links for other sites",
		Long:    "Commands for links between Skupper sites.",
		Example: "  sitelet link generate east",
	}
	cmd.AddCommand(c.linkGenerateCommand())
	return cmd
}

func (c *cli) linkGenerateCommand() *cobra.Command {
	var host, name string
	cmd := &cobra.Command{
		Use:   "generate NAMESPACE [--host HOST] [--name NAME]",
		Short: "Print a link to a site",
		Long: `Prints a Link and its Secret, for another site's input or for Kubernetes, which
takes them as they are. They hold a key: whoever has them can join the network.

Without --host, it is a link to the first host of the first RouterAccess.

Exits with 0 if there is one, 1 if there is none, 2 if it was called in a wrong
way.`,
		Example: `  sitelet link generate east
  sitelet link generate east --host east.example.com --name to-east`,
		Args:              oneName,
		ValidArgsFunction: c.complete(1, namespaces),
	}
	cmd.Flags().StringVar(&host, "host", "", "the host that the other site reaches this one at")
	cmd.Flags().StringVar(&name, "name", "", "another name for the link")
	completeFlag(cmd, "host")
	completeFlag(cmd, "name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := c.hooks(cmd)
		if err != nil {
			return err
		}
		text, hosts, err := h.GenerateLink(args[0], host, name)
		if err != nil {
			return err
		}
		if text == nil {
			if len(hosts) > 0 {
				return fmt.Errorf("no RouterAccess of namespace %s has the host %q; there are %s", args[0], host, strings.Join(hosts, ", "))
			}
			return fmt.Errorf("namespace %s takes no links; add a RouterAccess, or linkAccess: default to its Site, and run `sitelet reload`", args[0])
		}
		_, err = c.out.Write(text)
		return err
	}
	return cmd
}
