package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/sitelet/sitelet/test/machine"
)

// Status says how workloads are: healthy, unhealthy, refused, failed, stopped, and a site; to people, to programs and to Prometheus.
func TestStatus(t *testing.T) {
	m := siteMachine(t)
	quickTrials(m)
	const check = `"sitelet": {"health": {"command": "test ! -e /sick", "interval": "1s", "retries": 1, "timeout": "5s"}}`
	deploy(m, "good", forever, ", "+check)
	deploy(m, "sick", forever, ", "+check)
	deploy(m, "refused", forever, "")
	deploy(m, "stopped", forever, "")
	deploy(m, "broken", `["sh", "-c", "until test -e /die; do sleep .1; done; printf 'last \\033words\\n'; exit 9"]`,
		`, "host_config": {"restart_policy": {"type": "no"}}`)
	site(m, "east", resource("Site", "east", "{}"), listenerOf("web", 8080, "web"))
	m.Must("sitelet", "reload")
	m.Must("sitelet", "stop", "stopped")
	m.Must("podman", "exec", "sick", "touch", "/sick")
	m.Must("podman", "exec", "broken", "touch", "/die")
	deploy(m, "refused", `["sh", "-c", "echo no luck; exit 7"]`, "")
	if out, err := m.Exec("sitelet", "reload"); err == nil {
		t.Fatalf("a version that exits was taken up: %s", out)
	}

	var pattern strings.Builder
	for _, row := range []string{
		`KIND NAME STATE HEALTH AGE LAST CHANGE RESULT PENDING WHY`,
		`container broken failed - \d+s \d+ seconds? ago created -`,
		`container good active healthy \d+s \d+ seconds? ago created -`,
		`container refused active - \d+s \d+ seconds? ago rolled back refused it ended with exit status 7( and had to be restarted)?`, // if it was ready for a moment
		`container sick active unhealthy \d+s \d+ seconds? ago created -`,
		`container stopped inactive - \d+s \d+ seconds? ago created -`,
		`site east active healthy \d+s \d+ seconds? ago created -`,
	} {
		// Whoever is slow has minutes.
		pattern.WriteString(strings.NewReplacer(" ", " +", `\d+s`, `\d+[sm]`, "seconds", "(seconds|minutes)").Replace(row) + "\n")
	}
	table := regexp.MustCompile("^" + pattern.String() + "$")
	m.Eventually(30*time.Second, func() error {
		if out := m.Must("sitelet", "status"); !table.MatchString(out) {
			return fmt.Errorf("the table is\n%s", out)
		}
		return nil
	})
	if wide := m.Must("sitelet", "status", "-o", "wide"); !regexp.MustCompile(`(?m)^site .* [0-9a-f]{12} +podman +` + routerImage + ` +` + namespaces + `east/input/resources/0.yaml$`).MatchString(wide) {
		t.Errorf("the wide table is\n%s", wide)
	}
	if out := m.Must("script", "--quiet", "--return", "--command", "TERM=xterm sitelet status", "/dev/null"); !strings.Contains(out, " \x1b[31mfailed\x1b[0m ") {
		t.Errorf("at a terminal the table is\n%q", out)
	}
	verifyStatusOfOne(t, m)
	verifyStatusForPrograms(t, m)
	verifyMetrics(t, m)
	verifyWatch(t, m)
}

func verifyStatusOfOne(t *testing.T, m *machine.T) {
	t.Helper()
	for name, want := range map[string][]string{
		"broken":  {"state:       failed for ", "failed:      it ended with exit status 9", `  | "last \x1bwords"`, "journal:     of broken.service", `  | "broken.service: Failed with result 'exit-code'."`},
		"good":    {"state:       active for ", "health:      healthy", "file:        /etc/sitelet/containers/good.json", "pending:     none"},
		"refused": {"state:       active for ", "pending:     refused", "refused:     ", ": it ended with exit status 7", `  | "no luck"`},
		"east":    {"kind:        site", "unit:        skupper-east.service", "router:      answers", "LISTENER  KEY  ADDRESS "},
	} {
		out := m.Must("sitelet", "status", name)
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("the status of %s lacks %q:\n%s", name, part, out)
			}
		}
	}
}

// programStatus is what programs read of a workload.
type programStatus struct {
	Workload, Kind, Name, State, Health, Generation, Image, Source, Pending string
	Created, Since                                                          time.Time
	Refused, Failed                                                         *struct {
		Reason string
		Log    []string
	}
}

func verifyStatusForPrograms(t *testing.T, m *machine.T) {
	t.Helper()
	var fromJSON, fromYAML []programStatus
	if err := json.Unmarshal([]byte(m.Must("sitelet", "status", "-o", "json")), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(m.Must("sitelet", "status", "-o", "yaml")), &fromYAML); err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]programStatus{fromJSON, fromYAML} {
		if len(all) != 6 {
			t.Fatalf("%+v", all)
		}
		refused, east := all[2], all[5]
		if refused.Workload != "refused" || refused.Pending != "refused" || refused.Refused == nil || refused.Refused.Log[0] != "no luck" || refused.Image != "localhost/busybox:1" {
			t.Errorf("%+v", refused)
		}
		if east.Workload != "skupper-east" || east.Kind != "site" || east.Name != "east" || east.State != "active" || time.Since(east.Created) > time.Hour || time.Since(east.Since) > time.Hour {
			t.Errorf("%+v", east)
		}
	}
	var one []programStatus
	if err := json.Unmarshal([]byte(m.Must("sitelet", "status", "-o", "json", "broken")), &one); err != nil || len(one) != 1 || one[0].Failed == nil || one[0].Failed.Reason != "it ended with exit status 9" {
		t.Errorf("%v, %+v", err, one)
	}
}

