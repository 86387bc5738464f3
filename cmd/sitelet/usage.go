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
	var names []string
	for _, cmd := range parent.Commands() {
		if !cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	return usageError{fmt.Errorf("there is no command %q%s", strings.TrimSpace(called(parent)+" "+word), suggestion("", word, names))}
}

func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return usageError{err}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return usageError{fmt.Errorf("there is no option --%s%s", unknown.GetSpecifiedName(), suggestion("--", unknown.GetSpecifiedName(), names))}
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
	if len(args) != 1 {
		return fmt.Errorf("%s takes one NAME, not %d", called(cmd), len(args))
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
		return fmt.Errorf("%s takes at least one NAME", called(cmd))
	}
	return nil
}
