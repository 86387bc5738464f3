package quadlet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// helperDirs are where Podman's helpers are installed (containers.conf(5), helper_binaries_dir).
var helperDirs = []string{"/usr/local/libexec/podman", "/usr/local/lib/podman", "/usr/libexec/podman", "/usr/lib/podman"}

// Tool is the quadlet of a host.
type Tool struct {
	Path     string
	Identity string // changes when the binary is replaced
	Version  Version
}

// Host finds the quadlet below root and asks it for its version, or has that from the file note, where a call before has written
// it; without a note it always asks. The error says what to install.
func Host(ctx context.Context, root, note string) (Tool, error) {
	path, err := find(root)
	if err != nil {
		return Tool{}, err
	}
	t := Tool{Path: path}
	if t.Identity, err = identity(path); err != nil {
		return Tool{}, err
	}
	known, _ := os.ReadFile(note)
	answer, found := strings.CutPrefix(string(known), t.Identity+"\n")
	if !found || !strings.HasSuffix(answer, "\n") { // the end may be missing while another process writes it
		if answer, err = run(ctx, []string{path, "-version"}); err != nil {
			return Tool{}, err
		}
	}
	if t.Version, err = ParseVersion(answer); err != nil {
		return Tool{}, err
	}
	if !found && note != "" {
		// Whoever may not write it asks again the next time.
		_ = os.WriteFile(note, []byte(t.Identity+"\n"+t.Version.String()+"\n"), 0o644)
	}
	if !t.Version.AtLeast(Minimum) {
		return t, fmt.Errorf("version %v of Podman is older than %v, the first that sitelet can work with; install a newer one", t.Version, Minimum)
	}
	return t, nil
}

// find returns the path of the host's quadlet, root included.
func find(root string) (string, error) {
	for _, dir := range helperDirs {
		path := filepath.Join(root, dir, "quadlet")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no quadlet in %s; install Podman %d.%d or newer (package podman)",
		strings.Join(helperDirs, ", "), Minimum.Major, Minimum.Minor)
}

// InstallHint is what to do where Host returns an error.
var InstallHint = fmt.Sprintf("Install Podman %d.%d or newer (package podman).", Minimum.Major, Minimum.Minor)

// Finding words an error of Host's, which InstallHint follows.
func Finding(err error) string {
	message, _, _ := strings.Cut(err.Error(), "; install")
	return message
}

// identity returns a string that changes when the file at path is replaced or rewritten.
func identity(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	id := strconv.FormatInt(info.Size(), 16) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 16)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		id += "-" + strconv.FormatUint(stat.Dev, 16) + "-" + strconv.FormatUint(stat.Ino, 16)
	}
	return id, nil
}

// Job is a file and what quadlet makes of it.
type Job struct {
	Name string // of the unit, without its suffix
	File File
	Unit []byte
	Err  error // why there is no unit
}

// Convert has quadlet make the units of jobs, all in one run, and then of each alone that it has made none of: a file that it
// cannot parse takes its whole directory with it. What it reads and writes holds secrets: it lies in a directory below dir that
// only its owner can enter, and that is gone afterwards. user is for units of a user's systemd.
func (t Tool) Convert(ctx context.Context, dir string, user bool, jobs []*Job) {
	said := t.convert(ctx, dir, user, jobs)
	for _, j := range jobs {
		switch {
		case j.Unit != nil || j.Err != nil:
			continue
		case ctx.Err() != nil || errors.Is(said, context.DeadlineExceeded):
			j.Err = said
			continue
		}
		said := t.convert(ctx, dir, user, []*Job{j})
		if j.Unit == nil && j.Err == nil {
			j.Err = fmt.Errorf("the host's Quadlet refuses it: %w; this is a fault of sitelet, please report it with the descriptor", said)
		}
	}
}

// convert is one run of quadlet; the error is what it said. The files share a directory: Quadlet looks for each file's drop-ins
// in every directory, so with one directory each its time grows with the square of their number.
func (t Tool) convert(ctx context.Context, dir string, user bool, jobs []*Job) error {
	work, err := os.MkdirTemp(dir, "quadlet-")
	in, out := filepath.Join(work, "in"), filepath.Join(work, "out")
	if err == nil {
		defer os.RemoveAll(work)
		err = errors.Join(os.Mkdir(in, 0o700), os.Mkdir(out, 0o700))
	}
	for _, j := range jobs {
		if j.Err = err; j.Err == nil {
			j.Err = j.write(filepath.Join(in, j.Name+".container"), t.Version)
		}
	}
	if err != nil {
		return err
	}
	argv := []string{t.Path, "-no-kmsg-log"}
	if user {
		argv = append(argv, "-user")
	}
	said, err := run(ctx, append(argv, out), "QUADLET_UNIT_DIRS="+in)
	if err == nil {
		err = errors.New(cmp.Or(said, "it says nothing"))
	}
	for _, j := range jobs {
		if text, err := os.ReadFile(filepath.Join(out, j.Name+".service")); err == nil {
			j.Unit = text
		}
	}
	return err
}

func (j *Job) write(path string, podman Version) error {
	text, err := j.File.Text(podman)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// timeout bounds a run of quadlet.
const timeout = time.Minute

// run returns what quadlet, with no environment but env, wrote to its output and errors. The error repeats it.
func run(ctx context.Context, argv []string, env ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(env, "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	cmd.WaitDelay = time.Second // a process that it left behind may hold its output
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s was ended before it was done: %w", argv[0], context.Cause(ctx))
	case err != nil && text != "":
		err = fmt.Errorf("%s: %w: %s", argv[0], err, strings.ReplaceAll(text, "\n", "; "))
	case err != nil:
		err = fmt.Errorf("%s: %w", argv[0], err)
	}
	return text, err
}
