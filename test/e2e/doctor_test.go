package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// finding is one of sitelet doctor -o json.
type finding struct{ Check, Level, Message, Hint string }

// diagnose runs sitelet doctor, whose exit status must fit what it finds.
func diagnose(t *testing.T, m *machine.T) []finding {
	t.Helper()
	out, err := m.Exec("sitelet", "doctor", "-o", "json")
	var found []finding
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bad := slices.ContainsFunc(found, func(f finding) bool { return f.Level == "error" })
	if bad != (err != nil) {
		t.Errorf("it ended with %v for %v", err, found)
	}
	return found
}

// complaints are the findings that are neither ok nor a note, but for what no machine of the tests can help: it may lack controllers of
// its host.
func complaints(found []finding) []finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding) bool {
		return f.Level == "ok" || f.Level == "note" || f.Check == "cgroup" && f.Level == "warning" || f.Check == "storage"
	})
}

// command is the first one in a hint.
var command = regexp.MustCompile("`([^`]+)`")

// expectTrouble expects one trouble, of a check, level and message, and none any more once the command of its hint has been run.
func expectTrouble(t *testing.T, m, asRoot *machine.T, check, level, message string) {
	t.Helper()
	all := complaints(diagnose(t, m))
	if len(all) != 1 || all[0].Check != check || all[0].Level != level || !regexp.MustCompile(message).MatchString(all[0].Message) {
		t.Fatalf("found %q, want one %s of %s: %s", all, level, check, message)
	}
	hint := command.FindStringSubmatch(all[0].Hint)
	if hint == nil {
		t.Fatalf("no command in %q", all[0].Hint)
	}
	runner := m
	if strings.HasPrefix(all[0].Hint, "As root") {
		runner = asRoot
	}
	runner.Shell(hint[1])
	m.Eventually(20*time.Second, func() error {
		if left := complaints(diagnose(t, m)); len(left) > 0 {
			return fmt.Errorf("after `%s` there is still %q", hint[1], left)
		}
		return nil
	})
}

// Faults are made one after the other; each is found, alone, and what the doctor says helps.
func TestDoctor(t *testing.T) {
	m := siteMachine(t)
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"2s\"\n", 0o644)
	web := func(more string) {
		writeFiles(m, map[string]string{descriptors + "web.json": sleeper("web", ports(`"container_port": 80, "host_port": 8080, "host_ip": "127.0.0.1"`)+more)})
	}
	web("")
	writeFiles(m, map[string]string{descriptors + "rack/db.json": sleeper("db")})
	site(m, "east", resource("Site", "east", "{}"), listenerOf("backend", 8090, "backend"))
	m.Must("sitelet", "reload")
	m.Eventually(20*time.Second, func() error {
		if left := complaints(diagnose(t, m)); len(left) > 0 {
			return fmt.Errorf("a host that is well has %q", left)
		}
		return nil
	})
	text := m.Must("sitelet", "doctor")
	for _, want := range []string{"ok      podman: version 5.4.", "ok      quadlet: version 5.4.", "ok      systemd: version 257", "note    auto-reload: off\n",
		"ok      ports: none of 3 ports", "ok      renewal: "} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}

	m.Must("chmod", "o+w", descriptors+"rack")
	expectTrouble(t, m, m, "permissions", "error", `^/etc/sitelet/containers/rack: is not used: .* has mode 0757`)

	m.Must("sitelet", "stop", "web")
	squat(m)
	expectTrouble(t, m, m, "ports", "error", `^TCP port 127\.0\.0\.1:8080, which the container web wants, is taken by \S+, process [0-9]+ of squatter\.service$`)
	m.Must("sitelet", "start", "web")

	m.Must("rm", descriptors+"rack/db.json")
	m.Must("sitelet", "reload")
	expectTrouble(t, m, m, "orphans", "warning", "^the descriptor of db is gone")

	expire(t, m, namespaces+"east/runtime/certs/skupper-local-server")
	expectTrouble(t, m, m, "certificates", "error", "^the certificate skupper-local-server of namespace east expired on 20")
	m.Must("systemctl", "stop", "sitelet-renew@east.timer")
	expectTrouble(t, m, m, "renewal", "error", `^sitelet-renew@east\.timer is inactive`)

	m.WriteFile("/run/sitelet/trials/ghost", "", 0o644)
	expectTrouble(t, m, m, "leftovers", "warning", "^/run/sitelet/trials/ghost marks ")
	m.Shell("podman create --name web.0123456789ab --label io.sitelet.workload=web --label io.sitelet.generation=0123456789abcdef localhost/busybox:1")
	expectTrouble(t, m, m, "leftovers", "warning", "^the container web.0123456789ab is of no version of web")

	m.WriteFile("/run/sitelet/trials/web", "", 0o644)
	expectTrouble(t, m, m, "leftovers", "error", "^an update of web was cut off$")

	m.WriteFile(descriptors+"bad.json", "{", 0o644)
	if _, err := m.Exec("systemctl", "start", "sitelet-reload"); err == nil {
		t.Error("a reload with a bad descriptor succeeds")
	}
	m.Must("rm", descriptors+"bad.json")
	m.Must("systemctl", "daemon-reload")
	expectTrouble(t, m, m, "units", "error", `^sitelet-reload\.service has failed$`)

	// The reload and the trial of an update are killed before it could prove itself.
	web(`, "host_name": "next"`)
	cutOff(m, "web")
	expectTrouble(t, m, m, "leftovers", "error", "^an update of web was cut off$")
	m.WriteFile(descriptors+"first.json", sleeper("first"), 0o644)
	cutOff(m, "first")
	m.WriteFile("/run/sitelet/trials/first", "", 0o644) // the end of its trial has removed it
	expectTrouble(t, m, m, "leftovers", "warning", "^/run/sitelet/trials/first marks a first start of first that nobody watches$")

	m.Shell("chmod 755 /var/lib/sitelet-ports")
	expectTrouble(t, m, m, "permissions", "error", "^/var/lib/sitelet-ports has mode 0755")
	m.Shell("systemctl enable --now sitelet-containers.path; systemctl stop sitelet-reload.path")
	expectTrouble(t, m, m, "auto-reload", "error", `^sitelet-reload\.path is inactive`)
}

