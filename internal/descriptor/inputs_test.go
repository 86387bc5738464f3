package descriptor

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/workload"
)

func TestSame(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"nothing", ``, ``, "nothing"},
		{"g3", `"host_config": {"resources": {"memory": "200M"}}`, `"host_config": {"resources": {"memory": "200M", "memory_swap": "400M"}}`, "nothing"},
		{"g4", `"host_config": {"resources": {"memory": "200M", "memory_swap": "-1"}}`, `"host_config": {"resources": {"memory": "200m", "memory_swap": "-1"}}`, "nothing"},
		{"g5", `"host_config": {"resources": {"memory": "0.1953125G", "memory_swap": "400M"}}`, `"host_config": {"resources": {"memory": "200m"}}`, "nothing"},
		{"g6", `"host_config": {"resources": {"memory": "200M"}}`, `"host_config": {"resources": null}`, "live"},
		{"unlimited swap of no memory", `"host_config": {"resources": {"memory_swap": "-1"}}`, ``, "nothing"},
		{"reservation", `"host_config": {"resources": {"memory_reservation": "3m"}}`, `"host_config": {"resources": {"memory_reservation": "34m"}}`, "live"},
		{"g8", `"container_id": "x"`, ``, "nothing"},
		{"g11 host_name", `"host_name": "x"`, ``, "create"},
		{"default host_name", `"host_name": "a-host"`, ``, "nothing"},
		{"g11 domain_name", `"domain_name": "x"`, ``, "create"},
		{"g11 hooks", `"hooks": [{"path": "/x"}]`, ``, "create"},
		{"hook stage", `"hooks": [{"path": "/x"}]`, `"hooks": [{"path": "/x", "type": 0, "args": [], "timeout": 0}]`, "nothing"},
		{"g11 runtime", `"host_config": {"runtime": "io.containerd.runsc.v1"}`, ``, "create"},
		{"runc", `"host_config": {"runtime": "io.containerd.runc.v1"}`, ``, "nothing"},
		{"g12 object", `"config": {}`, ``, "nothing"},
		{"g12 lists", `"config": {"env": [], "cmd": []}`, `"config": null`, "nothing"},
		{"all empty", `"host_config": {"devices": [], "log_config": {"driver_config": {}}}, "io_config": {}, "mount_points": [], "sitelet": {}`, ``, "nothing"},
		{"g13", `"config": {"env": ["A=1", "A=2", "B=1"]}`, `"config": {"env": ["A=2", "B=1", "A=1"]}`, "create"},
		{"order of env", `"config": {"env": ["A=1", "B=1"]}`, `"config": {"env": ["B=1", "A=1"]}`, "nothing"},
		{"empty and unset env", `"config": {"env": ["A="]}`, `"config": {"env": ["A"]}`, "create"},
		{"cmd order", `"config": {"cmd": ["a", "b"]}`, `"config": {"cmd": ["b", "a"]}`, "create"},
		{"cmd words", `"config": {"cmd": ["a", "b"]}`, `"config": {"cmd": ["a\",\"b"]}`, "create"},
		{"cmd empty word", `"config": {"cmd": [""]}`, ``, "create"},
		{"g18", `"host_config": {"restart_policy": {}}`, ``, "nothing"},
		{"policy", `"host_config": {"restart_policy": {"type": "no"}}`, ``, "live"},
		{"retry_timeout", `"host_config": {"restart_policy": {"retry_timeout": 30000000000}}`, `"host_config": {"restart_policy": {"retry_timeout": "30s"}}`, "nothing"},
		{"image", `"x": 1`, ``, "refused"},
		{"mounts", `"mount_points": [{"source": "/a", "destination": "/b"}, {"source": "/c", "destination": "/d/"}]`,
			`"mount_points": [{"source": "/c", "destination": "/d"}, {"source": "/a", "destination": "/b", "propagation_mode": "rprivate"}]`, "nothing"},
		{"mount mode", `"mount_points": [{"source": "/a", "destination": "/b"}]`, `"mount_points": [{"source": "/a", "destination": "/b", "propagation_mode": "shared"}]`, "create"},
		{"devices", `"host_config": {"devices": [{"path_on_host": "/dev/a"}, {"path_on_host": "/dev/b"}]}`,
			`"host_config": {"devices": [{"path_on_host": "/dev/b", "path_in_container": "/dev/b", "cgroup_permissions": "mwr"}, {"path_on_host": "/dev/a"}]}`, "nothing"},
		{"capabilities", `"host_config": {"extra_capabilities": ["NET_ADMIN", "CAP_KILL"]}`, `"host_config": {"extra_capabilities": ["cap_kill", "CAP_NET_ADMIN", "kill"]}`, "nothing"},
		{"hosts", `"host_config": {"extra_hosts": ["a:1.2.3.4", "b:::1"]}`, `"host_config": {"extra_hosts": ["b:[0::1]", "a:1.2.3.4", "a:1.2.3.4"]}`, "nothing"},
		{"ports", `"host_config": {"port_mappings": [{"host_port": 1, "container_port": 1}, {"host_port": 2, "container_port": 1}]}`,
			`"host_config": {"port_mappings": [{"host_port": 2, "container_port": 1, "host_port_end": 2, "host_ip": "0.0.0.0", "proto": "tcp"}, {"host_port": 1, "container_port": 1}]}`, "nothing"},
		{"port range", `"host_config": {"port_mappings": [{"host_port": 1, "container_port": 1}]}`, `"host_config": {"port_mappings": [{"host_port": 1, "container_port": 1, "host_port_end": 2}]}`, "create"},
		{"shared range", `"host_config": {"port_mappings": [{"host_port": 1, "container_port": 1, "host_port_end": 3}, {"host_port": 1, "container_port": 2, "host_port_end": 3}]}`,
			`"host_config": {"port_mappings": [{"host_port": 1, "container_port": 2, "host_port_end": 3}, {"host_port": 1, "container_port": 1, "host_port_end": 3}]}`, "nothing"},
		{"log", `"host_config": {"log_config": {"driver_config": {"max_files": 2, "max_size": "102400K", "type": "json-file"}, "mode_config": {"mode": "blocking"}}}`, ``, "nothing"},
		{"log size", `"host_config": {"log_config": {"driver_config": {"max_size": "1M"}}}`, ``, "create"},
		{"no log", `"host_config": {"log_config": {"driver_config": {"type": "none", "max_files": 5}}}`, `"host_config": {"log_config": {"driver_config": {"type": "none"}}}`, "nothing"},
		{"attach", `"io_config": {"attach_stdin": true}`, ``, "nothing"},
		{"tty", `"io_config": {"tty": true}`, ``, "create"},
		{"state", `"state": {"pid": 1}, "restart_count": 3`, ``, "nothing"},
		{"health", `"sitelet": {"health": {"command": "x"}}`, ``, "create"},
		{"shell", `"sitelet": {"health": {"command": "x"}}`, `"sitelet": {"health": {"command": ["x"]}}`, "create"},
		{"health defaults", `"sitelet": {"health": {"command": "x"}}`, `"sitelet": {"health": {"command": "x", "interval": "30s", "timeout": "0.5m", "retries": 3, "start_period": "0s"}}`, "nothing"},
		{"pull", `"sitelet": {"pull": "always"}`, ``, "live"},
		{"auto_start", `"sitelet": {"auto_start": false}`, `"sitelet": {"auto_start": true}`, "live"},
		{"after", `"sitelet": {"after": ["x", "y"]}`, `"sitelet": {"after": ["y", "x", "y"]}`, "nothing"},
		{"requires", `"sitelet": {"after": ["x"]}`, `"sitelet": {"requires": ["x"]}`, "live"},
		{"decrypt", `"image": {"name": "a.b/c", "decrypt_config": {"keys": ["/a"]}}`, `"image": {"name": "a.b/c", "decrypt_config": {"keys": ["/a:x"]}}`, "create"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := difference(test.old, test.new); got != test.want {
				t.Errorf("got %s, want %s\n%s\n%s", got, test.want, test.old, test.new)
			}
		})
	}
}

