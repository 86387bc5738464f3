// Package machine makes, boots and breaks real Debian 13 machines (systemd 257, Podman 5.4, Quadlet) for tests,
// benchmarks and demonstrations. A machine is a set of namespaces with its own systemd, cgroup, network and disk;
// it boots in about a second from layers that are built once and kept in a cache.
//
// Machines need root; [Available] tells whether and why not. In a test, start with [New], elsewhere with [Start].
// A machine dies with the process that started it.
package machine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Options say what a machine is like when it first boots. The zero value is Debian and the image localhost/busybox:1,
// which root and the user alice have.
type Options struct {
	Name string // host name; "machine" if empty
	Deb  string // path of a Debian package that is installed; none if empty
}

// Machine is a machine that is running or switched off. Its methods may be called by several goroutines, but not
// while one of Boot, Reboot, PowerCut and Close runs.
type Machine struct {
	*hardware
	user string // whose commands As runs; root's if empty
}

type hardware struct {
	dir     string // of the disk
	cgroup  string
	below   []layer
	running *boot // nil while it is switched off
}

// bootTimeout and shutdownTimeout are beyond what a machine under load takes, so that a test fails with what hangs.
const (
	bootTimeout     = 2 * time.Minute
	shutdownTimeout = 2 * time.Minute
)

// machines numbers the machines of this process.
var machines atomic.Int64

// Start returns a new machine that has booted. Close removes it.
func Start(options Options) (*Machine, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	below, err := layers(options.Deb)
	if err != nil {
		return nil, err
	}
	run, err := thisRun()
	if err != nil {
		return nil, err
	}
	n := strconv.FormatInt(machines.Add(1), 10)
	root, err := cgroupRoot()
	if err != nil {
		return nil, err
	}
	m := &Machine{hardware: &hardware{
		dir:    filepath.Join(run.dir, n),
		cgroup: filepath.Join(root, cgroupName(run.dir, n)),
		below:  below,
	}}
	if err := m.install(options.Name); err != nil {
		return nil, errors.Join(fmt.Errorf("making a machine's disk: %w", err), m.Close())
	}
	if err := m.Boot(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// install makes the disk and writes what distinguishes this machine from others.
func (h *hardware) install(name string) error {
	if err := newDisk(h.dir, h.below); err != nil {
		return err
	}
	if name == "" {
		name = "machine"
	}
	id := make([]byte, 16)
	rand.Read(id)
	etc := filepath.Join(h.dir, "upper", "etc")
	if err := os.Mkdir(etc, 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(etc, "machine-id"), fmt.Appendf(nil, "%x\n", id), 0o444),
		os.WriteFile(filepath.Join(etc, "hostname"), []byte(name+"\n"), 0o644))
}

// Boot switches the machine on and returns when systemd has started all that starts at boot, well or not.
// /run and /tmp are new at every boot, all else is as it was left.
func (m *Machine) Boot() error {
	if m.isOn() {
		return errors.New("the machine is running; switch it off before booting it")
	}
	// It may have switched itself off.
	if err := m.PowerCut(); err != nil {
		return err
	}
	if err := newCgroup(m.cgroup); err != nil {
		return err
	}
	if err := m.allowPodman(); err != nil {
		return err
	}
	b, err := start(m.hardware)
	if err != nil {
		return errors.Join(fmt.Errorf("booting: %w", err), removeCgroup(m.cgroup))
	}
	m.running = b
	if err := b.awaitReady(bootTimeout); err != nil {
		jobs, _ := m.Exec("systemctl", "list-jobs", "--no-pager")
		console, _ := os.ReadFile(filepath.Join(m.dir, "console"))
		return fmt.Errorf("booting: %w\n%s\n%s", err, jobs, console)
	}
	return nil
}

// isOn tells whether the machine runs: it was booted and nothing on it has ended it.
func (h *hardware) isOn() bool {
	if h.running == nil {
		return false
	}
	select {
	case <-h.running.ended:
		return false
	default:
		return true
	}
}

// allowPodman has Podman set no limit on processes where the machine has no controller for it: it could start no
// container, saying "controller `pids` is not available".
func (m *Machine) allowPodman() error {
	if m.HasController("pids") {
		return nil
	}
	dir := filepath.Join(m.dir, "upper/etc/containers/containers.conf.d")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "no-pids-controller.conf"), []byte("[containers]\npids_limit = 0\n"), 0o644)
}

// Reboot shuts the machine down as an operator would and boots it again.
func (m *Machine) Reboot() error {
	if !m.isOn() {
		return errors.New("the machine is off; boot it")
	}
	// The command may be ended by what it asks for.
	_, asked := m.Exec("systemctl", "reboot")
	select {
	case <-m.running.ended:
	case <-time.After(shutdownTimeout):
		return errors.Join(fmt.Errorf("the machine did not shut down in %s; see its journal", shutdownTimeout), asked)
	}
	return m.Boot()
}

// PowerCut stops everything on the machine at once, as a power failure does. Boot switches it on again.
// A machine that is off stays off.
func (m *Machine) PowerCut() error {
	if m.running != nil {
		m.running.kill()
		m.running = nil
	}
	return removeCgroup(m.cgroup)
}

// Close cuts the power and removes the machine with its disk.
func (m *Machine) Close() error {
	err := m.PowerCut()
	for _, l := range m.below {
		l.lock.Close()
	}
	return errors.Join(err, os.RemoveAll(m.dir))
}

// HasController tells whether the machine, which is running, has a controller of cgroup version 2, such as "memory". Hosts that keep
// a controller in version 1 cannot give it to a machine.
func (m *Machine) HasController(name string) bool {
	have, _ := controllers(m.cgroup)
	return slices.Contains(have, name)
}
