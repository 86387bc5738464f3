package main

import (
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/build"
	"github.com/sitelet/sitelet/internal/paths"
)

// label is a name and a value of what a metric is about.
type label struct{ name, value string }

// metrics collects gauges in the text format that the node exporter's textfile collector reads (prometheus.io, "Exposition formats").
// Prometheus' own encoder would link protocol buffers, some thirty packages, into a program that each start of a container runs
// several times; the tests have its parser read what comes out here.
type metrics struct {
	owner    []label // of all that is measured
	families []*family
}

// family is a metric with its values.
type family struct {
	metrics    *metrics
	name, help string
	samples    []string
}

func (m *metrics) gauge(name, help string) *family {
	f := &family{metrics: m, name: name, help: help}
	m.families = append(m.families, f)
	return f
}

// escaped is for values of labels; the format wants UTF-8.
var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (f *family) add(value float64, labels ...label) {
	var texts []string
	for _, l := range append(labels, f.metrics.owner...) {
		texts = append(texts, l.name+`="`+escaped.Replace(strings.ToValidUTF8(l.value, "\uFFFD"))+`"`)
	}
	name := f.name
	if len(texts) > 0 {
		name += "{" + strings.Join(texts, ",") + "}"
	}
	f.samples = append(f.samples, name+" "+strconv.FormatFloat(value, 'f', -1, 64))
}

func (f *family) addBool(value bool, labels ...label) {
	if value {
		f.add(1, labels...)
		return
	}
	f.add(0, labels...)
}

func (f *family) addTime(at time.Time, labels ...label) { f.add(float64(at.Unix()), labels...) }

// write leaves out what has no values.
func (m *metrics) write(w io.Writer) error {
	for _, f := range m.families {
		if len(f.samples) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s\n", f.name, f.help, f.name, strings.Join(f.samples, "\n")); err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) printMetrics(h hooks.Hooks, all []hooks.WorkloadStatus) error {
	ends, err := h.CertificateEnds()
	if err != nil {
		fmt.Fprint(c.err, harmless("sitelet: %v\n", err))
	}
	m := metrics{owner: owner(h.Paths.Scope)}
	m.gauge("sitelet_build_info", "A constant 1, with the version of sitelet.").add(1, label{"version", build.Version})
	m.addWorkloads(all)
	m.addSites(all)
	m.addCertificates(ends)
	return m.write(c.out)
}

// owner tells a user's metrics from those of the host and of other users, which one exporter may read as well.
func owner(scope paths.Scope) []label {
	if scope == paths.System {
		return nil
	}
	u, err := user.Current()
	if err != nil {
		return nil
	}
	return []label{{"user", u.Username}}
}

func (m *metrics) addWorkloads(all []hooks.WorkloadStatus) {
	info := m.gauge("sitelet_workload_info", "A constant 1, with what a container or site is made from.")
	active := m.gauge("sitelet_workload_active", "Whether the unit of a container or site is active.")
	healthy := m.gauge("sitelet_workload_healthy", "Whether the health check of a running container passes, or the router of a site answers.")
	trial := m.gauge("sitelet_workload_on_trial", "Whether a new version is running on trial.")
	refused := m.gauge("sitelet_workload_refused", "Whether the last version that was tried has failed.")
	changed := m.gauge("sitelet_workload_last_change_timestamp_seconds", "When the last change of a container or site was made or refused.")
	pending := m.gauge("sitelet_workload_pending", "Whether a reload would do something; action says what sitelet plan has for the container or site.")
	for _, w := range all {
		is := []label{{"kind", w.Kind()}, {"name", w.Called()}}
		s := form(w)
		info.add(1, append(is, label{"unit", w.Name + ".service"}, label{"platform", w.Platform}, label{"image", w.Image}, label{"generation", s.Generation})...)
		if w.State != "" {
			active.addBool(w.State == "active" || w.State == "reloading", is...)
		}
		if w.Health != "" {
			healthy.addBool(w.Health == "healthy", is...)
		}
		trial.addBool(w.Known.Trial != nil, is...)
		refused.addBool(w.Known.Refused != nil, is...)
		if s.Since != nil {
			changed.addTime(*s.Since, is...)
		}
		pending.addBool(w.Pending(), append(is, label{"action", string(w.Verb)})...)
	}
}

func (m *metrics) addSites(all []hooks.WorkloadStatus) {
	up := m.gauge("sitelet_site_router_up", "Whether the router of a namespace answers.")
	link := m.gauge("sitelet_site_link_up", "Whether a link of a namespace to another site is up.")
	for _, w := range all {
		if w.Router == nil {
			continue
		}
		up.addBool(w.Router.Answers, label{"namespace", w.Namespace})
		for _, l := range w.Router.Links {
			link.addBool(l.Up, label{"namespace", w.Namespace}, label{"link", l.Name})
		}
	}
}

func (m *metrics) addCertificates(all []hooks.CertificateEnd) {
	ends := m.gauge("sitelet_certificate_expiry_timestamp_seconds", "When a certificate below the runtime directory of a namespace ends.")
	for _, e := range all {
		ends.addTime(e.At, label{"namespace", e.Namespace}, label{"certificate", e.Name})
	}
}