func difference(before, after string) string {
	var inputs [][]workload.Input
	for i, text := range []string{before, after} {
		if !strings.Contains(text, `"image"`) {
			text = strings.TrimSuffix(`"image": {"name": "a.b/c"}, `+text, ", ")
		}
		c, _ := Parse(File{fmt.Sprint(i), []byte(strings.Repeat("\n", i) + `{"container_name": "a", ` + text + `}`)})
		if c == nil {
			return "refused"
		}
		inputs = append(inputs, c.Inputs())
	}
	switch {
	case workload.Generation(inputs[0]) != workload.Generation(inputs[1]):
		return "create"
	case workload.Revision(inputs[0]) != workload.Revision(inputs[1]):
		return "live"
	case !reflect.DeepEqual(inputs[0], inputs[1]):
		return "digests hide a difference"
	default:
		return "nothing"
	}
}

func TestEveryFieldCounts(t *testing.T) {
	data, err := os.ReadFile("testdata/02-full/input/full.json")
	if err != nil {
		t.Fatal(err)
	}
	c, l := Parse(File{"full.json", data})
	if c == nil {
		t.Fatal(l)
	}
	digest := func() string { return fmt.Sprint(workload.Generation(c.Inputs()), workload.Revision(c.Inputs())) }
	want := digest()
	noInput := []string{"Source", "NameAt", "PortsAt", "HostsAt", "MountsAt", "AfterAt", "RequiresAt", "SourceText", "SecretLines"}
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		old := reflect.New(field.Type()).Elem()
		old.Set(field)
		field.SetZero()
		if changed := digest() != want; !old.IsZero() && changed == slices.Contains(noInput, name) {
			t.Errorf("%s: digest changed: %v", name, changed)
		}
		field.Set(old)
	}
	if digest() != want {
		t.Error("the container was not put back")
	}
}
