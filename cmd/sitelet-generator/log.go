package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
)

// burst is how many lines the kernel takes from one writer at once (printk_devkmsg=ratelimit, printk(9): ten in five seconds).
const burst = 9

// maxRecord is the length of a line with its end beyond which the kernel refuses it whole (kernel/printk, devkmsg_write).
const maxRecord = 976

// openLog returns a log that goes where systemd wants a generator's: to the kernel's log buffer, as no other is there yet.
// Where that is closed, it goes to standard error.
func openLog() func(diag.Severity, string) {
	var out io.Writer = os.Stderr
	kmsg, err := os.OpenFile("/dev/kmsg", os.O_WRONLY, 0)
	if err == nil && os.Getenv("SITELET_ROOT") == "" {
		out = kmsg
	}
	lines := 0
	return func(severity diag.Severity, text string) {
		lines++
		switch {
		case out == os.Stderr:
			fmt.Fprintln(out, text)
		case lines < burst:
			io.WriteString(out, record(severity, text))
		case lines == burst:
			io.WriteString(out, record(severity, "there is more: run `sitelet check`"))
		}
	}
}

// record returns a line in the form of the kernel's log, cut to what it takes.
func record(severity diag.Severity, text string) string {
	line := fmt.Sprintf("<%d>sitelet-generator[%d]: %s", priority(severity), os.Getpid(), text)
	const cut = "…\n"
	if len(line) >= maxRecord {
		return strings.ToValidUTF8(line[:maxRecord-len(cut)], "") + cut
	}
	return line + "\n"
}

// priority is that of syslog(3).
func priority(s diag.Severity) int {
	if s == diag.Warning {
		return 4
	}
	return 3
}
