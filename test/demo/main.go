// Command demo plays, on a machine that it boots and removes again, what sitelet does: steps.go has the script.
// SITELET_DEB names the package that is shown. It exits with 1 if anything goes another way than it says.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sitelet/sitelet/test/machine"
	"github.com/sitelet/sitelet/test/standin/image"
)

func main() {
	if err := run(os.Stdout, os.Getenv("SITELET_DEB")); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

const intro = `sitelet turns JSON descriptors of containers and YAML resources of Skupper sites
into systemd services, and takes up their changes, with a way back. This takes
about two minutes.

It boots a Debian 13 machine in namespaces of this host: with its own systemd,
Podman, network and disk. %s is installed on it.
At the end the machine is removed; only what machines are made from is kept.

Lines with the prompt demo# are typed on the machine, and those below are what
it answers; ... says how long that has taken so far, tries that came too early
included. A line with a check mark says what this program has verified.

First, the machine is made and booted.
`

const outro = `
Done in %d s: all %d steps went as they say. The machine and its disk are gone.
What machines are made from is kept for the next time; to remove it as well:
rm -r %s
`

// run plays the steps on a machine of its own.
func run(w io.Writer, deb string) error {
	if deb == "" {
		return errors.New("SITELET_DEB does not name a package; run make demo, which builds one")
	}
	begin := time.Now()
	fmt.Fprintf(w, intro, filepath.Base(deb))
	cache, err := machine.CacheDir()
	if err != nil {
		return err
	}
	err = waiting(w, "preparing what the machine is made from: ", func() error { return machine.Prepare(deb) })
	if err != nil {
		return err
	}
	var m *machine.Machine
	err = waiting(w, "booting the machine: ", func() (err error) {
		m, err = machine.Start(machine.Options{Name: "demo", Deb: deb})
		return err
	})
	if err != nil {
		return err
	}
	// Until now an interrupt ends all at once, the machine included; from here on it is removed first.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := waiting(w, "loading the images: ", func() error { return loadRouter(ctx, m) }); err != nil {
		return errors.Join(err, m.Close())
	}
	if err := errors.Join(play(ctx, w, steps(), terminal{m}), m.Close()); err != nil {
		return err
	}
	fmt.Fprintf(w, outro, int(time.Since(begin).Seconds()), len(steps()), cache)
	return nil
}

// loadRouter puts the stand-in for the router's image on the machine.
func loadRouter(ctx context.Context, m *machine.Machine) error {
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := image.Build(ctx, dir)
	if err != nil {
		return err
	}
	archive := filepath.Join(dir, "router.tar")
	if err := image.Archive(archive, routerImage, program); err != nil {
		return err
	}
	if err := m.CopyFile(archive, "/root/router.tar"); err != nil {
		return err
	}
	_, err = m.Exec("podman", "load", "--quiet", "--input", "/root/router.tar")
	return err
}

// terminal is root's on the machine.
type terminal struct{ machine *machine.Machine }

// run runs a line as a shell does and returns what it prints.
func (t terminal) run(ctx context.Context, line string) (string, error) {
	// Those two the machine has to be asked for: the shell ends with them.
	switch line {
	case "systemctl reboot":
		return "", t.machine.Reboot()
	case "systemctl poweroff":
		return "", t.powerOff(ctx)
	}
	out, err := t.machine.Command(ctx, "bash", "-c", line).CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

func (t terminal) powerOff(ctx context.Context) error {
	t.machine.Command(ctx, "systemctl", "poweroff").Run() // may be ended by what it asks for
	return machine.Eventually(time.Minute, func() error {
		if t.machine.Command(ctx, "true").Run() == nil {
			return errors.New("the machine is on")
		}
		return ctx.Err()
	})
}
