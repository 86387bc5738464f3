package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

const descriptors = "/etc/sitelet/containers/"

// quick is a command whose container stops as soon as it is asked to.
const quick = `trap 'exit 0' TERM; sleep infinity & wait`

// sleeper is a descriptor of a container that runs until it is stopped. More of its fields may follow, as JSON members.
func sleeper(name string, more ...string) string {
	return shell(name, quick, more...)
}

// shell is a descriptor of a container that runs a script.
func shell(name, script string, more ...string) string {
	members := append([]string{
		fmt.Sprintf(`"container_name": %q`, name),
		`"image": {"name": "localhost/busybox:1"}`,
		fmt.Sprintf(`"config": {"cmd": ["sh", "-c", %s]}`, jsonString(script)),
	}, more...)
	return "{\n  " + strings.Join(members, ",\n  ") + "\n}\n"
}

func jsonString(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// writeFiles writes files by their paths, all at once.
func writeFiles(m *machine.T, files map[string]string) {
	var script strings.Builder
	for path, content := range files {
		encoded := base64.StdEncoding.EncodeToString([]byte(content))
		fmt.Fprintf(&script, "mkdir -p '%s'; base64 --decode >'%s' <<<'%s'\n", filepath.Dir(path), path, encoded)
	}
	m.Shell(script.String())
}

// apply has systemd take up the descriptors and starts what a boot would start.
func apply(m *machine.T) {
	m.Must("systemctl", "daemon-reload")
	m.Must("systemctl", "start", "multi-user.target")
}

// containerID returns the id of the container of that name, or "none".
func containerID(m *machine.T, name string) string {
	return strings.TrimSpace(m.Shell("podman container inspect --format {{.Id}} " + name + " 2>/dev/null || echo none"))
}

// containerIDsOf returns the ids of containers.
func containerIDsOf(m *machine.T, names []string) []string {
	args := append([]string{"podman", "container", "inspect", "--format={{.Name}} {{.Id}}"}, names...)
	return strings.Split(strings.TrimSpace(m.Must(args...)), "\n")
}

// containerNames returns the names of all containers, sorted, with blanks between.
func containerNames(m *machine.T) string {
	return strings.TrimSpace(m.Shell("podman ps --all --format {{.Names}} | sort | tr '\\n' ' '"))
}

// property returns one property of a unit.
func property(m *machine.T, unit, name string) string {
	return strings.TrimSpace(m.Must("systemctl", "show", "--property="+name, "--value", unit))
}

// expectWithin runs a command that must not take longer than that.
func expectWithin(t *testing.T, m *machine.T, limit time.Duration, args ...string) {
	t.Helper()
	begin := time.Now()
	m.Must(args...)
	if took := time.Since(begin); took > limit {
		t.Errorf("%s took %v, more than %v", strings.Join(args, " "), took.Round(time.Millisecond), limit)
	}
}

// autoReloadOff stops a path unit, and waits until no reload is under way that would take up what changes next.
func autoReloadOff(m *machine.T, path string) {
	m.Must("systemctl", "disable", "--now", path)
	m.Eventually(patience, func() error {
		for _, unit := range []string{"sitelet-reload.path", "sitelet-reload.service"} {
			if state, _ := m.Exec("systemctl", "is-active", unit); state == "active\n" || state == "activating\n" {
				return fmt.Errorf("%s is %s", unit, state)
			}
		}
		return nil
	})
}
