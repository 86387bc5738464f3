package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/test/machine"
)

// What README.md says works on a machine that has never seen sitelet, in the order in which it says it.
func TestReadme(t *testing.T) {
	path := deb(t)
	m := machine.New(t, machine.Options{})
	m.CopyFile(path, "/root/dist/"+filepath.Base(path))
	haveImage(m)
	readme := readFile(t, "README.md")

	router := hasRouter(m)
	site := regexp.MustCompile("`(/var/lib/skupper/namespaces/[^`]*\\.yaml)`").FindStringSubmatch(readme)
	if site == nil {
		t.Fatal("it does not say where the resources of a site are put")
	}
	descriptor := regexp.MustCompile("`(/etc/sitelet/containers/[^`]*\\.json)`").FindStringSubmatch(readme)
	if descriptor == nil {
		t.Fatal("it does not say where a descriptor is put")
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)\n```([a-z]+)\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		switch language, text := block[1], block[2]; language {
		case "json":
			m.WriteFile(descriptor[1], text, 0o644)
		case "yaml":
			m.WriteFile(site[1], text, 0o644)
			m.Shell("sitelet check; if sitelet plan; then exit 1; else test $? = 3; fi")
			if !router {
				m.Must("rm", "-r", namespaces)
			}
		case "sh":
			for line := range strings.Lines(text) {
				command, _, _ := strings.Cut(line, "#")
				command = strings.TrimSpace(command)
				switch {
				case !router && (strings.HasSuffix(command, " east") || strings.HasSuffix(command, ":8081")):
					continue
				case strings.HasPrefix(command, "curl "):
					m.Eventually(10*time.Second, func() error { // a router takes a moment to find out who serves what
						out, err := m.Machine.Shell(command)
						if err == nil && out != "Hello from sitelet\n" {
							err = fmt.Errorf("%s prints %q", command, out)
						}
						return err
					})
				default:
					runDocumented(t, m, command)
				}
				ran++
			}
		default:
			t.Errorf("nothing runs blocks of %q", language)
		}
	}
	// For a version to go back to.
	m.Shell("sed -i s/NAME=sitelet/NAME=again/ " + descriptor[1])
	for _, span := range regexp.MustCompile("`((?:make|man|sitelet) [^`]+)`").FindAllStringSubmatch(readme, -1) {
		if strings.Contains(span[1], "NAMESPACE") && !router {
			continue
		}
		line := strings.NewReplacer("[PATH...]", descriptor[1], " DIR", " /root/rendered", "[NAME...]", "", "[NAME]", "hello",
			"NAMESPACE", "east", "NAME", "hello").Replace(span[1])
		runDocumented(t, m, line)
		ran++
	}
	if ran < 15 {
		t.Errorf("only %d commands were found", ran)
	}
}

// The examples of the manual pages work too.
func TestManualExamples(t *testing.T) {
	path := deb(t)
	m := machine.New(t, machine.Options{Deb: path})
	haveImage(m)
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
	router := hasRouter(m)
	if !router {
		m.Must("rm", "-r", namespaces)
	}
	for _, line := range append(examples(t, "man/sitelet.1", 9), examples(t, "man/sitelet-site.5", 3)...) {
		if router || !strings.Contains(line, "east") && !strings.Contains(line, "west") {
			runDocumented(t, m, line)
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
		line := line
		m.Eventually(10*time.Second, func() error {
			out, err := m.Machine.Shell("cd; " + line)
			if err == nil && strings.HasPrefix(line, "journalctl") {
				err = contains("more.json:1:1: ")(out)
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

// runDocumented runs a line of a document where it is meant to run and returns what it prints. What make does is what these
// tests are a part of or stand on; that there are such targets is all that is left to see.
func runDocumented(t *testing.T, m *machine.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	switch words[0] {
	case "make":
		cmd := exec.Command("make", append([]string{"--dry-run"}, words[1:]...)...)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		return ""
	case "man":
		readFile(t, words[1])
		return ""
	}
	return m.Shell("cd; " + line)
}

// namespaces is where the sites of the host are.
const namespaces = "/var/lib/skupper/namespaces/"

// hasRouter tells whether the image that routers have by default is on a machine.
func hasRouter(m *machine.T) bool {
	_, err := m.Exec("podman", "image", "exists", config.DefaultRouterImage)
	return err == nil
}

// haveImage gives the image of the examples to a machine, which reaches no registry.
func haveImage(m *machine.T) {
	m.Must("podman", "tag", "localhost/busybox:1", "docker.io/library/busybox:1")
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
