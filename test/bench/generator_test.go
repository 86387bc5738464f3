package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// generatorClient, in the environment, has this program measure inside a machine for BenchmarkGenerator.
const generatorClient = "SITELET_BENCH_GENERATOR"

func init() {
	if os.Getenv(generatorClient) == "" {
		return
	}
	if err := measureAll(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// timing is what was measured for a number of containers: medians, in nanoseconds.
type timing struct {
	Containers             int
	Quadlet, Cold, Nothing time.Duration
}

// BenchmarkGenerator compares the generator with the host's quadlet on the same containers: with nothing cached, and when nothing
// has changed. The ratios are to be at most 1.3, and at 1000 containers at most 0.2.
func BenchmarkGenerator(b *testing.B) {
	m := machine.New(b, machine.Options{Deb: deb(b)})
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	m.CopyFile(self, "/root/bench")
	var all []timing
	for b.Loop() {
		out := m.Must("env", generatorClient+"=1", "/root/bench")
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			b.Fatal(err)
		}
	}
	for _, t := range all {
		b.Logf("%4d containers: quadlet %v, generator %v (%.2f), nothing changed %v (%.2f)", t.Containers, t.Quadlet.Round(time.Microsecond),
			t.Cold.Round(time.Microsecond), ratio(t.Cold, t.Quadlet), t.Nothing.Round(time.Microsecond), ratio(t.Nothing, t.Quadlet))
		b.ReportMetric(ratio(t.Cold, t.Quadlet), fmt.Sprintf("cold/quadlet@%d", t.Containers))
		b.ReportMetric(ratio(t.Nothing, t.Quadlet), fmt.Sprintf("unchanged/quadlet@%d", t.Containers))
	}
	b.ReportMetric(0, "ns/op")
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func measureAll() error {
	var all []timing
	for _, n := range []int{10, 100, 1000} {
		t, err := measure(n, min(41, 15+400/n))
		if err != nil {
			return err
		}
		all = append(all, t)
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// measure runs quadlet and the generator in turns, each into an emptied directory.
func measure(containers, rounds int) (timing, error) {
	if err := describe(containers); err != nil {
		return timing{}, err
	}
	const rendered, out = "/run/bench/rendered", "/run/bench/out"
	os.RemoveAll(rendered)
	if err := exec.Command("sitelet", "render", "-d", rendered).Run(); err != nil {
		return timing{}, fmt.Errorf("rendering: %w", err)
	}
	quadlet := func() *exec.Cmd {
		cmd := exec.Command("/usr/libexec/podman/quadlet", "-no-kmsg-log", out)
		cmd.Env = append(os.Environ(), "QUADLET_UNIT_DIRS="+rendered+"/run/sitelet/quadlet")
		return cmd
	}
	generator := func() *exec.Cmd {
		return exec.Command("/usr/lib/systemd/system-generators/sitelet-generator", out)
	}
	var q, cold, nothing []time.Duration
	for range rounds {
		for _, step := range []struct {
			cmd    *exec.Cmd
			forget bool
			to     *[]time.Duration
		}{{quadlet(), false, &q}, {generator(), true, &cold}, {generator(), false, &nothing}} {
			if step.forget {
				os.RemoveAll("/run/sitelet")
			}
			os.RemoveAll(out)
			if err := os.MkdirAll(out, 0o755); err != nil {
				return timing{}, err
			}
			begin := time.Now()
			if err := step.cmd.Run(); err != nil {
				return timing{}, fmt.Errorf("%v: %w", step.cmd.Args, err)
			}
			*step.to = append(*step.to, time.Since(begin))
			if made, _ := filepath.Glob(out + "/*.service"); len(made) != containers {
				return timing{}, fmt.Errorf("%v made %d units of %d containers", step.cmd.Args, len(made), containers)
			}
		}
	}
	return timing{containers, median(q), median(cold), median(nothing)}, nil
}

// describe writes descriptors of the kind that people have.
func describe(containers int) error {
	const dir = "/etc/sitelet/containers"
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range containers {
		text := fmt.Sprintf(`{
  "container_name": "app%[1]d",
  "image": { "name": "registry.example/edge/app:%[1]d" },
  "config": { "env": ["LOG=info,app=debug", "BROKER=tcp://store:1883", "PLACE=line %[1]d"], "cmd": ["serve", "--listen", ":8080", "--name", "app %[1]d"] },
  "mount_points": [{ "source": "/srv/app%[1]d", "destination": "/data" }],
  "host_config": {
    "port_mappings": [{ "container_port": 8080, "host_port": %[2]d, "host_ip": "127.0.0.1" }],
    "extra_hosts": ["store:host_ip"],
    "restart_policy": { "type": "on-failure", "maximum_retry_count": 5, "retry_timeout": "30s" },
    "log_config": { "driver_config": { "type": "json-file", "max_files": 2, "max_size": "1M" } }
  }
}
`, i, 20000+i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app%d.json", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
