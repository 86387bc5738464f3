package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The examples of the manual pages work, in the order in which they are given.
func TestManualExamples(t *testing.T) {
	m := siteMachine(t)
	haveImage(m)
	m.Shell("echo 192.0.2.2 east.example.com >>/etc/hosts")
	descriptor := regexp.MustCompile(`(?s)\.Bd [^\n]*\n(\{.*?\n\})\n\.Ed`).FindStringSubmatch(readFile(t, "man/sitelet-container.5"))
	if descriptor == nil {
		t.Fatal("sitelet-container.5 has no example")
	}
	m.WriteFile("/root/web.json", descriptor[1], 0o644)
	m.WriteFile("/srv/web/index.html", "It works.\n", 0o644)
	resources := regexp.MustCompile(`(?s)\.Bd [^\n]*\n(apiVersion.*?)\.Ed`).FindAllStringSubmatch(readFile(t, "man/sitelet-site.5"), -1)
	if len(resources) != 3 {
		t.Fatalf("sitelet-site.5 has %d examples, want those of two sites and of a listener", len(resources))
	}
	for i, path := range []string{namespaces + "east/input/resources/site.yaml", namespaces + "west/input/resources/site.yaml", "/root/listener.yaml"} {
		m.WriteFile(path, resources[i][1], 0o644)
		m.Must("sitelet", "check", path)
	}
	for _, line := range append(examples(t, "man/sitelet.1", 9), examples(t, "man/sitelet-site.5", 3)...) {
		if err := run(m, line); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Must("curl", "--silent", "http://127.0.0.1:8080"); got != "It works.\n" {
		t.Errorf("the web server of sitelet-container.5 answers %q", got)
	}

	config := regexp.MustCompile(`(?s)\.Sh EXAMPLES\n.*?\.Bd [^\n]*\n(.*?)\.Ed`).FindStringSubmatch(readFile(t, "man/sitelet.toml.5"))
	if config == nil {
		t.Fatal("sitelet.toml.5 has no example")
	}
	const more = "/etc/container-management/containers/"
	m.WriteFile("/etc/sitelet/sitelet.toml", config[1], 0o644)
	m.WriteFile(more+"more.json", `{"container_name": "more", "image": {"name": "localhost/busybox:1"}}`, 0o644)
	if got := m.Must("sitelet", "check"); !strings.HasPrefix(got, "2 descriptors") || !strings.HasSuffix(got, ": nothing wrong\n") {
		t.Errorf("with the example of sitelet.toml.5, check says %q", got)
	}
	m.WriteFile(more+"more.json", "{}", 0o644)
	m.Must("systemctl", "daemon-reload")

	for _, line := range examples(t, "man/sitelet-generator.8", 3) {
		m.Eventually(10*time.Second, func() error {
			out, err := m.Machine.Shell("cd; " + line)
			if err == nil && strings.HasPrefix(line, "journalctl") && !strings.Contains(out, "more.json:1:1: ") {
				err = errors.New(out)
			}
			return err
		})
	}
	m.Must("systemctl", "daemon-reload")
	if out, err := m.Exec("systemctl", "cat", "web"); err == nil {
		t.Errorf("the generator was masked, and there is\n%s", out)
	}
}

// examples returns what a manual page has behind prompts: systemctl edit, which opens an editor, is not among it.
func examples(t *testing.T, page string, atLeast int) []string {
	t.Helper()
	var lines []string
	for _, match := range regexp.MustCompile(`(?m)^(?:\.Dl )?[#$] (.*)$`).FindAllStringSubmatch(readFile(t, page), -1) {
		lines = append(lines, match[1])
	}
	if len(lines) < atLeast {
		t.Fatalf("%s has only %q", page, lines)
	}
	return lines
}

// readFile reads a file of the project.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
