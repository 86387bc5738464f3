package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// lateMount is a unit that mounts a directory of the disk, at its place, after generators have run.
func lateMount(where string) string {
	return fmt.Sprintf("[Mount]\nWhat=/srv/disk%s\nWhere=%s\nType=none\nOptions=bind\n[Install]\nWantedBy=local-fs.target\n", where, where)
}

// Descriptors and state on file systems that are mounted after the generators have run: the boot takes them up all the same.
func TestLateMounts(t *testing.T) {
	m := newMachine(t)
	writeFiles(m, map[string]string{
		"/etc/systemd/system/var-lib-sitelet.mount": lateMount("/var/lib/sitelet"),
		"/etc/systemd/system/data.mount":            lateMount("/data"),
		"/etc/sitelet/sitelet.toml":                 "[containers]\ndirectories = [\"/data/containers\"]\n",
	})
	m.Shell("mkdir -p /srv/disk/var/lib/sitelet /srv/disk/data; systemctl daemon-reload; systemctl enable --now var-lib-sitelet.mount data.mount")
	names := []string{"early", "late", "orphan"}
	writeFiles(m, map[string]string{
		descriptors + "early.json":     sleeper("early"),
		descriptors + "orphan.json":    sleeper("orphan"),
		"/data/containers/late.json":   sleeper("late", `"sitelet": {"after": ["early"]}`),
		"/data/containers/manual.json": sleeper("manual", `"sitelet": {"auto_start": false}`),
	})
	apply(m)
	expectRunning(t, m, names)
	m.Must("rm", descriptors+"orphan.json")
	before := containerIDs(m)

	m.Reboot()
	expectRunning(t, m, names)
	expect(t, "the containers", containerIDs(m), before)
	expect(t, "manual", show(m, "manual", "LoadState,ActiveState"), "ActiveState=inactive LoadState=loaded")
	expect(t, "the system", m.Shell("systemctl is-system-running --wait || true"), "running\n")
	boot := m.Shell("journalctl --boot --no-pager")
	for _, want := range []string{"have come with a later mount", "Mounted data.mount"} {
		if !strings.Contains(boot, want) {
			t.Errorf("the journal of the boot does not say %q", want)
		}
	}
	if strings.Contains(boot, "ordering cycle") {
		t.Error("the journal of the boot tells of an ordering cycle")
	}
	// A daemon-reload later sees it all at once.
	m.Must("systemctl", "daemon-reload")
	expectRunning(t, m, names)
	expectStopsAndStarts(t, m, names)
}
