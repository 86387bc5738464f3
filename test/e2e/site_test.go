package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
	"github.com/sitelet/sitelet/test/standin/image"
)

const (
	namespaces  = "/var/lib/skupper/namespaces/"
	routerImage = "quay.io/skupper/skupper-router:main"
)

// standin builds the stand-in for skrouterd once.
var standin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "standin")
	if err != nil {
		return "", err
	}
	return image.Build(context.Background(), dir)
})

// siteMachine returns a machine that has a router, as an image for Podman and as a program.
func siteMachine(t *testing.T) *machine.T {
	t.Helper()
	m := newMachine(t)
	addRouter(t, m)
	return m
}

// addRouter puts the router on a machine, and what talks through it.
func addRouter(t *testing.T, m *machine.T) {
	t.Helper()
	program, err := standin()
	if err != nil {
		t.Fatal(err)
	}
	m.CopyFile(program, "/usr/sbin/skrouterd")
	path := filepath.Join(t.TempDir(), "router.tar")
	if err := image.Archive(path, routerImage, program); err != nil {
		t.Fatal(err)
	}
	m.CopyFile(path, "/usr/share/router.tar")
	addTraffic(t, m)
	m.Shell("chmod 755 /usr/sbin/skrouterd; podman load --quiet --input /usr/share/router.tar")
}

// resource is a document of a kind of Skupper's.
func resource(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: skupper.io/v2alpha1\nkind: %s\nmetadata:\n  name: %s\nspec: %s\n", kind, name, spec)
}

func listenerOf(name string, port int, key string) string {
	return resource("Listener", name, fmt.Sprintf("{host: 127.0.0.1, port: %d, routingKey: %s}", port, key))
}

func connectorOf(name string, port int, key string) string {
	return resource("Connector", name, fmt.Sprintf("{host: 127.0.0.1, port: %d, routingKey: %s}", port, key))
}

// site writes the resources of a namespace, a file each.
func site(m *machine.T, namespace string, documents ...string) {
	files := map[string]string{}
	for i, d := range documents {
		files[fmt.Sprintf("%s%s/input/resources/%d.yaml", namespaces, namespace, i)] = d
	}
	writeFiles(m, files)
}

// A site on Podman: its router runs as upstream's does, forwards, is changed without a restart, and outlives a reboot.
func TestSitePodman(t *testing.T) {
	m := siteMachine(t)
	echo(m, 9000)
	site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", 8080, "backend"),
		resource("RouterAccess", "go", "{roles: [{name: inter-router}, {name: edge}], bindHost: 127.0.0.1}"))
	m.Must("sitelet", "check")
	m.Must("sitelet", "reload")
	expectActive(t, m, "skupper-east", "active")
	m.Eventually(20*time.Second, answers(m, 8080, "hello from 127.0.0.1:9000"))
	verifyRouterContainer(t, m)

	process := func() string { return m.Must("podman", "inspect", "--format={{.State.Pid}}", "east-skupper-router") }
	pid := process()
	site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", 8080, "backend"),
		resource("RouterAccess", "go", "{roles: [{name: inter-router}, {name: edge}], bindHost: 127.0.0.1}"), listenerOf("second", 8081, "backend"))
	m.Must("sitelet", "reload")
	m.Eventually(10*time.Second, answers(m, 8081, "hello from 127.0.0.1:9000"))
	expect(t, "the router's process after a live change", process(), pid)
	expect(t, "a second reload", m.Must("sitelet", "reload"), "nothing to do\n")

	m.Shell("rm " + namespaces + "east/input/resources/4.yaml")
	m.Must("sitelet", "reload")
	if err := answers(m, 8081, "hello")(); err == nil {
		t.Error("a listener that was deleted still answers")
	}
	expect(t, "the router's process after two live changes", process(), pid)

	// systemd watches the router itself: one that dies is started again.
	m.Must("pkill", "-KILL", "--exact", "launch.sh")
	m.Eventually(30*time.Second, func() error {
		if now, err := m.Exec("podman", "inspect", "--format={{.State.Pid}}", "east-skupper-router"); err != nil || now == pid {
			return fmt.Errorf("it was not started again: %v, %s", err, now)
		}
		return answers(m, 8080, "hello from 127.0.0.1:9000")()
	})

	config := m.ReadFile(namespaces + "east/runtime/router/skrouterd.json")
	m.Reboot()
	echo(m, 9000)
	m.Eventually(time.Minute, answers(m, 8080, "hello from 127.0.0.1:9000"))
	expect(t, "the configuration after a reboot", m.ReadFile(namespaces+"east/runtime/router/skrouterd.json"), config)
}