// verifyMetrics has the units of the manual page write the file that an exporter would read.
func verifyMetrics(t *testing.T, m *machine.T) {
	t.Helper()
	page, err := os.ReadFile("../../man/sitelet.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Service", "Timer"} {
		text := regexp.MustCompile(`(?s)\.Bd -literal -offset indent\n(\[` + kind + `\].*?)\.Ed`).FindSubmatch(page)
		if text == nil {
			t.Fatalf("the manual page has no unit with a section %s", kind)
		}
		m.WriteFile("/etc/systemd/system/sitelet-metrics."+strings.ToLower(kind), string(text[1]), 0o644)
	}
	m.Shell("mkdir -p /var/lib/prometheus/node-exporter; systemctl daemon-reload; systemctl enable --now sitelet-metrics.timer; systemctl start sitelet-metrics.service")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(m.ReadFile("/var/lib/prometheus/node-exporter/sitelet.prom")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		family string
		labels map[string]string
		value  float64
	}{
		{"sitelet_build_info", nil, 1},
		{"sitelet_workload_info", map[string]string{"kind": "container", "name": "good", "image": "localhost/busybox:1", "unit": "good.service"}, 1},
		{"sitelet_workload_active", map[string]string{"name": "broken"}, 0},
		{"sitelet_workload_active", map[string]string{"name": "stopped"}, 0},
		{"sitelet_workload_active", map[string]string{"name": "good"}, 1},
		{"sitelet_workload_healthy", map[string]string{"name": "good"}, 1},
		{"sitelet_workload_healthy", map[string]string{"name": "sick"}, 0},
		{"sitelet_workload_healthy", map[string]string{"kind": "site", "name": "east"}, 1},
		{"sitelet_workload_refused", map[string]string{"name": "refused"}, 1},
		{"sitelet_workload_pending", map[string]string{"name": "refused", "action": "refused"}, 0},
		{"sitelet_site_router_up", map[string]string{"namespace": "east"}, 1},
	} {
		if got, ok := gauge(families[want.family], want.labels); !ok || got != want.value {
			t.Errorf("%s%v is %v (%t)", want.family, want.labels, got, ok)
		}
	}
	end, ok := gauge(families["sitelet_certificate_expiry_timestamp_seconds"], map[string]string{"namespace": "east", "certificate": "certs/skupper-local-server"})
	if !ok || time.Until(time.Unix(int64(end), 0)) < 24*time.Hour {
		t.Errorf("the certificate of the router's own endpoint ends at %v (%t)", end, ok)
	}
}

// gauge returns the value of the one series of a family that has these labels.
func gauge(f *dto.MetricFamily, labels map[string]string) (value float64, ok bool) {
	for _, metric := range f.GetMetric() {
		has := 0
		for _, l := range metric.GetLabel() {
			if want, asked := labels[l.GetName()]; asked && want == l.GetValue() {
				has++
			}
		}
		if has == len(labels) {
			return metric.GetGauge().GetValue(), true
		}
	}
	return 0, false
}

// verifyWatch has a watch see a container stop and a site go, and ends it.
func verifyWatch(t *testing.T, m *machine.T) {
	t.Helper()
	lines := func(file string, want ...string) func() error {
		return func() error {
			out, err := m.Exec("cat", file)
			if err != nil {
				return err // systemd makes the file
			}
			for _, line := range want {
				if !regexp.MustCompile(`(?m)` + line).MatchString(out) {
					return fmt.Errorf("no %q among\n%s", line, out)
				}
			}
			return nil
		}
	}
	for file, format := range map[string]string{"watched": "text", "documents": "json"} {
		m.Must("systemd-run", "--unit="+file, "--property=RemainAfterExit=yes", "--property=StandardOutput=truncate:/root/"+file, "sitelet", "status", "--watch", "--output="+format)
	}
	m.Eventually(20*time.Second, lines("/root/watched", "^container +good +active +healthy "))
	m.Eventually(20*time.Second, lines("/root/documents", `"name": "good"`))
	m.Must("sitelet", "stop", "good")
	m.Eventually(20*time.Second, lines("/root/watched", "^container +good +inactive +- "))
	m.Eventually(20*time.Second, lines("/root/documents", `"state": "inactive"`))
	m.Must("sitelet", "site", "remove", "--purge", "east")
	m.Eventually(20*time.Second, lines("/root/watched", "^site +east +gone "))
	if n := strings.Count(m.ReadFile("/root/watched"), " sick "); n != 1 {
		t.Errorf("what has not changed is there %d times", n)
	}
	for file, signal := range map[string]string{"watched": "SIGINT", "documents": "SIGTERM"} {
		m.Must("systemctl", "kill", "--signal="+signal, file)
		m.Eventually(20*time.Second, func() error {
			if sub := property(m, file, "SubState"); sub != "exited" {
				return errors.New("the watch is " + sub)
			}
			return nil
		})
		expect(t, "the exit status of a watch", property(m, file, "ExecMainCode")+property(m, file, "ExecMainStatus"), "10")
	}
}
