package bench

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
	"github.com/sitelet/sitelet/test/standin/image"
)

// liveClient, in the environment, has this program measure inside a machine for BenchmarkLive.
const liveClient = "SITELET_BENCH_LIVE"

func init() {
	if os.Getenv(liveClient) == "" {
		return
	}
	if err := measureLive(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const (
	resources = "/var/lib/skupper/namespaces/east/input/resources"
	watched   = "/srv/watched"
	marker    = "/run/bench-true"
)

// chain is sitelet's chain of units with /bin/true in the place of `sitelet reload`.
var chain = map[string]string{
	"true.path":           "[Path]\nPathChanged=" + watched + "\nUnit=true-dirty.service\nTriggerLimitIntervalSec=0\n",
	"true-dirty.service":  "[Unit]\nDefaultDependencies=no\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nExecStart=mkdir -p /run/true/dirty\nExecStart=touch /run/true/dirty/x\n",
	"true-reload.path":    "[Path]\nDirectoryNotEmpty=/run/true/dirty\nMakeDirectory=yes\nTriggerLimitIntervalSec=0\n",
	"true-reload.service": "[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nExecStartPre=rm -r /run/true/dirty/x\nExecStart=/bin/true\nExecStartPost=touch " + marker + "\n",
}

// BenchmarkLive measures how long it takes from writing a file until the router has the listener in it, with auto-reload on; beside
// it, how long the same chain of path units takes to run /bin/true. It reports the medians of 30 edits and their ratio, which is to
// be at most 3.
func BenchmarkLive(b *testing.B) {
	m := machine.New(b, machine.Options{Deb: deb(b)})
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	m.CopyFile(self, "/root/bench")
	loadRouter(b, m)
	for name, text := range chain {
		m.WriteFile("/etc/systemd/system/"+name, text, 0o644)
	}
	m.WriteFile(resources+"/site.yaml", "apiVersion: skupper.io/v2alpha1\nkind: Site\nmetadata: {name: east}\n", 0o644)
	m.WriteFile(resources+"/backend.yaml", "apiVersion: skupper.io/v2alpha1\nkind: Connector\nmetadata: {name: backend}\nspec: {host: 127.0.0.1, port: 9, routingKey: k}\n", 0o644)
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"1s\"\n", 0o644)
	m.Shell("mkdir -p " + watched + "; systemctl daemon-reload; systemctl start true.path true-reload.path; sitelet reload; systemctl start sitelet-site@east.path")
	var all struct{ Live, True []time.Duration }
	for b.Loop() {
		out := m.Must("env", liveClient+"=1", "/root/bench")
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(median(all.Live).Milliseconds()), "ms/listener")
	b.ReportMetric(float64(median(all.True).Milliseconds()), "ms/true")
	b.ReportMetric(float64(median(all.Live))/float64(median(all.True)), "listener/true")
	b.ReportMetric(0, "ns/op")
}

// loadRouter puts the stand-in for the router's image on a machine.
func loadRouter(b *testing.B, m *machine.T) {
	b.Helper()
	program, err := image.Build(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "router.tar")
	if err := image.Archive(path, "quay.io/skupper/skupper-router:main", program); err != nil {
		b.Fatal(err)
	}
	m.CopyFile(path, "/root/router.tar")
	m.Must("podman", "load", "--quiet", "--input", "/root/router.tar")
}

func measureLive() error {
	var all struct{ Live, True []time.Duration }
	for i := range 30 {
		port := 10000 + i
		text := fmt.Sprintf("apiVersion: skupper.io/v2alpha1\nkind: Listener\nmetadata: {name: l%d}\nspec: {host: 127.0.0.1, port: %d, routingKey: k}\n", i, port)
		took, err := measureEdit(resources+fmt.Sprintf("/l%d.yaml", i), text, func() bool {
			c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		if err != nil {
			return err
		}
		all.Live = append(all.Live, took)
		os.Remove(marker)
		took, err = measureEdit(watched+"/file", strings.Repeat("x", i), func() bool {
			_, err := os.Stat(marker)
			return err == nil
		})
		if err != nil {
			return err
		}
		all.True = append(all.True, took)
		time.Sleep(300 * time.Millisecond)
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// measureEdit returns how long after a file was written something is done.
func measureEdit(path, text string, done func() bool) (time.Duration, error) {
	begin := time.Now()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return 0, err
	}
	for !done() {
		if time.Since(begin) > 20*time.Second {
			return 0, fmt.Errorf("nothing came of %s", path)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(begin), nil
}
