package machine

import (
	"net"
	"os"
	"regexp"
	"strings"
	"time"
)

// forwardKernelLog sends what the machine writes to its /dev/kmsg to its journal, until the pipe is closed.
// The kernel has one log for all machines and the host; with this each has its own, like a real one.
func forwardKernelLog(pipe *os.File, journal string) {
	var waiting []string // for journald to listen
	var to net.Conn
	buffer := make([]byte, 64<<10) // as much as the pipe holds
	const moment = 20 * time.Millisecond
	for {
		var retry time.Time
		if len(waiting) > 0 {
			retry = time.Now().Add(moment)
		}
		pipe.SetReadDeadline(retry)
		n, err := pipe.Read(buffer)
		if err != nil && !os.IsTimeout(err) {
			return
		}
		waiting = append(waiting, kernelRecords(string(buffer[:n]))...)
		if len(waiting) == 0 {
			continue
		}
		if to == nil {
			if to, err = net.Dial("unixgram", journal); err != nil {
				continue
			}
			defer to.Close()
		}
		to.SetWriteDeadline(time.Now().Add(moment))
		for len(waiting) > 0 {
			if _, err := to.Write([]byte(waiting[0])); err != nil {
				break
			}
			waiting = waiting[1:]
		}
	}
}

// recordStart is how programs begin what they write to /dev/kmsg: <priority>name[pid]: text.
var recordStart = regexp.MustCompile(`<\d{1,3}>[A-Za-z][\w.@-]*(\[\d+\])?: `)

// kernelRecords splits what was read from a pipe into records. To the kernel each write is one;
// in a pipe only their beginnings and newlines, which not everyone writes, tell them apart.
func kernelRecords(text string) []string {
	var records []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		begin := 0
		for _, at := range recordStart.FindAllStringIndex(line, -1) {
			records = appendNonEmpty(records, line[begin:at[0]])
			begin = at[0]
		}
		records = appendNonEmpty(records, line[begin:])
	}
	return records
}

func appendNonEmpty(list []string, s string) []string {
	if s == "" {
		return list
	}
	return append(list, s)
}
