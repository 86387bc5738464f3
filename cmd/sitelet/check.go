package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/source"
)

func (c *cli) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [-o FORMAT] [PATH...]",
		Short: "Say what is wrong with the configuration, descriptors and sites",
		Long: `Checks the configuration, all descriptors and all sites of the host, or only
what is named: descriptors as one set, and resources of sites, by themselves or
by their directories. YAML files are resources of one site, or of the namespace
whose they are. Asks the host's Quadlet too if there is one. Prints each finding
with its place and what to do.

Exits with 0 if there are no errors (there may be warnings), 1 if there are, 2
if it was called in a wrong way.`,
		Example: `  sitelet check
  sitelet check web.json
  sitelet check -o json /etc/sitelet/containers`,
		Args: cobra.ArbitraryArgs,
	}
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := c.paths(cmd)
		if err != nil {
			return err
		}
		return c.check(cmd.Context(), p, args, *output)
	}
	return cmd
}

func (c *cli) check(ctx context.Context, p paths.Paths, named []string, output format) error {
	in, err := load(p, named)
	if err != nil {
		return err
	}
	resources, found := 0, diag.List(nil)
	if len(named) == 0 {
		resources, found = checkAllSites(p, &in)
		found = append(found, missingMounts(p, in)...)
		for _, dir := range in.Dirs {
			found = append(found, source.Unread(dir, isYAML, "is not read: descriptors are JSON, and end in .json",
				"Write it in JSON; resources of a site belong below "+p.NamespacesDir+".")...)
		}
	} else {
		var files []source.File
		in.Files, files = apart(in.Files)
		resources, found = checkResources(files)
	}
	rendered, more := in.Render(nil)
	found = slices.Concat(found, more, tryQuadlet(ctx, p, rendered, len(named) == 0))
	found.Sort()
	if output == formatJSON {
		err = diag.PrintJSON(c.out, found)
	} else {
		err = diag.Print(c.out, found, readSource, colour(c.out))
		places := named
		if len(named) == 0 {
			places = generator.DescriptorDirs(p, in.Config)
		}
		fmt.Fprintln(c.out, summary(len(in.Files), resources, places, found))
	}
	if err != nil {
		return err
	}
	if found.HasErrors() {
		return errFindings
	}
	return nil
}

// tryQuadlet reports what the host's Podman can make no container of. That there is no Podman is a finding about the host.
func tryQuadlet(ctx context.Context, p paths.Paths, rendered []generator.Rendered, host bool) diag.List {
	rendered = slices.DeleteFunc(rendered, func(r generator.Rendered) bool { return r.Site != nil })
	if len(rendered) == 0 {
		return nil
	}
	tool, err := quadlet.Host(ctx, p.Root, "")
	switch {
	case err != nil && host:
		d := hooks.WithoutPodman(err)
		d.Severity = diag.Warning // nothing is wrong with what is checked
		return diag.List{d}
	case err != nil:
		return nil
	}
	jobs := make([]*quadlet.Job, len(rendered))
	for i, r := range rendered {
		jobs[i] = &quadlet.Job{Name: r.Name, File: r.Quadlet}
	}
	tool.Convert(ctx, os.TempDir(), p.Scope == paths.User, jobs)
	var found diag.List
	for i, j := range jobs {
		if j.Err != nil {
			found = append(found, diag.Diagnostic{File: rendered[i].Source, Message: j.Err.Error()})
		}
	}
	return found
}

// load reads what is to be checked, whatever the configuration says of using it.
func load(p paths.Paths, named []string) (generator.Inputs, error) {
	for _, path := range named {
		if filepath.Ext(path) == ".toml" {
			return generator.Inputs{}, usageError{fmt.Errorf("%s is no descriptor; name none, and the configuration is checked", path)}
		}
	}
	in, err := generator.LoadNamed(p, named)
	var missing *fs.PathError
	if errors.As(err, &missing) {
		return in, fmt.Errorf("%s cannot be checked: %w; name descriptors, resources of a site, or directories that hold some", missing.Path, missing.Err)
	}
	if len(named) == 0 && in.Config.Mode == config.Off {
		files, dirs, found := generator.Reader(p).Descriptors(generator.DescriptorDirs(p, in.Config))
		in.Files, in.Dirs, in.Found = files, dirs, append(in.Found, found...)
	}
	in.Files = distinct(in.Files)
	return in, err
}

// distinct leaves out what is there twice, such as a file that was named beside its directory.
func distinct(files []source.File) []source.File {
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f source.File) bool {
		path, err := filepath.Abs(f.Path)
		again := err == nil && seen[path]
		seen[path] = true
		return again
	})
}

// readSource returns the text that an excerpt is taken from.
func readSource(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// summary is the last line for people.
func summary(descriptors, resources int, places []string, found diag.List) string {
	wrong := 0
	for _, d := range found {
		if d.Severity == diag.Error {
			wrong++
		}
	}
	var counts []string
	if wrong > 0 {
		counts = append(counts, diag.Counted(wrong, "error"))
	}
	if warnings := len(found) - wrong; warnings > 0 {
		counts = append(counts, diag.Counted(warnings, "warning"))
	}
	var what []string
	if descriptors > 0 {
		what = append(what, diag.Counted(descriptors, "descriptor"))
	}
	if resources > 0 {
		what = append(what, diag.Counted(resources, "site resource"))
	}
	checked := strings.Join(what, " and ") + " checked: "
	switch {
	case len(what) == 0 && len(counts) == 0:
		return "no descriptors in " + strings.Join(places, ", ")
	case len(what) == 0: // what is wrong is said of no one in particular
		return strings.Join(counts, ", ")
	case len(counts) == 0:
		return checked + "nothing wrong"
	}
	return checked + strings.Join(counts, ", ")
}
