package descriptor

import (
	"strings"
)

// readEnv reads config.env: NAME=VALUE sets, NAME alone takes the image's variable away. What is after the = is taken
// as it is, with any line breaks.
func readEnv(config value) []EnvVar {
	var env []EnvVar
	places := make(map[string]int)
	for _, item := range config.get("env").items() {
		name, val, set := strings.Cut(item.text(), "=")
		if !envName(name) {
			item.fail("does not begin with the name of a variable", "Write NAME=VALUE, or NAME to take away the image's; a name has letters, digits and _.")
			continue
		}
		v := EnvVar{name, val, !set}
		if i, twice := places[name]; twice {
			item.warn(shorten(name)+" is there twice and the last one counts", "Remove the other.")
			env[i] = v
			continue
		}
		places[name] = len(env)
		env = append(env, v)
	}
	return env
}

// envName is upstream's rule, [a-zA-Z_][a-zA-Z0-9_]*.
func envName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && (!alphanumeric(c) || i == 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}

// readIO reads io_config. Upstream passes the other keys on but uses none of them.
func readIO(io value) (openStdin, tty bool) {
	for _, name := range []string{"attach_stdin", "attach_stdout", "attach_stderr", "stdin_once"} {
		if v := io.get(name); v.flag() {
			v.warnKey("has no effect, nothing is attached to a service", "Remove it.")
		}
	}
	return io.get("open_stdin").flag(), io.get("tty").flag()
}

// hookStages are the meanings of hooks[].type.
var hookStages = []string{"prestart", "poststart", "poststop"}

// readHooks reads hooks.
func readHooks(root value) []Hook {
	var hooks []Hook
	for _, item := range root.get("hooks").items() {
		h := Hook{Args: item.get("args").list(), Env: item.get("env").list(), Stage: hookStages[0]}
		if v, ok := item.require("path", "Write the program on the host."); ok {
			h.Path = absolutePath(v)
		}
		if t := item.get("type"); t.present() {
			if n, ok := t.integer(0, int64(len(hookStages)-1)); ok {
				h.Stage = hookStages[n]
			}
		}
		if n, ok := item.get("timeout").integer(0, 1<<31-1); ok {
			h.Timeout = int(n)
		}
		for _, e := range item.get("env").items() {
			if name, _, set := strings.Cut(e.text(), "="); !set || !envName(name) {
				e.fail("is not of the form NAME=VALUE", "Write a name of letters, digits and _ before the =.")
			}
		}
		hooks = append(hooks, h)
	}
	return hooks
}

// warnRuntimeState says once that what an engine has written into the file means nothing to it.
func warnRuntimeState(root value) {
	var first value
	var names []string
	for id := range root.doc.children(root.id) {
		n := root.doc.nodes[id]
		if v := root.doc.value(id); n.key != nil && n.key.kind == ignoredKind && !n.bad && !v.empty() {
			if names == nil {
				first = v
			}
			names = append(names, n.key.name)
		}
	}
	if names != nil {
		message := "runtime state has no effect here"
		if len(names) > 1 {
			message += " (" + strings.Join(names, ", ") + ")"
		}
		first.warnKey(message, "Remove it.")
	}
}
