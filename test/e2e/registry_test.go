package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// registry starts a registry on the machine's 127.0.0.1:5000 that anyone may use, without TLS.
func registry(m *machine.T) {
	writeFiles(m, map[string]string{
		"/etc/docker/registry/config.yml":                 "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: /srv/registry\nhttp:\n  addr: 127.0.0.1:5000\n",
		"/etc/containers/registries.conf.d/50-local.conf": "[[registry]]\nlocation = \"127.0.0.1:5000\"\ninsecure = true\n",
	})
	m.Shell("mkdir -p /srv/registry; chown docker-registry: /srv/registry; systemctl start docker-registry")
	m.Eventually(20*time.Second, func() error {
		_, err := m.Exec("curl", "--silent", "--fail", "http://127.0.0.1:5000/v2/")
		return err
	})
}

// from is a sleeper from an image of that registry.
func from(image, name string, more ...string) string {
	return strings.Replace(sleeper(name, more...), "localhost/busybox:1", "127.0.0.1:5000/"+image, 1)
}

// push puts an image into the registry that tells its version in /version, and removes it from the machine.
func push(m *machine.T, version, image, flags string) {
	m.Shell(fmt.Sprintf(`id=$(podman create localhost/busybox:1)
		echo %s >/run/version
		podman cp /run/version $id:/version
		podman commit --quiet $id 127.0.0.1:5000/%s
		podman rm $id
		podman push --quiet %s 127.0.0.1:5000/%s
		podman rmi 127.0.0.1:5000/%s`, version, image, flags, image, image))
}

const password = "pa ss'w\"ord:%n$x"

// The keys of encrypted images, and that nobody gets to see their passwords.
func TestEncryptedImages(t *testing.T) {
	m := newMachine(t)
	registry(m)
	m.Shell("mkdir -m 700 /etc/keys; cd /etc/keys; openssl genrsa -out plain.pem 2048; openssl rsa -in plain.pem -pubout -out public.pem")
	m.Must("openssl", "rsa", "-traditional", "-in", "/etc/keys/plain.pem", "-aes256", "-passout", "pass:"+password, "-out", "/etc/keys/locked.pem")
	push(m, "secret", "secret:1", "--encryption-key jwe:/etc/keys/public.pem")

	keys := func(name, key string) string {
		return strings.Replace(from("secret:1", name), `:1"}`, `:1", "decrypt_config": {"keys": [`+jsonString(key)+`]}}`, 1)
	}
	writeFiles(m, map[string]string{
		descriptors + "keyless.json": from("secret:1", "keyless", `"host_config": {"restart_policy": {"type": "no"}}`),
		descriptors + "wrong.json":   keys("wrong", "/etc/keys/locked.pem:not it"),
		descriptors + "plain.json":   keys("plain", "/etc/keys/plain.pem"),
		descriptors + "locked.json":  keys("locked", "/etc/keys/locked.pem:"+password),
	})
	m.Must("systemctl", "daemon-reload")
	for _, name := range []string{"keyless", "wrong"} {
		if _, err := m.Exec("systemctl", "start", name); err == nil {
			t.Errorf("%s started", name)
		}
	}
	m.Must("systemctl", "stop", "wrong")
	if journal := m.Journal("sitelet-create@keyless.service"); !strings.Contains(journal, "does not match config's DiffID") {
		t.Errorf("the journal does not say what is wrong:\n%s", journal)
	}

	watch := watchCommandLines(m)
	for _, name := range []string{"locked", "plain"} {
		m.Must("systemctl", "start", name)
		expect(t, "what is in the image of "+name, m.Must("podman", "exec", name, "cat", "/version"), "secret\n")
		m.Shell("systemctl stop " + name + "; podman rm " + name + "; podman rmi 127.0.0.1:5000/secret:1")
	}
	lines := watch()
	if !strings.Contains(lines, "--decryption-key=/etc/keys/locked.pem:file=") || !strings.Contains(lines, "sitelet hook create locked") {
		t.Fatalf("the watch has missed what it is for:\n%s", lines)
	}
	for what, text := range map[string]string{
		"a command line": lines, "the journal": m.Journal(""), "the generated units": m.Shell("cat /run/systemd/generator/*.service"),
		"what systemd says": m.Shell("systemctl show locked sitelet-create@locked"), "podman inspect": m.Shell("podman inspect plain locked 2>&1 || true"),
	} {
		if strings.Contains(text, "ss'w") {
			t.Errorf("the password is in %s:\n%s", what, text)
		}
	}
	expect(t, "what is left of the passwords", m.Shell("ls /run/sitelet/workloads/locked/keys 2>/dev/null || true"), "")
}

// watchCommandLines writes down the command lines of all processes, again and again. The function that it returns ends that and
// returns them.
func watchCommandLines(m *machine.T) (stop func() string) {
	m.Shell(`systemd-run --quiet --unit=watch bash -c 'while :; do cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" " "; echo; done >/run/watched'`)
	return func() string {
		m.Must("systemctl", "stop", "watch")
		return m.ReadFile("/run/watched")
	}
}

// Pull policies, against a registry that is not there at first.
func TestPulls(t *testing.T) {
	m := newMachine(t)
	registry(m)
	push(m, "one", "app:1", "")
	m.Must("systemctl", "stop", "docker-registry")
	pull := func(policy string) string { return fmt.Sprintf(`"sitelet": {"pull": %q}`, policy) }
	files := map[string]string{descriptors + "never.json": from("app:1", "never", pull("never"), `"host_config": {"restart_policy": {"type": "no"}}`)}
	for _, policy := range []string{"missing", "always"} {
		files[descriptors+policy+".json"] = from("app:1", policy, pull(policy), `"host_config": {"restart_policy": {"type": "unless-stopped", "retry_timeout": "1s"}}`)
	}
	writeFiles(m, files)
	m.Must("systemctl", "daemon-reload")
	m.Exec("systemctl", "start", "missing", "always", "never")
	expectActive(t, m, "never", "failed")
	expect(t, "the containers without a registry", containerNames(m), "")

	// When it is there nobody has to do anything.
	m.Must("systemctl", "start", "docker-registry")
	names := []string{"always", "missing"}
	expectRunning(t, m, names)
	version := func(name string) string { return strings.TrimSpace(m.Must("podman", "exec", name, "cat", "/version")) }
	for _, name := range names {
		expect(t, "the version of "+name, version(name), "one")
	}
	// The image is here now.
	m.Must("systemctl", "start", "never")
	expect(t, "the version of never", version("never"), "one")

	// Another one of the same name is for new containers, as their policies say.
	m.Must("podman", "tag", "127.0.0.1:5000/app:1", "localhost/kept:1")
	push(m, "two", "app:1", "")
	m.Must("podman", "tag", "localhost/kept:1", "127.0.0.1:5000/app:1")
	m.Must("systemctl", "restart", "always", "missing", "never")
	for _, name := range slices.Concat(names, []string{"never"}) {
		expect(t, "the version of "+name+" after a restart", version(name), "one")
	}
	m.Shell("systemctl stop always missing never; podman rm always missing never")
	for _, want := range []struct{ name, version string }{{"never", "one"}, {"missing", "one"}, {"always", "two"}} {
		m.Must("systemctl", "start", want.name)
		expect(t, "the version of a new container of "+want.name, version(want.name), want.version)
	}
}
