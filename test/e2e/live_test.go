package e2e

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// A hundred edits of a site, each taken up by itself, under a stream of connections through a listener that none of them touches: no
// connection breaks, the router is never restarted, and in the end it has what a fresh one would have.
func TestEditsUnderTraffic(t *testing.T) {
	m := siteMachine(t)
	echo(m, 9000)
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"1s\"\n", 0o644)
	site(m, "east", resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("steady", 8080, "backend"))
	m.Must("sitelet", "reload")
	m.Eventually(20*time.Second, answers(m, 8080, "hello from 127.0.0.1:9000"))
	m.Must("systemctl", "start", "sitelet-site@east.path")
	pid := inspect(m, "east-skupper-router", "{{.State.Pid}}")
	id := inspect(m, "east-skupper-router", "{{.Id}}")
	stop := startStream(t, m, 8080)

	e := edits{random: rand.New(rand.NewPCG(4, 100)), m: m, kinds: map[string]string{}}
	for range 100 {
		e.step()
	}
	m.Eventually(30*time.Second, func() error { return e.expect(func(want string) error { return taken(m, want) }) })
	if n := stop(); n < 200 {
		t.Errorf("only %d connections were made meanwhile", n)
	}
	expect(t, "the router's process", inspect(m, "east-skupper-router", "{{.State.Pid}}"), pid)
	expect(t, "the router's container", inspect(m, "east-skupper-router", "{{.Id}}"), id)
	m.Must("systemctl", "is-active", "--quiet", "sitelet-site@east.path")

	autoReloadOff(m, "sitelet-site@east.path")
	config := m.ReadFile(namespaces + "east/runtime/router/skrouterd.json")
	m.Shell("rm " + namespaces + "east/runtime/router/skrouterd.json")
	m.Must("systemctl", "restart", "skupper-east")
	expect(t, "a fresh configuration", m.ReadFile(namespaces+"east/runtime/router/skrouterd.json"), config)
	m.Shell("sed -i '/^---$/,$d' " + namespaces + "east/input/resources/*.yaml")
	expect(t, "a reload without the mistakes", m.Must("sitelet", "reload"), "nothing to do\n")
}

// startStream has connections made through a port until stop is called, which returns how many they were.
func startStream(t *testing.T, m *machine.T, port int) (stop func() int) {
	t.Helper()
	client := m.Command(t.Context(), "env", fmt.Sprintf("%s=stream=127.0.0.1:%d", trafficRole, port), trafficProgram)
	input, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, said strings.Builder
	client.Stdout, client.Stderr = &out, &said
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	return func() int {
		t.Helper()
		input.Close()
		if err := client.Wait(); err != nil {
			t.Errorf("%v: %s", err, said.String())
		}
		n, _ := strconv.Atoi(strings.TrimSpace(out.String()))
		return n
	}
}

// edits changes the resources of a site at random.
type edits struct {
	random *rand.Rand
	m      *machine.T
	kinds  map[string]string // of a file, without its ending, to what it holds
}

func (e *edits) step() {
	name := fmt.Sprintf("r%d", e.random.IntN(12))
	path := namespaces + "east/input/resources/" + name + ".yaml"
	port, key := 10000+e.random.IntN(500), fmt.Sprintf("key%d", e.random.IntN(4))
	var text, want string
	switch e.random.IntN(5) {
	case 0:
		text, want = listenerOf(name, port, key), fmt.Sprintf("tcpListener listener/%s 127.0.0.1 %d %s", name, port, key)
	case 1:
		text, want = connectorOf(name, port, key), fmt.Sprintf("tcpConnector connector/%s@127.0.0.1 127.0.0.1 %d %s", name, port, key)
	case 2:
		text = resource("MultiKeyListener", name, fmt.Sprintf("{host: 127.0.0.1, port: %d, strategy: {priority: {routingKeys: [%s, other]}}}", port, key))
		want = fmt.Sprintf("tcpListener multiAddress/%s 127.0.0.1 %d null", name, port)
	case 3:
		e.m.Shell("rm -f " + path)
		delete(e.kinds, name)
		e.pause()
		return
	default:
		text, want = listenerOf(name, port, key)+"---\n# and a mistake\n"+listenerOf("bad-"+name, 0, key), fmt.Sprintf("tcpListener listener/%s 127.0.0.1 %d %s", name, port, key)
	}
	for other, has := range e.kinds {
		if other != name && strings.Contains(has, fmt.Sprintf(" 127.0.0.1 %d ", port)) {
			return // one of the two would be left out
		}
	}
	e.m.WriteFile(path, text, 0o644)
	e.kinds[name] = want
	e.pause()
}

func (e *edits) pause() { time.Sleep(time.Duration(e.random.IntN(150)) * time.Millisecond) }

