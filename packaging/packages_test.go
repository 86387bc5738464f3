// Package packaging tests the packages that `make package` has made.
package packaging

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// debOnly are files that other distributions have no use for.
var debOnly = []string{"/usr/share/doc/sitelet/changelog.gz", "/usr/share/lintian/overrides/sitelet", "/usr/share/zsh/vendor-completions/_sitelet"}

func TestSameFilesInBoth(t *testing.T) {
	deb, rpm := packages(t)
	inDeb := run(t, "dpkg-deb", "-c", deb)
	inRPM := run(t, "rpm", "-qp", "--qf", `[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES} -> %{FILELINKTOS}\n]`, rpm)

	var debFiles []string
	for line := range strings.Lines(inDeb) {
		// drwxr-xr-x root/root 0 2006-01-02 15:04 ./usr/bin/ [-> TARGET]
		words := strings.Fields(line)
		path := strings.TrimSuffix(strings.TrimPrefix(words[5], "."), "/")
		if words[1] != "root/root" {
			t.Errorf("%s belongs to %s", path, words[1])
		}
		if mode := words[0]; mode[0] != 'l' && (mode[5] == 'w' || mode[8] == 'w') {
			t.Errorf("%s has the mode %s", path, mode)
		}
		// Which directories the two formats list is theirs; only the contents have to agree.
		if words[0][0] != 'd' && !slices.Contains(debOnly, path) {
			debFiles = append(debFiles, strings.Join(slices.Concat(words[:1], []string{path}, words[6:]), " "))
		}
	}
	var rpmFiles []string
	for line := range strings.Lines(inRPM) {
		words := strings.Fields(line)
		if words[1] != "root/root" {
			t.Errorf("RPM: %s belongs to %s", words[2], words[1])
		}
		if words[0][0] != 'd' {
			if len(words) == 4 { // no target
				words = words[:3]
			}
			rpmFiles = append(rpmFiles, strings.Join(slices.Concat(words[:1], words[2:]), " "))
		}
	}
	// dpkg-deb and rpm write the type of a symbolic link with other permissions.
	slices.Sort(debFiles)
	slices.Sort(rpmFiles)
	normalise := func(files []string) string {
		return regexp.MustCompile(`(?m)^l\S+`).ReplaceAllString(strings.Join(files, "\n"), "link")
	}
	if d, r := normalise(debFiles), normalise(rpmFiles); d != r {
		t.Errorf("DEB:\n%s\nRPM:\n%s", d, r)
	}
	for _, want := range []string{
		"-rwxr-xr-x /usr/bin/sitelet",
		"-rwxr-xr-x /usr/lib/systemd/system-generators/sitelet-generator",
		"link /usr/lib/systemd/user-generators/sitelet-generator -> ../system-generators/sitelet-generator",
		"-rw-r--r-- /usr/lib/systemd/system/sitelet-boot.service",
		"-rw-r--r-- /usr/lib/systemd/user/sitelet-boot.service",
		"-rw-r--r-- /usr/lib/systemd/system-preset/90-sitelet.preset",
		"-rw-r--r-- /usr/lib/systemd/user-preset/90-sitelet.preset",
		"-rw-r--r-- /usr/lib/tmpfiles.d/sitelet.conf",
		"-rw-r--r-- /etc/sitelet/sitelet.toml",
		"-rw-r--r-- /usr/share/doc/sitelet/copyright",
		"-rw-r--r-- /usr/share/licenses/sitelet/LICENSE",
		"-rw-r--r-- /usr/share/bash-completion/completions/sitelet",
		"-rw-r--r-- /usr/share/fish/vendor_completions.d/sitelet.fish",
		"-rw-r--r-- /usr/share/zsh/site-functions/_sitelet",
		"-rw-r--r-- /usr/lib/systemd/system/sitelet-site@.path",
		"-rw-r--r-- /usr/lib/systemd/user/sitelet-renew@.timer",
		"-rw-r--r-- /usr/share/man/man1/sitelet.1.gz",
		"-rw-r--r-- /usr/share/man/man5/sitelet-container.5.gz",
		"-rw-r--r-- /usr/share/man/man5/sitelet-site.5.gz",
		"-rw-r--r-- /usr/share/man/man5/sitelet.toml.5.gz",
		"-rw-r--r-- /usr/share/man/man8/sitelet-generator.8.gz",
	} {
		if !slices.Contains(strings.Split(normalise(debFiles), "\n"), want) {
			t.Errorf("missing: %s", want)
		}
	}
}

