package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/descriptor"
)

// createCommand turns the command that Quadlet wrote for an image into the arguments of podman that only create the container,
// under name. Values of environment variables whose names say that they are secret go to env, podman's own environment, or to file,
// an --env-file: others may read a command line.
func createCommand(argv []string, image, name string) (args, env, file []string, err error) {
	run := slices.Index(argv, "run")
	end := slices.Index(argv, image)
	if run < 1 || end < run {
		return nil, nil, nil, fmt.Errorf("the command that Quadlet wrote is of a form that sitelet does not know: it does not run %s", image)
	}
	// What stands behind the image is the container's own command, where everything may look like a flag.
	flags, named := drop(argv[run+1:end], "--name")
	flags, detached := drop(flags, "-d")
	if !named || !detached {
		return nil, nil, nil, fmt.Errorf("the command that Quadlet wrote is of a form that sitelet does not know: it lacks --name or -d")
	}
	for _, flag := range []string{"--rm", "--replace", "--cidfile"} {
		flags, _ = drop(flags, flag)
	}
	flags, env, file = hideSecrets(flags)
	for _, variable := range file {
		if strings.ContainsAny(variable, "\r\n") {
			name, _, _ := strings.Cut(variable, "=")
			return nil, nil, nil, fmt.Errorf("the value of %s has several lines, and Podman reads a variable of that name itself; give it another name", name)
		}
	}
	// A podman create that was killed can leave a layer of this name behind, which is no container; only --replace removes it.
	args = slices.Concat(argv[1:run], []string{"create", "--replace", "--name=" + name}, flags, argv[end:])
	return args, env, file, nil
}

// drop removes the first use of a flag: FLAG=VALUE, or FLAG and, for --name, its value after it. Quadlet puts its own flags
// before those that a descriptor fills in.
func drop(args []string, flag string) ([]string, bool) {
	i := slices.IndexFunc(args, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") })
	if i < 0 {
		return args, false
	}
	end := i + 1
	if flag == "--name" && args[i] == flag {
		end++
	}
	return append(slices.Clone(args[:i]), args[min(end, len(args)):]...), true
}

// hideSecrets replaces --env NAME=VALUE by --env NAME with the variable in podman's own environment. What podman would take to be
// meant for itself goes to file; an --env-file knows no values of several lines.
func hideSecrets(args []string) (out, env, file []string) {
	for i, arg := range args {
		name, _, ok := strings.Cut(arg, "=")
		switch {
		case i == 0 || args[i-1] != "--env" || !ok || !descriptor.SecretName(name):
			out = append(out, arg)
		case podmanReads(name):
			out = out[:len(out)-1]
			file = append(file, arg)
		default:
			out = append(out, name)
			env = append(env, arg)
		}
	}
	return out, env, file
}

// podmanReads tells whether podman, its libraries or a program that it runs may look at an environment variable: podman(1),
// containers.conf(5), containers-auth.json(5), storage's and Go's own.
func podmanReads(name string) bool {
	for _, prefix := range []string{"CONTAINER", "_CONTAINER", "PODMAN_", "_PODMAN_", "REGISTRY_", "REGISTRIES_", "STORAGE_", "DOCKER_", "BUILDAH_",
		"NETAVARK_", "OCICRYPT_", "XDG_", "DBUS_", "NOTIFY_", "LISTEN_", "SSH_", "SSL_", "LD_", "GO"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch strings.ToLower(name) {
	case "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "home", "path", "tmpdir", "user", "term":
		return true
	}
	return false
}

// writeEnv writes variables for --env-file, for its owner's eyes only.
func writeEnv(path string, variables []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Join(variables, "\n")+"\n"), 0o600)
}
