package descriptor

import (
	"fmt"
	"strconv"
	"time"
)

// readRestart reads host_config.restart_policy; an empty one is the default.
func readRestart(policy value) Restart {
	r := Restart{Policy: policy.get("type").choice("unless-stopped", "no", "always", "on-failure")}
	count := policy.get("maximum_retry_count")
	if n, ok := count.integer(0, 1<<31-1); ok && n > 0 {
		if r.Policy != "on-failure" {
			count.fail(fmt.Sprintf("has no meaning with the type %q", r.Policy), `Write the type "on-failure", or leave this out.`)
		}
		r.MaxRetries = int(n)
	}
	timeout := policy.get("retry_timeout")
	r.MaxDelay = readRetryTimeout(timeout)
	if r.Policy == "no" && r.MaxDelay > 0 {
		timeout.warnKey(`has no effect with the type "no"`, "Remove it.")
		r.MaxDelay = 0
	}
	return r
}

// readRetryTimeout reads nanoseconds, as upstream does in spite of its documentation, or a duration with its unit.
func readRetryTimeout(v value) time.Duration {
	if !v.present() {
		return 0
	}
	if v.kind() == '"' {
		return v.duration(0)
	}
	n, ok := v.integer(0, 1<<63-1)
	if ok && n > 0 && n < int64(time.Millisecond) {
		v.warn(fmt.Sprintf("numbers are nanoseconds, so this is %v", time.Duration(n)),
			"Write "+strconv.Quote(strconv.FormatInt(n, 10)+"s")+" if seconds are meant.")
	}
	return time.Duration(n)
}

// duration returns a text in Go's form, at least low; 0 when it is absent, empty or was refused.
func (v value) duration(low time.Duration) time.Duration {
	s := v.text()
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		hint := `Write a number and a unit, such as "30s", "500ms" or "1m30s".`
		if digits(s) {
			hint = "Write " + quote(s+"s") + " for seconds."
		}
		v.fail(quote(s)+" is not a duration", hint)
		return 0
	case d < low:
		v.fail(fmt.Sprintf("must be at least %v, not %v", low, d), "Write more.")
		return 0
	}
	return d
}
