package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
)

// someWorkloads are in all the states that there are.
func someWorkloads() []hooks.WorkloadStatus {
	now := time.Now()
	version := state.Version{Generation: "0123456789abcdef"}
	return []hooks.WorkloadStatus{
		{Action: plan.Action{Name: "db", Verb: plan.None}, State: "active", Health: "healthy", Platform: "podman", Image: "localhost/db:1",
			Created: now.Add(-time.Hour), Source: "/etc/db.json",
			Known: state.Workload{Name: "db", Current: &version, History: []state.Event{{At: now.Add(-50 * time.Hour), Result: "created"}}}},
		{Action: plan.Action{Name: "old", Verb: plan.Orphaned, Note: "its descriptor\nis gone"}, State: "inactive", Platform: "podman"},
		{Action: plan.Action{Name: "out", Verb: plan.Resume}, State: "active", Health: "starting", Platform: "podman",
			Known: state.Workload{Trial: &state.Trial{Version: version}}},
		{Action: plan.Action{Name: "web", Verb: plan.Recreate, Changes: []plan.Change{{Field: "host_name", New: "b"}, {Field: "domain_name", Old: "c"}}},
			State: "failed", Health: "unhealthy", Platform: "podman", Image: "localhost/\"a\\b\nc\xff",
			Known: state.Workload{Refused: &state.Refusal{Reason: "r", At: now}, History: []state.Event{{At: time.Unix(1700000000, 0), Result: "refused"}}}},
		{Action: plan.Action{Name: "skupper-east", Verb: plan.None}, Namespace: "east", State: "active", Health: "healthy", Platform: "linux",
			Router: &hooks.SiteState{Answers: true, Links: []hooks.LinkState{{Name: "west", Up: true}, {Name: "north"}}}},
		{Action: plan.Action{Name: "skupper-south", Verb: plan.Start}, Namespace: "south", Platform: "docker", Router: &hooks.SiteState{}},
	}
}

// TestStatusJSON wants no list to be null: programs go through them.
func TestStatusJSON(t *testing.T) {
	failed := someWorkloads()
	failed[3].Failure = "exit code 1"
	for _, s := range forms(failed) {
		var b bytes.Buffer
		if err := printJSON(&b, s); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"changes", "log", "journal"} {
			if strings.Contains(b.String(), fmt.Sprintf("%q: null", key)) {
				t.Errorf("%s: %s is null in\n%s", s.Workload, key, b.String())
			}
		}
	}
}

