package descriptor

import (
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/spelling"
)

// capabilities are those of include/uapi/linux/capability.h up to CAP_LAST_CAP, which is CAP_CHECKPOINT_RESTORE since
// Linux 5.9, without "CAP_".
var capabilities = []string{
	"AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF", "CHECKPOINT_RESTORE", "CHOWN", "DAC_OVERRIDE",
	"DAC_READ_SEARCH", "FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE", "LINUX_IMMUTABLE", "MAC_ADMIN",
	"MAC_OVERRIDE", "MKNOD", "NET_ADMIN", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_RAW", "PERFMON", "SETFCAP", "SETGID",
	"SETPCAP", "SETUID", "SYSLOG", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT", "SYS_MODULE", "SYS_NICE", "SYS_PACCT",
	"SYS_PTRACE", "SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "WAKE_ALARM",
}

// readPrivileges reads host_config.privileged and extra_capabilities, which are upper case with CAP_ afterwards, but
// for ALL.
func readPrivileges(host value) (privileged bool, extra []string) {
	privileged = host.get("privileged").flag()
	if privileged {
		for _, name := range []string{"devices", "extra_capabilities"} {
			if v := host.get(name); !v.empty() {
				v.failKey("cannot be used with privileged, which gives them all", "Remove one of the two.")
			}
		}
	}
	for _, item := range host.get("extra_capabilities").items() {
		name := strings.TrimPrefix(strings.ToUpper(item.text()), "CAP_")
		switch {
		case name == "ALL":
		case slices.Contains(capabilities, name):
			name = "CAP_" + name
		default:
			hint := "See capabilities(7)."
			if meant, ok := spelling.Nearest(name, capabilities); ok {
				hint = "Did you mean " + quote("CAP_"+meant) + "?"
			}
			item.fail(quote(item.text())+" is not a capability", hint)
		}
		if !slices.Contains(extra, name) {
			extra = append(extra, name)
		}
	}
	return privileged, extra
}

// readRuntime reads host_config.runtime, where runc in all its containerd shims stands for the host's default, as it
// does upstream.
func readRuntime(host value) string {
	v := host.get("runtime")
	switch v.text() {
	case "", "io.containerd.runc.v2", "io.containerd.runc.v1", "io.containerd.runtime.v1.linux":
		return ""
	case "io.containerd.kata.v2":
		return "kata"
	case "io.containerd.runsc.v1":
		return "runsc"
	}
	v.fail(quote(v.text())+" is not a known runtime", `Write "io.containerd.kata.v2" or "io.containerd.runsc.v1", or leave it out for the host's own.`)
	return ""
}
