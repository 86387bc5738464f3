package hooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/descriptor"
)

// createCommand turns the command that Quadlet wrote for an image into the arguments of podman that only create the container,
// under name. Values of environment variables whose names say that they are secret go to env: others may read a command line.
func createCommand(argv []string, image, name string) (args, env []string, err error) {
	run := slices.Index(argv, "run")
	end := slices.Index(argv, image)
	if run < 1 || end < run {
		return nil, nil, fmt.Errorf("the command that Quadlet wrote is of a form that sitelet does not know: it does not run %s", image)
	}
	// What stands behind the image is the container's own command, where everything may look like a flag.
	flags, named := drop(argv[run+1:end], "--name")
	flags, detached := drop(flags, "-d")
	if !named || !detached {
		return nil, nil, fmt.Errorf("the command that Quadlet wrote is of a form that sitelet does not know: it lacks --name or -d")
	}
	for _, flag := range []string{"--rm", "--replace", "--cidfile"} {
		flags, _ = drop(flags, flag)
	}
	flags, env = hideSecrets(flags)
	// A podman create that was killed can leave a layer of this name behind, which is no container; only --replace removes it.
	args = slices.Concat(argv[1:run], []string{"create", "--replace", "--name=" + name}, flags, argv[end:])
	return args, env, nil
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

// hideSecrets replaces --env NAME=VALUE by --env NAME with the variable in podman's own environment.
func hideSecrets(args []string) (out, env []string) {
	for i, arg := range args {
		name, _, ok := strings.Cut(arg, "=")
		if i > 0 && args[i-1] == "--env" && ok && descriptor.SecretName(name) {
			env = append(env, arg)
			arg = name
		}
		out = append(out, arg)
	}
	return out, env
}