// expect holds all that there should be against what there is.
func (e *edits) expect(check func(string) error) error {
	var want []string
	for _, text := range e.kinds {
		want = append(want, text)
	}
	want = append(want, "tcpListener listener/steady 127.0.0.1 8080 backend", "tcpConnector connector/backend@127.0.0.1 127.0.0.1 9000 backend")
	return check(strings.Join(want, "\n"))
}

// taken compares lines of what a router is to have with its configuration file, and with what it was last brought to.
func taken(m *machine.T, want string) error {
	const lines = `.[] | select(.[0] | test("^tcp")) | "\(.[0]) \(.[1].name) \(.[1].host) \(.[1].port) \(.[1].address)"`
	for _, source := range []string{"cat " + namespaces + "east/runtime/router/skrouterd.json", "jq -r .Config /run/sitelet/sites/east"} {
		got, err := m.Machine.Shell(source + " | jq -r '" + lines + "' | sort")
		if err != nil {
			return err
		}
		wanted, err := m.Machine.Shell("sort <<'end'\n" + want + "\nend")
		if err == nil && got != wanted {
			err = fmt.Errorf("%s has\n%sinstead of\n%s", source, got, wanted)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// One broken file of each kind in a running site: nothing restarts or closes, and the mistake is in check, in the journal and in the
// status of the resource.
func TestBrokenResources(t *testing.T) {
	m := siteMachine(t)
	echo(m, 9000)
	good := []string{resource("Site", "east", "{}"), connectorOf("backend", 9000, "backend"), listenerOf("steady", 8080, "backend")}
	site(m, "east", good...)
	m.Must("sitelet", "reload")
	m.Eventually(20*time.Second, answers(m, 8080, "hello from 127.0.0.1:9000"))
	pid := inspect(m, "east-skupper-router", "{{.State.Pid}}")
	stop := startStream(t, m, 8080)
	m.Must("systemctl", "start", "sitelet-site@east.path")
	const dir = namespaces + "east/input/resources/"
	for _, c := range []struct{ name, text, finding, status string }{
		{"syntax", "kind: [", "syntax.yaml:1:", ""},
		{"port", strings.Replace(listenerOf("port", 9, "k"), "port: 9", `port: "9"`, 1), "port.yaml:5:", "Listener-port"},
		{"unknown", resource("Listener", "unknown", "{host: h, prt: 8080, routingKey: k}"), "unknown.yaml:5:", "Listener-unknown"},
		{"roles", resource("RouterAccess", "roles", "{roles: []}"), "roles.yaml:5:", "RouterAccess-roles"},
		{"secret", resource("Link", "secret", "{tlsCredentials: none, endpoints: [{name: inter-router, host: h, port: '1'}]}"), "secret.yaml:", "Link-secret"},
		{"twice", listenerOf("twice", 8080, "k"), "twice.yaml:", "Listener-twice"},
		{"name", listenerOf("Bad_Name", 8081, "k"), "name.yaml:4:", ""},
		{"site", resource("Site", "second", "{}"), "site.yaml:", ""},
	} {
		m.WriteFile(dir+c.name+".yaml", c.text, 0o644)
		m.Eventually(20*time.Second, func() error {
			journal, err := m.Machine.Journal("sitelet-reload.service")
			if err == nil && !strings.Contains(journal, c.finding) {
				err = fmt.Errorf("the journal does not name %s", c.finding)
			}
			return err
		})
		if out, err := m.Exec("sitelet", "check"); err == nil || !strings.Contains(out, dir+c.finding) {
			t.Errorf("%s: sitelet check: %v\n%s", c.name, err, out)
		}
		if c.status != "" {
			m.Eventually(10*time.Second, func() error {
				status, err := m.Machine.ReadFile(namespaces + "east/runtime/resources/" + c.status + ".yaml")
				if err == nil && (!strings.Contains(status, "status: Error") || !strings.Contains(status, c.finding)) {
					err = fmt.Errorf("its status is\n%s", status)
				}
				return err
			})
		}
		m.Must("rm", dir+c.name+".yaml")
	}
	// What runs keeps running when its own file turns bad.
	m.WriteFile(dir+"2.yaml", strings.Replace(good[2], "port: 8080", "port: x", 1), 0o644)
	m.Eventually(20*time.Second, func() error {
		status, err := m.Machine.ReadFile(namespaces + "east/runtime/resources/Listener-steady.yaml")
		if err == nil && !strings.Contains(status, "status: Error") {
			err = fmt.Errorf("its status is\n%s", status)
		}
		return err
	})
	if n := stop(); n < 50 {
		t.Errorf("only %d connections were made meanwhile", n)
	}
	expect(t, "the router's process", inspect(m, "east-skupper-router", "{{.State.Pid}}"), pid)
}