// verifyRouterContainer holds a router's container against what upstream makes.
func verifyRouterContainer(t *testing.T, m *machine.T) {
	t.Helper()
	const name = "east-skupper-router"
	var site struct{ ID string }
	if err := json.Unmarshal([]byte(m.ReadFile("/var/lib/sitelet/sites/east.json")), &site); err != nil {
		t.Fatal(err)
	}
	expect(t, "the image", inspect(m, name, "{{.ImageName}}"), routerImage)
	expect(t, "the network", inspect(m, name, "{{.HostConfig.NetworkMode}}"), "host")
	expect(t, "the OOM score", inspect(m, name, "{{.HostConfig.OomScoreAdj}}"), "100")
	expect(t, "the command", inspect(m, name, "{{.Config.Cmd}}"), "["+image.Command+"]")
	env := inspect(m, name, "{{.Config.Env}}")
	for _, want := range []string{"APPLICATION_NAME=skupper-router", "QDROUTERD_CONF=/etc/skupper-router/config/skrouterd.json", "QDROUTERD_CONF_TYPE=json",
		"SKUPPER_SITE_ID=" + site.ID, "SSL_PROFILE_BASE_PATH=/etc/skupper-router"} {
		if !strings.Contains(env, want) {
			t.Errorf("the environment lacks %s: %s", want, env)
		}
	}
	for label, want := range map[string]string{"application": "skupper-v2", "skupper.io/v2-component": "router", "skupper.io/site-id": site.ID} {
		expect(t, "label "+label, inspect(m, name, fmt.Sprintf("{{index .Config.Labels %q}}", label)), want)
	}
	if mode := m.Shell("find " + namespaces + "east/runtime -name '*.key' -not -perm 600"); mode != "" {
		t.Errorf("keys that others can read:\n%s", mode)
	}
}

// A site on Docker and one of a native router, beside each other.
func TestSiteDockerAndLinux(t *testing.T) {
	m := siteMachine(t)
	m.Shell(`mkdir -p /etc/docker; echo '{"iptables": false, "ip6tables": false, "bridge": "none", "storage-driver": "vfs"}' >/etc/docker/daemon.json
		systemctl start docker && docker load --quiet --input /usr/share/router.tar`)
	echo(m, 9000)
	for i, platform := range []string{"docker", "linux"} {
		m.WriteFile("/etc/sitelet/sitelet.toml", fmt.Sprintf("platform = %q\n[update]\nprobation = \"1s\"\n", platform), 0o644)
		port := 8080 + i
		site(m, platform, resource("Site", platform, "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", port, "backend"))
		m.Must("sitelet", "reload", platform)
		expectActive(t, m, "skupper-"+platform, "active")
		m.Eventually(20*time.Second, answers(m, port, "hello from 127.0.0.1:9000"))
		site(m, platform, resource("Site", platform, "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", port, "backend"), listenerOf("more", port+10, "backend"))
		m.Must("sitelet", "reload", platform)
		m.Eventually(10*time.Second, answers(m, port+10, "hello from 127.0.0.1:9000"))
	}
	m.WriteFile("/etc/sitelet/sitelet.toml", "", 0o644)
	for i, platform := range []string{"docker", "linux"} {
		m.Must("systemctl", "restart", "skupper-"+platform)
		m.Eventually(20*time.Second, answers(m, 8080+i, "hello from 127.0.0.1:9000"))
		m.Must("systemctl", "stop", "skupper-"+platform)
		if err := answers(m, 8080+i, "hello")(); err == nil {
			t.Errorf("the router on %s answers after its stop", platform)
		}
		m.Must("systemctl", "start", "skupper-"+platform)
	}
}

// A user's site: rootless, with the user's own directories.
func TestSiteRootless(t *testing.T) {
	m := siteMachine(t)
	alice := m.As("alice")
	alice.Linger()
	alice.Must("podman", "load", "--quiet", "--input", "/usr/share/router.tar")
	echo(m, 9000)
	const dir = "/home/alice/.local/share/skupper/namespaces/east/input/resources/"
	alice.WriteFile(dir+"site.yaml", resource("Site", "east", "{linkAccess: default}"), 0o600)
	alice.WriteFile(dir+"more.yaml", connectorOf("backend", 9000, "backend")+"---\n"+listenerOf("backend", 8080, "backend"), 0o600)
	alice.Must("sitelet", "reload")
	alice.Eventually(20*time.Second, answers(m, 8080, "hello from 127.0.0.1:9000"))
	expect(t, "the router's owner", m.Shell("stat --format=%U /proc/$(pgrep --exact --oldest launch.sh)"), "alice\n")
	if link := alice.Must("sitelet", "link", "generate", "east"); !strings.Contains(link, "kind: Link") || !strings.Contains(link, "kubernetes.io/tls") {
		t.Errorf("the link is\n%s", link)
	}
	m.Reboot()
	echo(m, 9000)
	alice.Eventually(time.Minute, answers(m, 8080, "hello from 127.0.0.1:9000"))
}

