package generator

import (
	"bytes"
	"strconv"
	"time"

	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/unit"
	"github.com/sitelet/sitelet/internal/workload"
)

const (
	// restartDelay is how long Kanto waits before the first restart, and doubles from (mgr_restart_mgr.go).
	restartDelay = 100 * time.Millisecond
	// restartMaxDelay is the bound of that delay where the descriptor has none.
	restartMaxDelay = time.Minute
	// oldRestartDelay is the one delay where systemd cannot let it grow.
	oldRestartDelay = 5 * time.Second
	// startTime is how long podman start may take where no health check says more.
	startTime = 2 * time.Minute
	// startSlack is how long it may take beyond the health checks: short, as a check that never passes is found out by it.
	startSlack = 30 * time.Second
	// stopSlack is what Podman may take beyond the container's own stop time-out.
	stopSlack = 10
)

// networkOnline is the first Podman whose Quadlet has containers wait for the network.
var networkOnline = quadlet.Version{Major: 5, Minor: 2}

// settings renders the life cycle of a persistent container (docs/architecture.md) as a drop-in of NAME.service: it is made by
// another unit, started and stopped by this one, and never removed by either.
func settings(c *descriptor.Container, generation workload.Digest, around surroundings, facts Facts) []byte {
	s := section{}
	s.text.Grow(1024)
	s.begin("Unit")
	s.add("SourcePath", unit.Text(c.Source))
	// Not Requires=: where an image cannot be pulled yet, it is the failed start below that Restart= tries again.
	s.add("Wants", "sitelet-create@"+c.Name+".service")
	s.add("After", "sitelet-boot.service sitelet-create@"+c.Name+".service")
	s.add("Wants", "sitelet-trial@"+c.Name+".service")
	s.add("OnFailure", "sitelet-rollback@"+c.Name+".service")
	if facts.Scope == paths.System && !facts.Podman.AtLeast(networkOnline) {
		s.add("Wants", "network-online.target")
		s.add("After", "network-online.target")
	}
	for _, name := range c.After {
		s.add("After", name+".service")
	}
	for _, name := range c.Requires {
		s.add("Requires", name+".service")
		s.add("After", name+".service")
	}
	for _, name := range around.targets(c) {
		s.add("Wants", name+".service")
		s.add("After", name+".service")
	}
	s.startLimit(c.Restart)
	s.begin("Service")
	// By its generation: when no new container could be made, the old one has the name.
	start := "podman start --filter label=" + LabelWorkload + "=" + c.Name + " --filter label=" + LabelGeneration + "=" + string(generation)
	if len(lookups(c)) > 0 || len(c.Hooks) > 0 {
		s.add("ExecStartPre", "sitelet hook prepare "+c.Name)
		// Not with Environment=: stops must work where the file was never written.
		start = "env CONTAINERS_CONF_OVERRIDE=%t/sitelet/workloads/" + c.Name + "/containers.conf " + start
	}
	s.add("ExecStart", start)
	if users := around.users[c.Name]; len(users) > 0 {
		argv := "-sitelet hook refresh-hosts"
		for _, name := range users {
			argv += " " + name
		}
		s.add("ExecStartPost", argv)
	}
	stop := "podman stop --ignore --filter label=" + LabelWorkload + "=" + c.Name
	s.add("ExecStop", stop)
	// After anything but a proper stop the container may still run. Podman's own start-up is time without service otherwise.
	s.add("ExecStopPost", `-sh -c 'test "$$SERVICE_RESULT" = success || exec `+stop+`'`)
	// A container that is stopped ends as the signal's victim, which is no failure.
	s.add("SuccessExitStatus", "137 143")
	s.add("TimeoutStartSec", seconds(startTimeout(c.Health)))
	s.add("TimeoutStopSec", strconv.Itoa(stopTimeout+stopSlack))
	s.restart(c.Restart, facts)
	return s.text.Bytes()
}

// startTimeout leaves time for as many failed checks as the descriptor allows, and for one that passes.
func startTimeout(h *descriptor.Health) time.Duration {
	if h == nil {
		return startTime
	}
	return startSlack + h.StartPeriod + time.Duration(h.Retries+1)*(h.Interval+h.Timeout)
}

// section collects the lines of a drop-in. Values are written as they are.
type section struct{ text bytes.Buffer }

func (s *section) begin(name string) { s.write("[", name, "]\n") }

func (s *section) add(key, value string) { s.write(key, "=", value, "\n") }

func (s *section) write(texts ...string) {
	for _, text := range texts {
		s.text.WriteString(text)
	}
}

// startLimit makes maximum_retry_count restarts the last ones, and no count no end.
func (s *section) startLimit(r descriptor.Restart) {
	if r.Policy == "on-failure" && r.MaxRetries > 0 {
		s.add("StartLimitIntervalSec", "infinity")
		s.add("StartLimitBurst", strconv.Itoa(r.MaxRetries+1))
		return
	}
	s.add("StartLimitIntervalSec", "0")
}

func (s *section) restart(r descriptor.Restart, facts Facts) {
	switch r.Policy {
	case "no":
		s.add("Restart", "no")
		return
	case "on-failure":
		s.add("Restart", "on-failure")
		// For a failure of its own these must count as one, in spite of SuccessExitStatus=.
		s.add("RestartForceExitStatus", "137 143")
	default:
		s.add("Restart", "always")
	}
	if facts.Systemd < restartSteps {
		s.add("RestartSec", seconds(oldRestartDelay))
		return
	}
	limit := restartMaxDelay
	if r.MaxDelay > 0 {
		limit = max(r.MaxDelay, restartDelay)
	}
	s.add("RestartSec", seconds(restartDelay))
	if steps := doublings(limit); steps > 0 {
		s.add("RestartSteps", strconv.Itoa(steps))
		s.add("RestartMaxDelaySec", seconds(limit))
	}
}

// doublings counts how often restartDelay doubles before it reaches limit.
func doublings(limit time.Duration) int {
	steps := 0
	for delay := restartDelay; delay < limit; delay *= 2 {
		steps++
	}
	return steps
}

// seconds writes a duration as systemd.time(7) reads it, to the millisecond.
func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10)
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
