package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/test/machine"
)

// rules are for the lines of all documents. Those of status 0 are not run.
var rules = []rule{
	{"sitelet plan", 3, "there is something to do"},
	{"sitelet check", 1, "it finds something"},
	{"sitelet prune web", 1, "it has a descriptor"},
	{"sitelet doctor", 1, "it finds something"},
	{"systemctl is-active", 3, "it is not"},
	{"systemctl status", 3, "it is not active"},
	{"skupper ", 0, "it is not on the machine"},
	{"kanto-cm ", 0, "it is not on the machine"},
}

// pages are the documents that have files or commands.
var pages = []page{
	{path: "README.md", machine: bareMachine,
		words: []string{"[PATH...]", descriptors + "hello.json", " DIR", " /root/rendered", "[NAME...]", "", "[NAME]", "hello", "NAMESPACE", "east", "NAME", "hello"},
		sections: []section{
			{title: "A first descriptor", after: has("curl --silent http://127.0.0.1:8080", "Hello from sitelet\n")},
			{title: "A first update", after: has("curl --silent http://127.0.0.1:8080", "Hello from version 2\n")},
			{title: "A first site", after: has("curl --silent http://127.0.0.1:8081", "Hello from version 2\n")},
		}},
	{path: "docs/updates.md", machine: newMachine,
		sections: []section{
			{before: func(t *testing.T, m *machine.T) {
				quickTrials(m)
				deploy(m, "web", forever, "")
				m.Must("sitelet", "reload")
				deploy(m, "web", forever, `, "host_name": "other"`)
			}},
			{title: "What a change costs", before: has("podman exec web hostname", "other\n")},
		}},
	{path: "docs/sites.md", machine: siteMachine,
		sections: []section{
			{before: func(t *testing.T, m *machine.T) {
				m.Shell("echo 192.0.2.2 east.example.com >>/etc/hosts")
				echo(m, 5432)
			}},
			// Of the two hosts, this is the other one too.
			{title: "A live change", after: func(t *testing.T, m *machine.T) {
				m.Must("sitelet", "reload", "west")
				m.Eventually(patience, answers(m, 5433, "hello from 127.0.0.1:5432"))
			}},
			{title: "Certificates", before: does("mkdir -p new " + namespaces + "east/input/certs/public-tls; cp " + namespaces + "east/runtime/certs/east/* new")},
		}},
	{path: "docs/from-skupper.md", machine: siteMachine,
		sections: []section{
			{before: upstreamSite},
			{title: "Taking over a namespace", after: func(t *testing.T, m *machine.T) {
				m.Shell("cmp /root/east.backup/runtime/issuers/skupper-site-ca/tls.crt " + namespaces + "east/runtime/issuers/skupper-site-ca/tls.crt")
				m.Eventually(patience, answers(m, 8080, "hello from 127.0.0.1:9000")) // through the link to west
			}},
			{title: "Going back", before: func(t *testing.T, m *machine.T) { m.Must("sitelet", "reload") }},
		}},
	{path: "docs/from-kanto.md", machine: newMachine,
		sections: []section{
			{before: func(t *testing.T, m *machine.T) {
				mirror(m)
				writeFiles(m, map[string]string{
					kanto + "web.json":    busybox("web", `"container_id": "web", "host_config": {"devices": [], "port_mappings": [{"container_port": 80, "host_port": 8080, "proto": "tcp"}]}`),
					kanto + "more/b.json": busybox("other", `"io_config": {}`),
					"/etc/systemd/system/container-management.service": "[Service]\nRemainAfterExit=yes\nExecStart=true\n[Install]\nWantedBy=multi-user.target\n",
				})
				m.Shell("systemctl daemon-reload; systemctl enable --now container-management")
			}},
			{title: "Moving", after: has("podman ps --format '{{.Names}}' | sort | tr '\\n' ' '", "other web ")},
			{title: "Going back", after: func(t *testing.T, m *machine.T) {
				expect(t, "the containers", containerNames(m), "")
				m.Must("systemctl", "is-active", "container-management")
				m.Must("ls", kanto+"web.json", kanto+"more/b.json")
			}},
		}},
	{path: "docs/from-quadlet.md", machine: newMachine, words: []string{"NAME", "web"},
		sections: []section{
			{before: func(t *testing.T, m *machine.T) {
				haveImage(m)
				m.WriteFile("/srv/web/index.html", "It works.\n", 0o644)
			}},
			{title: "Moving", after: func(t *testing.T, m *machine.T) { expect(t, "the containers", containerNames(m), "") }},
		}},
	{path: "docs/troubleshooting.md", machine: siteMachine, sections: troubles},
}

// kanto is where Kanto has its descriptors.
const kanto = "/etc/container-management/containers/"

// Each document says what works, in the order in which it says it, on a machine that has what it takes for granted.
func TestDocuments(t *testing.T) {
	for _, p := range pages {
		t.Run(filepath.Base(p.path), p.play)
	}
}