// Two sites that are linked by what `link generate` prints: what one serves, the other offers.
func TestSitesLinked(t *testing.T) {
	m := siteMachine(t)
	echo(m, 9000)
	site(m, "west", resource("Site", "west", "{}"), resource("RouterAccess", "go", "{roles: [{name: inter-router}, {name: edge}], bindHost: 127.0.0.1}"),
		listenerOf("backend", 8080, "backend"))
	site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"))
	m.Must("sitelet", "reload")
	m.Shell("sitelet link generate west >" + namespaces + "east/input/resources/link.yaml")
	m.Must("sitelet", "reload")
	m.Eventually(20*time.Second, answers(m, 8080, "hello from 127.0.0.1:9000"))
	m.Eventually(20*time.Second, func() error {
		m.Must("systemctl", "reload", "skupper-east")
		link := m.ReadFile(namespaces + "east/runtime/resources/Link-link-go.yaml")
		if !strings.Contains(link, "status: Ready") {
			return errors.New(link)
		}
		return nil
	})
}

// Ten namespaces that come at the same moment are ten sites with ports of their own.
func TestTenSitesAtOnce(t *testing.T) {
	m := siteMachine(t)
	files := map[string]string{}
	for i := range 10 {
		name := fmt.Sprintf("myns-%d", i+1)
		files[namespaces+name+"/input/resources/site.yaml"] = resource("Site", name, "{linkAccess: default}")
	}
	writeFiles(m, files)
	m.Shell("for i in $(seq 10); do sitelet reload --force & done; wait")
	for i := range 10 {
		expectActive(t, m, fmt.Sprintf("skupper-myns-%d", i+1), "active")
	}
	ports := strings.Fields(m.Shell(`jq -r '.[] | select(.[0] == "listener") | .[1].port' ` + namespaces + `*/runtime/router/skrouterd.json | sort | uniq -c | awk '{print $1}' | sort -u`))
	if len(ports) != 1 || ports[0] != "1" {
		t.Errorf("ports are used %v times", ports)
	}
}

// Another image for the router is taken up on trial: one that fails gives way to the old container, and is not tried again until it
// is another; one that works replaces it.
func TestSiteImage(t *testing.T) {
	m := siteMachine(t)
	echo(m, 9000)
	configure := func(image string) {
		m.WriteFile("/etc/sitelet/sitelet.toml", fmt.Sprintf("[update]\nprobation = \"2s\"\n[router]\nimage = %q\n", image), 0o644)
	}
	m.Shell(`podman tag ` + routerImage + ` localhost/router:1.0.0 localhost/router:1.2.0
		podman build --quiet --tag localhost/router:1.1.0 - <<<$'FROM localhost/busybox:1\nENTRYPOINT ["sh", "-c", "echo it breaks; exit 3"]'`)
	configure("localhost/router:1.0.0")
	site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", 8080, "backend"))
	m.Must("sitelet", "reload")
	works := answers(m, 8080, "hello from 127.0.0.1:9000")
	m.Eventually(20*time.Second, works)
	id := inspect(m, "east-skupper-router", "{{.Id}}")

	configure("localhost/router:1.1.0")
	if out := m.Shell("sitelet plan || true"); !strings.Contains(out, "recreate") || !strings.Contains(out, "localhost/router:1.1.0") {
		t.Errorf("the plan is\n%s", out)
	}
	if out, err := m.Exec("sitelet", "reload"); err == nil {
		t.Errorf("a router that breaks was taken up:\n%s", out)
	}
	m.Eventually(30*time.Second, works)
	expect(t, "the container after a rollback", inspect(m, "east-skupper-router", "{{.Id}}"), id)
	expect(t, "the containers after a rollback", containerNames(m), "east-skupper-router")
	if out := m.Must("sitelet", "status", "east"); !strings.Contains(out, "refused") || !strings.Contains(out, "it breaks") {
		t.Errorf("the status is\n%s", out)
	}
	// The old router goes on taking changes.
	site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", 8080, "backend"), listenerOf("more", 8081, "backend"))
	m.Shell("sitelet reload || true")
	m.Eventually(10*time.Second, answers(m, 8081, "hello from 127.0.0.1:9000"))
	expect(t, "the container after a change", inspect(m, "east-skupper-router", "{{.Id}}"), id)

	configure("localhost/router:1.2.0")
	m.Must("sitelet", "reload")
	m.Eventually(20*time.Second, works)
	expect(t, "the image", inspect(m, "east-skupper-router", "{{.ImageName}}"), "localhost/router:1.2.0")
	expect(t, "the containers after an update", containerNames(m), "east-skupper-router")
	configure("localhost/router:1.1.9")
	expect(t, "a reload with an older image", m.Must("sitelet", "reload"), "nothing to do\n")
}

