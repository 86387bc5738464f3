package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/standin/image"
)

func build(t *testing.T) string {
	t.Helper()
	program, err := image.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestProgram runs the program as the router's image does, with a configuration that has variables.
func TestProgram(t *testing.T) {
	program, dir := build(t), t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	file := filepath.Join(dir, "skrouterd.json")
	configuration := fmt.Sprintf(`[["router",{"id":"r","metadata":"{\"id\":\"s\"}"}],["listener",{"name":"l","host":"${HOST}","port":%d}]]`, port)
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(environment []string, arguments ...string) (*exec.Cmd, *bytes.Buffer) {
		command, log := exec.Command(program, arguments...), new(bytes.Buffer)
		command.Env, command.Stderr = environment, log
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { command.Process.Kill() })
		return command, log
	}
	router, log := run([]string{"QDROUTERD_CONF=" + file, "HOST=127.0.0.1", "SKUPPER_SITE_ID=s"})
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			defer conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	began := time.Now()
	router.Process.Signal(syscall.SIGTERM)
	if err := router.Wait(); err != nil || time.Since(began) > time.Second {
		t.Errorf("it ends with %v after %v:\n%s", err, time.Since(began), log)
	}
	for _, test := range []struct {
		environment, arguments []string
		want                   string
	}{
		{nil, nil, "there is no configuration"},
		{nil, []string{"-c", filepath.Join(dir, "nope")}, "no such file"},
		{[]string{"QDROUTERD_CONF=" + file, "HOST=127.0.0.1", "SKUPPER_SITE_ID=other"}, nil, "SKUPPER_SITE_ID is other"},
		{[]string{"HOST=127.0.0.1"}, []string{"-c", file}, "- listen on ${HOST}:"}, // a file that is given is taken as it is
	} {
		router, log := run(test.environment, test.arguments...)
		var exit *exec.ExitError
		if err := router.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(log.String(), test.want) {
			t.Errorf("%v %v: %v, want %q:\n%s", test.environment, test.arguments, err, test.want, log)
		}
	}
}
