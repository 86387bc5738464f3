package descriptor

import (
	"fmt"
	"strings"
	"testing"
)

// typical is about as long as a descriptor with all usual sections.
const typical = `{
  "container_name": "store",
  "image": {"name": "registry.example:5000/edge/store:0.4.1"},
  "host_name": "store",
  "mount_points": [
    {"source": "/var/lib/store", "destination": "/data", "propagation_mode": "rprivate"},
    {"source": "/etc/store/certs", "destination": "/certs"}
  ],
  "config": {
    "env": ["LOG=info,store=debug", "STORE_PASSWORD=abc", "GREETING=hello, world", "EMPTY=", "HTTP_PROXY"],
    "cmd": ["--listen", "0.0.0.0:55555", "--store", "/data/store.db"]
  },
  "io_config": {"open_stdin": false, "tty": false},
  "host_config": {
    "devices": [{"path_on_host": "/dev/ttyUSB0", "cgroup_permissions": "rw"}],
    "network_mode": "bridge",
    "privileged": false,
    "extra_hosts": ["broker:container_broker-host", "ctrhost:host_ip"],
    "extra_capabilities": ["CAP_NET_ADMIN"],
    "port_mappings": [
      {"proto": "tcp", "container_port": 55555, "host_ip": "0.0.0.0", "host_port": 30555, "host_port_end": 30555}
    ],
    "resources": {"memory": "200M", "memory_reservation": "100M", "memory_swap": "400M"},
    "restart_policy": {"type": "on-failure", "maximum_retry_count": 5, "retry_timeout": "30s"},
    "runtime": "io.containerd.runc.v2",
    "log_config": {
      "driver_config": {"type": "json-file", "max_files": 2, "max_size": "1M", "root_dir": ""},
      "mode_config": {"mode": "blocking", "max_buffer_size": ""}
    }
  },
  "sitelet": {"health": {"command": ["/bin/check"], "interval": "10s"}, "after": ["broker"]}
}
`

func BenchmarkParse(b *testing.B) {
	data := []byte(typical)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if c, l := Parse(File{"store.json", data}); c == nil {
			b.Fatal(l)
		}
	}
}

// BenchmarkSet1000 is what a generator does with 1000 descriptors once they are read.
func BenchmarkSet1000(b *testing.B) {
	var files []File
	for i := range 1000 {
		text := strings.ReplaceAll(typical, "30555", fmt.Sprint(20000+i))
		text = strings.Replace(text, `"store"`, fmt.Sprintf(`"store%04d"`, i), 1)
		text = strings.Replace(text, `["broker"]`, fmt.Sprintf(`["store%04d"]`, max(i-1, 1)), 1)
		if i < 2 {
			text = strings.Replace(text, `, "after": ["store0001"]`, "", 1)
		}
		files = append(files, File{fmt.Sprintf("store%04d.json", i), []byte(text)})
	}
	b.ReportAllocs()
	for b.Loop() {
		var cs []*Container
		for _, f := range files {
			c, l := Parse(f)
			if c == nil {
				b.Fatal(l)
			}
			cs = append(cs, c)
		}
		good, l := CheckSet(cs, nil, nil)
		if len(good) != len(files) {
			b.Fatal(l)
		}
		for _, c := range good {
			c.Inputs()
		}
	}
}