// With auto-reload for all sites, a namespace is taken up when it appears, changed when a file of a sub-directory changes, stopped when
// its Site goes, and started when that comes back. An operator's stop stays one.
func TestSitesByThemselves(t *testing.T) {
	m := siteMachine(t)
	echo(m, 9000)
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"1s\"\n", 0o644)
	m.Must("systemctl", "start", "sitelet-sites.path")
	site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("backend", 8080, "backend"))
	works := answers(m, 8080, "hello from 127.0.0.1:9000")
	m.Eventually(time.Minute, works)
	m.Eventually(20*time.Second, func() error {
		_, err := m.Exec("systemctl", "is-active", "--quiet", "sitelet-site@east.path", "sitelet-renew@east.timer")
		return err
	})
	m.Shell("systemctl start sitelet-containers.path; systemctl stop sitelet-containers.path") // which leaves that of sites on
	const dir = namespaces + "east/input/resources/"
	m.WriteFile(dir+"deep/er/more.yaml", listenerOf("more", 8081, "backend"), 0o644)
	m.Eventually(20*time.Second, answers(m, 8081, "hello from 127.0.0.1:9000"))
	m.WriteFile(dir+"deep/er/more.yaml", listenerOf("more", 8082, "backend"), 0o644)
	m.Eventually(20*time.Second, answers(m, 8082, "hello from 127.0.0.1:9000"))
	m.Shell("mv " + dir + "deep/er/more.yaml /root")
	m.Eventually(20*time.Second, func() error {
		if answers(m, 8082, "hello")() == nil {
			return errors.New("a listener whose file was moved away still answers")
		}
		return nil
	})
	for _, verb := range []string{"start", "stop", "reload"} {
		if out, err := m.Exec("sitelet", verb, "east"); err == nil || !strings.Contains(err.Error()+out, "sitelet-site@east.path") {
			t.Errorf("sitelet %s does not refuse: %v, %s", verb, err, out)
		}
	}
	m.Must("systemctl", "start", "sitelet-renew@east.service")

	m.Shell("mv " + dir + "0.yaml /root")
	m.Eventually(20*time.Second, func() error {
		if state, _ := m.Exec("systemctl", "is-active", "skupper-east"); state != "inactive\n" {
			return errors.New(state)
		}
		return nil
	})
	m.Shell("mv /root/0.yaml " + dir)
	m.Eventually(30*time.Second, works)

	m.Must("systemctl", "stop", "skupper-east")
	m.WriteFile(dir+"deep/er/again.yaml", listenerOf("again", 8083, "backend"), 0o644)
	time.Sleep(3 * time.Second)
	if state, _ := m.Exec("systemctl", "is-active", "skupper-east"); state != "inactive\n" {
		t.Errorf("after an operator's stop and a change it is %s", state)
	}
	m.Must("systemctl", "start", "skupper-east")
	m.Eventually(20*time.Second, answers(m, 8083, "hello from 127.0.0.1:9000"))

	if out, err := m.Exec("sitelet", "site", "remove", "east"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	expect(t, "the containers after a removal", containerNames(m), "")
	m.Must("test", "-e", dir+"0.yaml")

	m.Must("systemctl", "stop", "sitelet-sites.path", "sitelet-site@east.path")
	for _, unit := range []string{"sitelet-reload.path", "sitelet-reload.timer"} {
		m.Eventually(10*time.Second, func() error {
			if state, _ := m.Exec("systemctl", "is-active", unit); state != "inactive\n" {
				return fmt.Errorf("with auto-reload off, %s is %s", unit, state)
			}
			return nil
		})
	}
}
