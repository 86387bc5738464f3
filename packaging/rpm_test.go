package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestRPMInstallsIntoAnEmptyTree(t *testing.T) {
	rpm := packages(t).rpm
	root := emptyTree(t)
	// There is no shell for the scripts in an empty tree, and nothing of what the package requires.
	run(t, "rpm", "--root", root, "--install", "--nodeps", "--noscripts", rpm)
	for _, path := range []string{"usr/bin/sitelet", "etc/sitelet/sitelet.toml", "etc/sitelet/containers"} {
		if !exists(filepath.Join(root, path)) {
			t.Errorf("there is no %s", path)
		}
	}
	if out := run(t, "rpm", "--root", root, "--verify", "--nodeps", "sitelet"); out != "" {
		t.Errorf("what is there is not what is in the package:\n%s", out)
	}
	run(t, "rpm", "--root", root, "--erase", "--noscripts", "sitelet")
	if left := run(t, "find", root, "-name", "*sitelet*"); left != "" {
		t.Errorf("removal left\n%s", left)
	}
}

// The scripts pass where there is a shell and nothing else: no systemd that runs, and no programs.
func TestRPMScriptsPassInATree(t *testing.T) {
	rpm := packages(t).rpm
	old, err := previous()
	if err != nil {
		t.Fatal(err)
	}
	root := emptyTree(t)
	addShell(t, root)
	quietly := func(args ...string) {
		t.Helper()
		out := run(t, "rpm", append([]string{"--root", root, "--nodeps"}, args...)...)
		if out = debianAdvice.ReplaceAllString(out, ""); out != "" {
			t.Errorf("rpm %s says\n%s", args[0], out)
		}
	}
	quietly("--install", old.rpm)
	config := filepath.Join(root, "etc/sitelet/sitelet.toml")
	appendTo(t, config, "mode = \"off\"\n")
	descriptor := filepath.Join(root, "etc/sitelet/containers/web.json")
	appendTo(t, descriptor, "{}\n")

	quietly("--upgrade", rpm)
	if got, want := run(t, "rpm", "--root", root, "-q", "sitelet"), filepath.Base(strings.TrimSuffix(rpm, ".rpm")); strings.TrimSpace(got) != want {
		t.Errorf("after the upgrade there is %s, want %s", got, want)
	}
	if text, err := os.ReadFile(config); err != nil || !strings.HasSuffix(string(text), "mode = \"off\"\n") {
		t.Errorf("after the upgrade the configuration is %q, %v", text, err)
	}

	run(t, "rpm", "--root", root, "--nodeps", "--erase", "sitelet") // which says that it keeps the configuration
	var left []string
	for path := range strings.Lines(run(t, "find", filepath.Join(root, "etc/sitelet"), filepath.Join(root, "usr"), "-name", "*sitelet*", "-type", "f")) {
		left = append(left, strings.TrimPrefix(strings.TrimSpace(path), root))
	}
	if got := strings.Join(left, " "); got != "/etc/sitelet/sitelet.toml.rpmsave" {
		t.Errorf("removal left %s", got)
	}
	if !exists(descriptor) {
		t.Error("removal took a descriptor")
	}
}

// debianAdvice is what Debian's rpm prints at each installation: that Debian has packages of another format.
var debianAdvice = regexp.MustCompile(`(?m)^rpm: .*\n`)

// emptyTree returns a directory for rpm --root.
func emptyTree(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("rpm --root needs root")
	}
	return t.TempDir()
}

// addShell puts the host's shell into a tree, with the libraries that it is linked to.
func addShell(t *testing.T, root string) {
	t.Helper()
	for _, path := range append([]string{"/bin/sh"}, regexp.MustCompile(`/\S+`).FindAllString(run(t, "ldd", "/bin/sh"), -1)...) {
		to := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, "cp", "--dereference", path, to)
	}
	if out, err := exec.Command("chroot", root, "/bin/sh", "-c", "exit 0").CombinedOutput(); err != nil {
		t.Fatalf("the shell does not run in the tree: %v\n%s", err, out)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
