package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
)

func (c *cli) checkCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "check [PATH...]",
		Short: "Say what is wrong with the configuration and the descriptors",
		Long: `Checks the configuration and all descriptors of the host, or only the files and
directories that are named, as one set. Prints each finding with its place.

Exits with 0 if there are no errors (there may be warnings), 1 if there are, 2 if
it was called in a wrong way.`,
		Example: `  sitelet check
  sitelet check web.json
  sitelet check -o json /etc/sitelet/containers`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return usageError{fmt.Errorf("-o takes text or json, not %q", output)}
			}
			return c.check(cmd, args, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or json")
	return cmd
}

func (c *cli) check(cmd *cobra.Command, named []string, output string) error {
	p, err := c.paths(cmd)
	if err != nil {
		return err
	}
	in, err := generator.LoadNamed(p, named)
	if err != nil {
		return err
	}
	_, found := in.Check()
	found.Sort()
	if output == "json" {
		if err := diag.PrintJSON(c.out, found); err != nil {
			return err
		}
	} else {
		diag.Print(c.out, found, readSource, c.colour())
		if len(found) == 0 {
			fmt.Fprintf(c.out, "%s, nothing to say about them\n", counted(len(in.Files), "descriptor"))
		}
	}
	if found.HasErrors() {
		return errFindings
	}
	return nil
}

// readSource returns the text that an excerpt is taken from.
func readSource(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// colour is for people at a terminal who have not said that they do not want it (no-color.org).
func (c *cli) colour() bool {
	f, ok := c.out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
