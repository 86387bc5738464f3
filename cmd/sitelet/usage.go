package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sitelet/sitelet/internal/spelling"
)

// usageError is a mistake in the command line.
type usageError struct{ error }

// strict has cmd and all commands below it answer each wrong call with a usageError, where Cobra would print help and succeed.
func strict(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	if !cmd.Runnable() {
		cmd.Args, cmd.RunE = cobra.ArbitraryArgs, onlyCommands
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
}

// onlyCommands runs a command that does nothing but hold others.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return noSuchCommand(cmd, args[0])
}

func noSuchCommand(parent *cobra.Command, word string) error {
	hint := suggestion("", word, shownCommands(parent))
	if instead := elsewhere(parent, word); instead != "" {
		hint = "; " + instead
	}
	return usageError{fmt.Errorf("there is no command %q%s", strings.TrimSpace(called(parent)+" "+word), hint)}
}

// shownCommands are the names of the commands below one.
func shownCommands(parent *cobra.Command) (names []string) {
	for _, cmd := range parent.Commands() {
		if !cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	return names
}

// elsewhere says what does the work of a command that other tools have.
func elsewhere(parent *cobra.Command, word string) string {
	if parent.HasParent() {
		return ""
	}
	user := ""
	if parent.PersistentFlags().Lookup("user").Value.String() == "true" {
		user = "--user "
	}
	switch word {
	case "restart":
		return "run `systemctl " + user + "restart NAME`"
	case "logs", "log":
		return "run `journalctl " + user + "-u NAME`"
	case "list", "ls", "ps", "get", "describe", "show":
		return "run `sitelet status`, or `sitelet status NAME`"
	case "apply", "create", "add", "update", "run", "deploy":
		return "put the file in its place and run `sitelet reload`"
	case "delete", "remove", "rm":
		return "remove the file and run `sitelet prune NAME`, or `sitelet site remove NAMESPACE` for a site"
	}
	return ""
}

func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &bare):
		return usageError{fmt.Errorf("the option --%s needs a value", bare.GetFlag().Name)}
	case errors.As(err, &invalid):
		return usageError{fmt.Errorf("%q is no value for --%s; %s", invalid.GetValue(), invalid.GetFlag().Name, instead(invalid))}
	case errors.As(err, &syntax):
		return usageError{fmt.Errorf("there is no option %s", syntax.GetSpecifiedFlag())}
	case !errors.As(err, &unknown):
		return usageError{err}
	case unknown.GetSpecifiedShortnames() != "":
		return usageError{fmt.Errorf("there is no option -%s", unknown.GetSpecifiedName())}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return usageError{fmt.Errorf("there is no option --%s%s", unknown.GetSpecifiedName(), suggestion("--", unknown.GetSpecifiedName(), names))}
}

// instead says what to write for a value that was refused: the options of our own do that themselves.
func instead(invalid *pflag.InvalidValueError) string {
	if invalid.GetFlag().Value.Type() == "bool" {
		return "write true or false"
	}
	return invalid.Unwrap().Error()
}

func suggestion(prefix, word string, names []string) string {
	near, ok := spelling.Nearest(word, names)
	if !ok {
		return ""
	}
	return "; did you mean " + prefix + near + "?"
}

// called is the command's name with those above it, without that of the program, which each error begins with.
func called(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

func noArgument(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, not %q", called(cmd), args[0])
	}
	return nil
}

func oneName(cmd *cobra.Command, args []string) error {
	what := "NAME"
	if strings.Contains(cmd.Use, "NAMESPACE") {
		what = "NAMESPACE"
	}
	if len(args) == 0 {
		return fmt.Errorf("%s needs a %s", called(cmd), what)
	}
	if len(args) > 1 {
		return fmt.Errorf("%s takes one %s, not %d", called(cmd), what, len(args))
	}
	return nil
}

func oneNameAtMost(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one NAME at most, not %d", called(cmd), len(args))
	}
	return nil
}

func someNames(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a NAME at least", called(cmd))
	}
	return nil
}
