package quadlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	out, err := run(ctx, []string{path, "-version"}, nil)
	if err != nil {
		return Version{}, err
	}
	return ParseVersion(out)
}

// Convert runs the quadlet at path on the Quadlet files below dirs, which are absolute, and lets it write the units to out.
// log is what quadlet said of files that it could not convert; it is an error, too, after the others were converted.
func Convert(ctx context.Context, path string, dirs []string, out string, user bool) (log string, err error) {
	argv := []string{path, "-no-kmsg-log"}
	if user {
		argv = append(argv, "-user")
	}
	return run(ctx, append(argv, out), []string{"QUADLET_UNIT_DIRS=" + strings.Join(dirs, ":")})
}

// run returns what a command with no environment but env wrote to its output and errors. The error repeats what it wrote.
// It does what package os/exec would, which takes half a millisecond more for it.
func run(ctx context.Context, argv, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	output, input, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer output.Close()
	process, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Env:   append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, env...),
		Files: []*os.File{nil, input, input},
		// One that outlived a process which was killed could write between the files of the next.
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	input.Close()
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() {
		process.Kill()
		output.Close()
	})
	out, err := io.ReadAll(output)
	state, waitErr := process.Wait()
	stop()
	if err = errors.Join(err, waitErr); err == nil && !state.Success() {
		err = errors.New(state.String())
	}
	text := strings.TrimSpace(string(out))
	switch {
	case ctx.Err() != nil:
		return text, fmt.Errorf("%s was ended before it was done: %w", argv[0], context.Cause(ctx))
	case err != nil && text != "":
		return text, fmt.Errorf("%s: %w: %s", argv[0], err, text)
	case err != nil:
		return text, fmt.Errorf("%s: %w", argv[0], err)
	}
	return text, nil
}
