package machine

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestKernelRecords(t *testing.T) {
	for _, test := range []struct {
		name string
		text string
		want []string
	}{
		{"nothing", "", nil},
		{"one with a newline", "<3>gen[7]: bad\n", []string{"<3>gen[7]: bad"}},
		{"two with newlines", "<3>gen[7]: bad\n<4>gen[7]: odd\n", []string{"<3>gen[7]: bad", "<4>gen[7]: odd"}},
		{"two without", "<3>quadlet-generator[7]: bad<28>systemd[1]: odd", []string{"<3>quadlet-generator[7]: bad", "<28>systemd[1]: odd"}},
		{"no process", "<3>gen: bad<3>gen: worse", []string{"<3>gen: bad", "<3>gen: worse"}},
		{"angle brackets in the text", "<3>gen[7]: <a> <3> <5>x", []string{"<3>gen[7]: <a> <3> <5>x"}},
		{"no priority", "text\n\nmore\n", []string{"text", "more"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := kernelRecords(test.text); !slices.Equal(got, test.want) {
				t.Errorf("kernelRecords(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// What is written before the journal listens arrives when it does.
func TestForwardKernelLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kmsg")
	pipe, err := newPipe(path)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	go forwardKernelLog(pipe, filepath.Join(dir, "log"))

	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	write("<3>gen[7]: early\n")
	time.Sleep(50 * time.Millisecond)
	journal, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: filepath.Join(dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	journal.SetReadDeadline(time.Now().Add(10 * time.Second))
	write("<3>gen[7]: late\n")
	buffer := make([]byte, 1024)
	for _, want := range []string{"<3>gen[7]: early", "<3>gen[7]: late"} {
		n, err := journal.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(buffer[:n]); got != want {
			t.Errorf("the journal got %q, want %q", got, want)
		}
	}
}
