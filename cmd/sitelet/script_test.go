package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/test/golden"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sitelet": main, "sitelet-generator": generate})
}

// generate is what systemd has sitelet-generator do at a daemon-reload, for the host's scope and below SITELET_ROOT.
func generate() {
	p, err := paths.New(paths.System, os.Getenv("SITELET_ROOT"), os.Getenv)
	if err == nil {
		err = os.MkdirAll(p.GeneratorDir, 0o755)
	}
	if err == nil {
		err = generator.Run(p, p.GeneratorDir, func(_ diag.Severity, line string) { fmt.Fprintln(os.Stderr, line) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fakeQuadlet makes as little of a unit as the scripts need.
const fakeQuadlet = `#!/bin/sh
for out; do :; done
if [ "$out" = -version ]; then echo 5.4.2; exit; fi
cd "$QUADLET_UNIT_DIRS" || exit
for file in *.container; do
	name=${file%.container}
	image=$(sed -n s/^Image=//p "$file")
	case $image in */refused*) echo "converting $file: no"; continue ;; esac
	printf '[Service]\nExecStart=podman run --name %s -d %s\n' "$name" "$image" >"$out/$name.service"
done
`

// The scripts of testdata run the whole command, on a root directory of their own, with a quadlet.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *golden.Update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			root := filepath.Join(env.WorkDir, "root")
			env.Setenv("SITELET_ROOT", root)
			// Whatever this host has, its systemd is none of theirs.
			env.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(env.WorkDir, "no-bus"))
			dir := filepath.Join(root, "usr/libexec/podman")
			return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "quadlet"), []byte(fakeQuadlet), 0o755))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command that must end with an exit status: exits STATUS COMMAND [ARG...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