// cutOff has a reload killed, and the trial that it has begun of a workload.
func cutOff(m *machine.T, name string) {
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"1h\"\n", 0o644)
	m.Must("systemd-run", "--unit=update", "sitelet", "reload")
	m.Eventually(time.Minute, func() error {
		state, _ := m.Exec("systemctl", "is-active", "sitelet-trial@"+name, name)
		if state != "activating\nactive\n" {
			return fmt.Errorf("the trial and the service are %q", state)
		}
		return nil
	})
	m.Shell("systemctl kill --signal=KILL update; systemctl stop sitelet-trial@" + name)
	m.Eventually(10*time.Second, func() error {
		_, err := m.Exec("sh", "-c", "systemctl reset-failed update; ! systemctl is-active update")
		return err
	})
	m.WriteFile("/etc/sitelet/sitelet.toml", "[update]\nprobation = \"2s\"\n", 0o644)
	m.Must("systemctl", "daemon-reload")
}

// squat has a service take the port of web.
func squat(m *machine.T) {
	m.Must("systemd-run", "--unit=squatter", "busybox", "httpd", "-f", "-p", "127.0.0.1:8080", "-h", "/tmp")
	m.Eventually(10*time.Second, func() error {
		_, err := m.Exec("curl", "--silent", "http://127.0.0.1:8080/")
		return err
	})
}

// expire puts a certificate that is valid no more in the place of one.
func expire(t *testing.T, m *machine.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct {
		name, kind string
		der        []byte
	}{{"tls.crt", "CERTIFICATE", cert}, {"tls.key", "PRIVATE KEY", private}} {
		var text bytes.Buffer
		if err := pem.Encode(&text, &pem.Block{Type: file.kind, Bytes: file.der}); err != nil {
			t.Fatal(err)
		}
		m.WriteFile(dir+"/"+file.name, text.String(), 0o600)
	}
}

// A user who does not linger is told so, by the doctor and where it bites.
func TestDoctorLinger(t *testing.T) {
	m := newMachine(t)
	alice := m.As("alice")
	m.Shell("systemctl start user@$(id -u alice).service")
	alice.WriteFile("/home/alice/.config/sitelet/containers/web.json",
		sleeper("web", ports(`"container_port": 80, "host_port": 8080, "host_ip": "127.0.0.1"`)), 0o600)
	const warning = "warning: alice does not linger, so services end with the last session and no boot starts them; run `loginctl enable-linger alice`\n"
	alice.Must("systemctl", "--user", "daemon-reload")
	expect(t, "the warning of a reload", alice.Shell("sitelet reload 2>&1 >/dev/null | grep linger"), warning)
	expect(t, "the warning of a start", alice.Shell("sitelet start web 2>&1 >/dev/null"), warning)

	all := complaints(diagnose(t, alice))
	if len(all) != 1 || all[0].Check != "linger" || all[0].Hint != "Run `loginctl enable-linger alice`." {
		t.Fatalf("found %q, want only that alice does not linger", all)
	}
	m.Shell(command.FindStringSubmatch(all[0].Hint)[1]) // by root: the machine has no polkit
	expect(t, "the complaints of alice, who lingers", fmt.Sprint(complaints(diagnose(t, alice))), "[]")
	expect(t, "what a reload says then", alice.Shell("sitelet reload 2>&1"), "nothing to do\n")

	// Without ids of alice's own nothing can be unpacked.
	m.Shell("sed -i /^alice:/d /etc/subuid")
	expectTrouble(t, alice, m, "subordinate-ids", "error", "^alice has none in /etc/subuid")
	m.Shell("chown -R root: /home/alice/.local/state/sitelet; chmod -R a+rX /home/alice/.local/state/sitelet")
	expectTrouble(t, alice, m, "permissions", "error", "^/home/alice/.local/state/sitelet belongs to user 0")

	// Somebody else's process, which alice cannot look at, has the port.
	alice.Must("sitelet", "stop", "web")
	squat(m)
	taken := complaints(diagnose(t, alice))
	if len(taken) != 1 || taken[0].Message != "TCP port 127.0.0.1:8080, which the container web wants, is taken by a process of user root" {
		t.Errorf("found %q", taken)
	}
}
