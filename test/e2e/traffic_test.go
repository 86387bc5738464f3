package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// This program is also what talks TCP inside a machine: with trafficRole in the environment it is a server or a client.
const trafficRole = "SITELET_E2E_TRAFFIC"

func init() {
	role, address, _ := strings.Cut(os.Getenv(trafficRole), "=")
	var err error
	switch role {
	case "":
		return
	case "serve":
		err = serve(address)
	case "ask":
		err = ask(address)
	case "stream":
		err = stream(address)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve echoes what comes in, line by line, with a greeting before each connection's first.
func serve(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			fmt.Fprintf(c, "hello from %s\n", address)
			io.Copy(c, c)
		}()
	}
}

// ask prints the greeting of a server.
func ask(address string) error {
	c, err := net.DialTimeout("tcp", address, 3*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(3 * time.Second))
	line, err := bufio.NewReader(c).ReadString('\n')
	fmt.Print(line)
	return err
}

// stream keeps one connection in use all the time, and makes short ones beside it, until its input ends. It ends with an error if any
// of them breaks, and prints how many there were.
func stream(address string) error {
	done := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(done)
	}()
	long, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer long.Close()
	lines := bufio.NewReader(long)
	if _, err := lines.ReadString('\n'); err != nil {
		return err
	}
	for n := 0; ; n++ {
		select {
		case <-done:
			fmt.Println(n)
			return nil
		case <-time.After(5 * time.Millisecond):
		}
		long.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(long, "%d\n", n)
		if line, err := lines.ReadString('\n'); err != nil || line != fmt.Sprintf("%d\n", n) {
			return fmt.Errorf("the long connection broke at line %d: %q, %w", n, line, err)
		}
		if err := exchange(address, n); err != nil {
			return fmt.Errorf("connection %d broke: %w", n, err)
		}
	}
}

func exchange(address string, n int) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(c)
	if _, err := r.ReadString('\n'); err != nil {
		return err
	}
	fmt.Fprintf(c, "%d\n", n)
	if line, err := r.ReadString('\n'); err != nil || line != fmt.Sprintf("%d\n", n) {
		return fmt.Errorf("%q, %w", line, err)
	}
	return nil
}

const trafficProgram = "/root/traffic"

// addTraffic puts this program on a machine.
func addTraffic(t *testing.T, m *machine.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.CopyFile(self, trafficProgram)
	m.Shell("chmod 755 " + trafficProgram)
}

// echo runs a server on a port.
func echo(m *machine.T, port int) {
	m.Must("systemd-run", "--quiet", "--collect", fmt.Sprintf("--unit=echo-%d", port),
		fmt.Sprintf("--setenv=%s=serve=127.0.0.1:%d", trafficRole, port), trafficProgram)
}

// answers returns a check that a server greets whoever connects to a port.
func answers(m *machine.T, port int, want string) func() error {
	return func() error {
		out, err := m.Exec("env", fmt.Sprintf("%s=ask=127.0.0.1:%d", trafficRole, port), trafficProgram)
		if err == nil && !strings.Contains(out, want) {
			err = fmt.Errorf("port %d answers %q", port, out)
		}
		return err
	}
}
