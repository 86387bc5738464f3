package quadlet

import (
	"bytes"
	"context"
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

// timeout bounds a run of quadlet. systemd kills all generators after 90 s.
const timeout = 60 * time.Second

// Find returns the path of the host's quadlet, root included.
func Find(root string) (string, error) {
	for _, dir := range helperDirs {
		path := filepath.Join(root, dir, "quadlet")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no quadlet in %s; install Podman %d.%d or newer (package podman)",
		strings.Join(helperDirs, ", "), Minimum.Major, Minimum.Minor)
}

// Identity returns a string that changes when the file at path is replaced or rewritten.
func Identity(path string) (string, error) {
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

// RunVersion asks the quadlet at path for its version.
func RunVersion(ctx context.Context, path string) (Version, error) {
	p, err := start(ctx, []string{path, "-version"}, nil)
	if err != nil {
		return Version{}, err
	}
	out, err := p.wait()
	if err != nil {
		return Version{}, err
	}
	return ParseVersion(out)
}

// Convert runs the quadlet at path on the Quadlet files below dirs, which are absolute, and lets it write the units to out.
// log is what quadlet said of files that it could not convert; it is an error, too, after the others were converted.
func Convert(ctx context.Context, path string, dirs []string, out string, user bool) (log string, err error) {
	c, err := Start(ctx, path, dirs, out, user)
	if err != nil {
		return "", err
	}
	return c.Wait()
}

// Conversion is a quadlet that is running.
type Conversion struct{ process }

// Start begins what Convert does. Wait must be called; quadlet ends at once when ctx does, or this process.
func Start(ctx context.Context, path string, dirs []string, out string, user bool) (*Conversion, error) {
	argv := []string{path, "-no-kmsg-log"}
	if user {
		argv = append(argv, "-user")
	}
	p, err := start(ctx, append(argv, out), []string{"QUADLET_UNIT_DIRS=" + strings.Join(dirs, ":")})
	if err != nil {
		return nil, err
	}
	return &Conversion{p}, nil
}

// Wait returns what Convert does.
func (c *Conversion) Wait() (log string, err error) { return c.wait() }

// process is a command that is running.
type process struct {
	cmd    *exec.Cmd
	ctx    context.Context
	cancel context.CancelFunc
	output *bytes.Buffer
}

// start starts a command with no environment but env.
func start(ctx context.Context, argv, env []string) (process, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	p := process{exec.CommandContext(ctx, argv[0], argv[1:]...), ctx, cancel, new(bytes.Buffer)}
	p.cmd.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		cancel()
		return process{}, fmt.Errorf("%s: %w", argv[0], err)
	}
	return p, nil
}

// wait returns what the command wrote to its output and errors. The error repeats it.
func (p process) wait() (string, error) {
	defer p.cancel()
	err := p.cmd.Wait()
	text := strings.TrimSpace(p.output.String())
	switch {
	case p.ctx.Err() != nil:
		return text, fmt.Errorf("%s was ended before it was done: %w", p.cmd.Path, context.Cause(p.ctx))
	case err != nil && text != "":
		return text, fmt.Errorf("%s: %w: %s", p.cmd.Path, err, text)
	case err != nil:
		return text, fmt.Errorf("%s: %w", p.cmd.Path, err)
	}
	return text, nil
}
