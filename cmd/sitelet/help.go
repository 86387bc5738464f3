package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		Long: `Prints the help of a command, as COMMAND --help does.

Exits with 0, or with 2 if there is no such command.`,
		Example: `  sitelet help check`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if about, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				names = shownCommands(about)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return noSuchCommand(about, rest[0])
			}
			about.InitDefaultHelpFlag() // merges the options of the commands above
			return about.Help()
		},
	}
}

// help prints what a command does, how it is called, examples, and the commands and options that there are.
func help(cmd *cobra.Command, _ []string) {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", cmd.Long, cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				fmt.Fprintf(w, "  %s\t%s\n", sub.Name(), sub.Short)
			}
		}
	}
	fmt.Fprintf(w, "\nOptions:\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) { fmt.Fprint(w, option(f)) })
	if cmd.HasSubCommands() {
		fmt.Fprintf(w, "\nRun `%s COMMAND --help` for more about a command.\n", cmd.CommandPath())
	}
}

// option is the line of a flag; a tab stands between its columns.
func option(f *pflag.Flag) string {
	short := "    "
	if f.Shorthand != "" {
		short = "-" + f.Shorthand + ", "
	}
	value, usage := pflag.UnquoteUsage(f)
	return fmt.Sprintf("  %s%s\t%s\n", short, strings.TrimSpace("--"+f.Name+" "+value), usage)
}
