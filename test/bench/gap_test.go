// Package bench measures the generator, the gap of an update and live changes on a booted machine, each beside the plain tools in the same run.
package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// gapClient, in the environment, has this program be the client of BenchmarkGap: its value is the port.
const gapClient = "SITELET_BENCH_GAP_PORT"

func init() {
	if port := os.Getenv(gapClient); port != "" {
		watch(port)
		os.Exit(0)
	}
}

// watch asks for a page again and again until its input ends, and prints the longest time without an answer, in microseconds.
func watch(port string) {
	done := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(done)
	}()
	client := http.Client{Timeout: 100 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	last, longest := time.Now(), time.Duration(0)
	for {
		select {
		case <-done:
			fmt.Println(longest.Microseconds())
			return
		default:
		}
		if response, err := client.Get("http://127.0.0.1:" + port + "/"); err == nil {
			response.Body.Close()
			longest = max(longest, time.Since(last))
			last = time.Now()
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// BenchmarkGap measures how long a container is out of service: while sitelet puts a changed one in its place, and while systemd
// restarts a plain Quadlet unit with the same image and command, in turns on one machine. It reports the medians and their ratio,
// which is to be at most 0.8.
func BenchmarkGap(b *testing.B) {
	m := machine.New(b, machine.Options{Deb: deb(b)})
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	m.CopyFile(self, "/root/bench")
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"1s\"\n", 0o644)
	const serve = `trap "exit 0" TERM; echo >/index.html; httpd -f -p 80 -h / & wait`
	m.WriteFile("/etc/containers/systemd/plain.container", "[Container]\nImage=localhost/busybox:1\nContainerName=plain\nPublishPort=8081:80\nExec=sh -c '"+serve+"'\n", 0o644)
	describe := func(round int) {
		m.WriteFile("/etc/sitelet/containers/web.json", fmt.Sprintf(`{"container_name": "web", "image": {"name": "localhost/busybox:1"},
			"config": {"cmd": ["sh", "-c", %q], "env": ["ROUND=%d"]}, "host_config": {"port_mappings": [{"container_port": 80, "host_port": 8080}]}}`, serve, round), 0o644)
	}
	describe(0)
	m.Must("sitelet", "reload")
	m.Must("systemctl", "start", "plain")
	var ours, plain []time.Duration
	round := 0
	for b.Loop() {
		for range 9 {
			round++
			describe(round)
			ours = append(ours, gap(b, m, "8080", "sitelet", "reload"))
			plain = append(plain, gap(b, m, "8081", "systemctl", "restart", "plain"))
		}
	}
	b.ReportMetric(float64(median(ours).Milliseconds()), "ms/recreate")
	b.ReportMetric(float64(median(plain).Milliseconds()), "ms/restart")
	b.ReportMetric(float64(median(ours))/float64(median(plain)), "recreate/restart")
	b.ReportMetric(0, "ns/op")
}

// gap returns how long a port did not answer while a command ran.
func gap(b *testing.B, m *machine.T, port string, command ...string) time.Duration {
	b.Helper()
	client := m.Command(b.Context(), "env", gapClient+"="+port, "/root/bench")
	input, err := client.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	var out strings.Builder
	client.Stdout = &out
	if err := client.Start(); err != nil {
		b.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	m.Must(command...)
	time.Sleep(500 * time.Millisecond)
	input.Close()
	if err := client.Wait(); err != nil {
		b.Fatal(err)
	}
	micros, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(micros) * time.Microsecond
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// deb returns the package to measure; make bench builds it and names it.
func deb(b *testing.B) string {
	b.Helper()
	path := os.Getenv("SITELET_DEB")
	if path == "" {
		b.Skip("SITELET_DEB is not set; run make bench, which builds the package and names it there")
	}
	return path
}
