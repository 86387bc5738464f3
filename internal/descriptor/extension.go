package descriptor

import (
	"time"
)

// readExtension reads sitelet, which upstream ignores.
func readExtension(ext value, c *Container, lines *lineCounter) {
	c.Health = readHealth(ext.get("health"))
	c.After, c.AfterAt = readNames(ext.get("after"), c.Name, lines)
	c.Requires, c.RequiresAt = readNames(ext.get("requires"), c.Name, lines)
	c.AutoStart = true
	if v := ext.get("auto_start"); v.present() {
		c.AutoStart = v.flag()
	}
	c.Pull = ext.get("pull").choice("missing", "always", "newer", "never")
}

// readNames reads the names of other descriptors.
func readNames(list value, own string, lines *lineCounter) (names []string, at []Position) {
	seen := make(map[string]bool)
	for _, item := range list.items() {
		name := item.text()
		if p := nameProblem(name); p.message != "" {
			item.fail(p.message, "Write the container_name of another descriptor.")
			continue
		}
		if name == own {
			item.fail("a container cannot wait for itself", "Write the container_name of another descriptor.")
			continue
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
			at = append(at, item.position(lines))
		}
	}
	return names, at
}

// readHealth reads sitelet.health, with Podman's defaults.
func readHealth(v value) *Health {
	if !v.present() {
		return nil
	}
	h := &Health{Interval: 30 * time.Second, Timeout: 30 * time.Second, Retries: 3}
	if cmd, ok := v.require("command", `Write a command for the shell, or a list of a program and its arguments.`); ok {
		h.Shell = cmd.kind() == '"'
		if h.Shell {
			h.Command = []string{cmd.text()}
		} else if h.Command = cmd.list(); len(h.Command) == 0 || h.Command[0] == "" {
			cmd.fail("names no program", "Write the program first.")
		}
	}
	if d := v.get("interval").duration(time.Millisecond); d > 0 {
		h.Interval = d
	}
	if d := v.get("timeout").duration(time.Millisecond); d > 0 {
		h.Timeout = d
	}
	h.StartPeriod = v.get("start_period").duration(0)
	if n, ok := v.get("retries").integer(1, 1<<31-1); ok {
		h.Retries = int(n)
	}
	return h
}