func TestStatusTable(t *testing.T) {
	var out bytes.Buffer
	table := statusTable{table: table{out: &out}}
	if err := table.print(forms(someWorkloads())...); err != nil {
		t.Fatal(err)
	}
	days := int(time.Since(time.Unix(1700000000, 0)).Hours() / 24)
	want := fmt.Sprintf(`KIND       NAME   STATE     HEALTH     AGE  LAST CHANGE    RESULT   PENDING   WHY
container  db     active    healthy    60m  2 days ago     created  -
container  old    inactive  -          -    -              -        orphaned  its descriptor\nis gone
container  out    on trial  starting   -    -              -        resume
container  web    failed    unhealthy  -    %d days ago  refused  recreate  host_name: (none) → "b"; 1 more
site       east   active    healthy    -    -              -        -
site       south  unknown   -          -    -              -        start
`, days)
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	table = statusTable{table: table.table, wide: false, colours: true}
	table.widths = nil
	if err := table.print(forms(someWorkloads())...); err != nil {
		t.Fatal(err)
	}
	for _, coloured := range []string{" \x1b[31mfailed\x1b[0m ", " \x1b[31munhealthy\x1b[0m ", " \x1b[33mon trial\x1b[0m "} {
		if !strings.Contains(out.String(), coloured) {
			t.Errorf("no %q in %q", coloured, out.String())
		}
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(out.String(), ""); got != want {
		t.Errorf("without its colours it is\n%swant\n%s", got, want)
	}
}

func TestWatch(t *testing.T) {
	var out, said bytes.Buffer
	c := &cli{out: &out, err: &said}
	w := c.watch(formatText)
	next := func(all []hooks.WorkloadStatus) string {
		t.Helper()
		out.Reset()
		if err := w.show(forms(all)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	all := someWorkloads()
	first := next(all)
	if n := strings.Count(first, "\n"); n != 1+len(all) {
		t.Errorf("the first look is %d lines:\n%s", n, first)
	}
	if again := next(slices.Clone(all)); again != "" {
		t.Errorf("nothing has changed:\n%s", again)
	}
	all[1].State = "deactivating"
	all = slices.Delete(all, 5, 6)
	changed := strings.Split(next(all), "\n")
	if len(changed) != 3 || !strings.HasPrefix(changed[0], "container  old ") || !strings.HasPrefix(changed[1], "site       south") || !strings.Contains(changed[1], " gone ") {
		t.Errorf("what has changed:\n%q", changed)
	}
	if heading, _, _ := strings.Cut(first, "\n"); strings.Index(heading, "PENDING") != strings.Index(changed[0], "orphaned") {
		t.Errorf("not aligned:\n%s\n%s", heading, changed[0])
	}
	broken := []error{errors.New("broken")}
	for _, unknown := range [][]error{broken, broken, nil, broken} {
		w.complain(unknown)
	}
	if n := strings.Count(said.String(), "broken"); n != 2 {
		t.Errorf("an error that came, stayed, went and came again was said %d times", n)
	}
}

func TestMetrics(t *testing.T) {
	var out bytes.Buffer
	m := metrics{owner: []label{{"user", "alice"}}}
	m.addWorkloads(someWorkloads())
	m.addSites(someWorkloads())
	m.addCertificates([]hooks.CertificateEnd{{Namespace: "east", End: pki.End{Name: "certs/x", At: time.Unix(2000000000, 0)}}})
	if err := m.write(&out); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&out)
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	for name, want := range map[string][]string{
		"sitelet_workload_active":   {"container db 1", "container old 0", "container out 1", "container web 0", "site east 1"},
		"sitelet_workload_healthy":  {"container db 1", "container out 0", "container web 0", "site east 1"},
		"sitelet_workload_on_trial": {"container db 0", "container old 0", "container out 1", "container web 0", "site east 0", "site south 0"},
		"sitelet_workload_refused":  {"container db 0", "container old 0", "container out 0", "container web 1", "site east 0", "site south 0"},
		"sitelet_workload_pending": {"container db none 0", "container old orphaned 0", "container out resume 1", "container web recreate 1",
			"site east none 0", "site south start 1"},
		"sitelet_site_router_up":                       {"east 1", "south 0"},
		"sitelet_site_link_up":                         {"east west 1", "east north 0"},
		"sitelet_certificate_expiry_timestamp_seconds": {"east certs/x 2e+09"},
	} {
		if got := samples(families[name]); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	changes := samples(families["sitelet_workload_last_change_timestamp_seconds"])
	if len(changes) != 2 || changes[1] != "container web 1.7e+09" {
		t.Errorf("changes: %q", changes)
	}
	infos := samples(families["sitelet_workload_info"])
	if len(infos) != 6 || infos[3] != "container web web.service podman localhost/\"a\\b\nc\uFFFD  1" {
		t.Errorf("info: %q", infos)
	}
}

// samples are the values of a family, each behind its labels, without that of the owner, which all have to have.
func samples(f *dto.MetricFamily) []string {
	var all []string
	for _, m := range f.GetMetric() {
		text := "nobody's "
		for _, l := range m.GetLabel() {
			if l.GetName() == "user" && l.GetValue() == "alice" {
				text = strings.TrimPrefix(text, "nobody's ")
				continue
			}
			text += l.GetValue() + " "
		}
		all = append(all, text+fmt.Sprint(m.GetGauge().GetValue()))
	}
	return all
}