// What a document has to run is run.
func TestAllDocumentsAreThere(t *testing.T) {
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		path = "docs/" + filepath.Base(path)
		if slices.ContainsFunc(pages, func(p page) bool { return p.path == path }) {
			continue
		}
		switch path {
		case "docs/architecture.md", "docs/containers.md": // have pictures, and names of commands
			continue
		}
		parts, err := partsOf(readFile(t, path))
		if err != nil || slices.ContainsFunc(parts, func(p part) bool { return p.heading == "" }) {
			t.Errorf("%s has something to run, and is none of the pages: %v", path, err)
		}
	}
}

// upstreamSite makes what Skupper's controller leaves of a site that has redeemed a token of the site west, which is there too.
func upstreamSite(t *testing.T, m *machine.T) {
	echo(m, 9000)
	access := resource("RouterAccess", "go", "{roles: [{name: inter-router, port: 55671}], bindHost: 127.0.0.1}")
	site(m, "west", resource("Site", "west", "{}"), access, connectorOf("backend", 9000, "backend"))
	site(m, "east", resource("Site", "east", "{}"), strings.Replace(access, "55671", "55672", 1), listenerOf("backend", 8080, "backend"))
	m.Must("sitelet", "reload")
	ca := m.ReadFile(namespaces + "west/runtime/issuers/skupper-site-ca/tls.crt")
	secret, link, ok := strings.Cut(m.Must("sitelet", "link", "generate", "west", "--name=west"), "---\n")
	if !ok {
		t.Fatal("a link is not two documents")
	}
	m.Shell("cp -a " + namespaces + "east/runtime kept; sitelet site remove east; mv kept " + namespaces + "east/runtime")
	writeFiles(m, map[string]string{
		namespaces + "east/runtime/resources/Secret-west.yaml":    secret,
		namespaces + "east/runtime/resources/Link-west.yaml":      link,
		namespaces + "east/input/resources/AccessToken-west.yaml": resource("AccessToken", "west", fmt.Sprintf("{url: 'https://127.0.0.1:1', code: x, ca: %q}", ca)),
		namespaces + "east/internal/platform.yaml":                "platform: podman\n",
		"/etc/systemd/system/skupper-east.service":                "[Service]\nRemainAfterExit=yes\nExecStart=podman start east-skupper-router\n[Install]\nWantedBy=default.target\n",
		"/etc/systemd/system/skupper-controller.service":          "[Service]\nRemainAfterExit=yes\nExecStart=podman start root-skupper-controller\n[Install]\nWantedBy=default.target\n",
	})
	for _, name := range []string{"east-skupper-router", "root-skupper-controller"} {
		m.Must("podman", "create", "--name="+name, "localhost/busybox:1", "sh", "-c", quick)
	}
	m.Shell("systemctl daemon-reload; systemctl enable --now skupper-east skupper-controller")
}

// bareMachine has no sitelet yet, but the packages in /root/dist, and what is otherwise pulled from registries.
func bareMachine(t *testing.T) *machine.T {
	t.Helper()
	deb := os.Getenv("SITELET_DEB")
	if deb == "" {
		return newMachine(t) // which says what to do
	}
	m := plainMachine(t)
	m.CopyFile(deb, "/root/dist/"+filepath.Base(deb))
	haveImage(m)
	addRouter(t, m)
	return m
}

// mirror has a machine pull the image of the documents from a registry of its own.
func mirror(m *machine.T) {
	registry(m)
	m.WriteFile("/etc/containers/registries.conf.d/60-mirror.conf", "[[registry]]\nlocation = \"docker.io\"\n[[registry.mirror]]\nlocation = \"127.0.0.1:5000\"\ninsecure = true\n", 0o644)
	m.Shell("podman push --quiet localhost/busybox:1 127.0.0.1:5000/library/busybox:1")
}

// busybox is a descriptor with the image of the documents.
func busybox(name, more string) string {
	return strings.Replace(sleeper(name, more), "localhost/busybox:1", "docker.io/library/busybox:1", 1)
}

// haveImage gives the image of the documents to a machine, which reaches no registry.
func haveImage(m *machine.T) {
	m.Must("podman", "tag", "localhost/busybox:1", "docker.io/library/busybox:1")
}

// does is a script.
func does(script string) func(*testing.T, *machine.T) {
	return func(t *testing.T, m *machine.T) { m.Shell("cd; " + script) }
}

// has is a command that comes to print something.
func has(command, want string) func(*testing.T, *machine.T) {
	return func(t *testing.T, m *machine.T) {
		m.Eventually(patience, func() error {
			out, err := m.Machine.Shell(command)
			if err == nil && !strings.Contains(out, want) {
				err = fmt.Errorf("%s prints %q", command, out)
			}
			return err
		})
	}
}
