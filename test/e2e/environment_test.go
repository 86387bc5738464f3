package e2e

import "testing"

// Variables whose names say that they are secret, and that Podman would read as its own settings, reach the container as they are
// written, and nobody else.
func TestVariablesOfPodmansOwn(t *testing.T) {
	m := newMachine(t)
	writeFiles(m, map[string]string{descriptors + "app.json": shell("app", quick)})
	m.Shell(`jq '.config.env = ["REGISTRY_AUTH_FILE=/none \"b\" '"'c'"' # $d %e \\", "CONTAINERS_TOKEN= x ", "STORAGE_SECRET=", "DB_PASSWORD=two\nlines"]' ` +
		descriptors + "app.json >/run/app.json; mv /run/app.json " + descriptors + "app.json")
	apply(m)
	expectActive(t, m, "app", "active")
	for name, want := range map[string]string{
		"REGISTRY_AUTH_FILE": `/none "b" 'c' # $d %e \`, "CONTAINERS_TOKEN": " x ", "STORAGE_SECRET": "", "DB_PASSWORD": "two\nlines",
	} {
		expect(t, name, m.Must("podman", "exec", "app", "sh", "-c", `printf '%s\n' "$`+name+`"`), want+"\n")
	}
	expect(t, "what is left of them", m.Shell("ls /run/sitelet/workloads/app 2>/dev/null || true"), "")
}
