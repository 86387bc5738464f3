package main

import (
	"fmt"
	"io"
	"os"

	"github.com/sitelet/sitelet/internal/diag"
)

// burst is how many lines the kernel takes from one writer at once (printk_devkmsg=ratelimit, printk(9): ten in five seconds).
const burst = 9

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
			fmt.Fprintf(out, "<%d>sitelet-generator[%d]: %s\n", priority(severity), os.Getpid(), text)
		case lines == burst:
			fmt.Fprintf(out, "<%d>sitelet-generator[%d]: there is more: run `sitelet check`\n", priority(severity), os.Getpid())
		}
	}
}

// priority is that of syslog(3).
func priority(s diag.Severity) int {
	if s == diag.Warning {
		return 4
	}
	return 3
}