func TestConfigurationIsKept(t *testing.T) {
	deb, rpm := packages(t)
	const want = "/etc/sitelet/sitelet.toml\n"
	if got := run(t, "dpkg-deb", "-I", deb, "conffiles"); got != want {
		t.Errorf("conffiles of the DEB: %q, want %q", got, want)
	}
	if got := run(t, "rpm", "-qpc", rpm); got != want {
		t.Errorf("configuration of the RPM: %q, want %q", got, want)
	}
	if flags := run(t, "rpm", "-qp", "--qf", "[%{FILEFLAGS:fflags} %{FILENAMES}\n]", rpm); !strings.Contains(flags, "cn "+want) {
		t.Errorf("the RPM would replace its configuration: %s", flags)
	}
}

func TestDependenciesAndScripts(t *testing.T) {
	deb, rpm := packages(t)
	if got, want := run(t, "dpkg-deb", "-f", deb, "Depends"), "podman (>= 4.9), systemd (>= 252)\n"; got != want {
		t.Errorf("Depends: %q, want %q", got, want)
	}
	requires := run(t, "rpm", "-qpR", rpm)
	for _, want := range []string{"podman >= 4.9\n", "systemd >= 252\n"} {
		if !strings.Contains(requires, want) {
			t.Errorf("the RPM requires\n%s, want %s", requires, want)
		}
	}
	scripts := run(t, "rpm", "-qp", "--scripts", rpm)
	for name, file := range map[string]string{"postinst": "postinstall.sh", "prerm": "preremove.sh", "postrm": "postremove.sh"} {
		want, err := os.ReadFile(filepath.Join("scripts", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, "dpkg-deb", "-I", deb, name); got != string(want) {
			t.Errorf("the DEB's %s is not %s:\n%s", name, file, got)
		}
		if !strings.Contains(scripts, string(want)) {
			t.Errorf("the RPM has no %s:\n%s", file, scripts)
		}
	}
}

func TestProgramsAreStatic(t *testing.T) {
	deb, _ := packages(t)
	root := t.TempDir()
	run(t, "dpkg-deb", "-x", deb, root)
	for _, path := range []string{"usr/bin/sitelet", "usr/lib/systemd/system-generators/sitelet-generator", "usr/lib/systemd/user-generators/sitelet-generator"} {
		file, err := elf.Open(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		defer file.Close()
		for _, segment := range file.Progs {
			if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is linked dynamically", path)
			}
		}
	}
	version := strings.TrimSpace(run(t, "dpkg-deb", "-f", deb, "Version"))
	if got, want := run(t, filepath.Join(root, "usr/bin/sitelet"), "version"), "sitelet "+version+"\n"; got != want {
		t.Errorf("sitelet version prints %q, want %q", got, want)
	}
	copyright, err := os.ReadFile(filepath.Join(root, "usr/share/doc/sitelet/copyright"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Apache License", "github.com/BurntSushi/toml", "The Go Authors"} {
		if !strings.Contains(string(copyright), want) {
			t.Errorf("the copyright file does not name %s", want)
		}
	}
}

// packages returns the paths of the DEB and of the RPM beside it.
func packages(t *testing.T) (deb, rpm string) {
	t.Helper()
	deb = os.Getenv("SITELET_DEB")
	if deb == "" {
		if os.Getenv("SITELET_E2E") == "required" {
			t.Fatal("SITELET_DEB names no package; run the tests with `make test`")
		}
		t.Skip("SITELET_DEB names no package; run the tests with `make test`")
	}
	name := strings.Split(strings.TrimSuffix(filepath.Base(deb), ".deb"), "_") // sitelet, version, architecture
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[name[2]]
	return deb, filepath.Join(filepath.Dir(deb), "sitelet-"+name[1]+"-1."+arch+".rpm")
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
