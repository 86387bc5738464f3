// Package packaging tests the packages that `make package` makes.
package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// debOnly are files that other distributions have no use for.
var debOnly = []string{"/usr/share/doc/sitelet/changelog.gz", "/usr/share/lintian/overrides/sitelet", "/usr/share/zsh/vendor-completions/_sitelet"}

// places are files, each at the place that a convention gives to it.
var places = []string{
	"-rwxr-xr-x /usr/bin/sitelet",
	"-rwxr-xr-x /usr/lib/systemd/system-generators/sitelet-generator",
	"link /usr/lib/systemd/user-generators/sitelet-generator -> ../system-generators/sitelet-generator",
	"-rw-r--r-- /usr/lib/systemd/system-preset/90-sitelet.preset",
	"-rw-r--r-- /usr/lib/systemd/user-preset/90-sitelet.preset",
	"-rw-r--r-- /usr/lib/tmpfiles.d/sitelet.conf",
	"-rw-r--r-- /etc/sitelet/sitelet.toml",
	"-rw-r--r-- /usr/share/doc/sitelet/README.md",
	"-rw-r--r-- /usr/share/doc/sitelet/copyright",
	"-rw-r--r-- /usr/share/licenses/sitelet/LICENSE",
	"-rw-r--r-- /usr/share/bash-completion/completions/sitelet",
	"-rw-r--r-- /usr/share/fish/vendor_completions.d/sitelet.fish",
	"-rw-r--r-- /usr/share/zsh/site-functions/_sitelet",
	"-rw-r--r-- /usr/share/man/man1/sitelet.1.gz",
	"-rw-r--r-- /usr/share/man/man5/sitelet-container.5.gz",
	"-rw-r--r-- /usr/share/man/man5/sitelet-site.5.gz",
	"-rw-r--r-- /usr/share/man/man5/sitelet.toml.5.gz",
	"-rw-r--r-- /usr/share/man/man8/sitelet-generator.8.gz",
}

func TestSameFilesInBoth(t *testing.T) {
	onBoth(t, func(t *testing.T, p built) {
		deb, rpm := filesOfDEB(t, p.deb), filesOfRPM(t, p.rpm)
		if d, r := strings.Join(deb, "\n"), strings.Join(rpm, "\n"); d != r {
			t.Errorf("DEB:\n%s\nRPM:\n%s", d, r)
		}
		for _, want := range slices.Concat(places, units(t)) {
			if !slices.Contains(deb, want) {
				t.Errorf("missing: %s", want)
			}
		}
	})
}

// units returns the units of both scopes as a package is to have them, and has them the same in number.
func units(t *testing.T) []string {
	var all []string
	for scope, dir := range map[string]string{"system": "../units", "user": "../units/user"} {
		files, err := filepath.Glob(filepath.Join(dir, "sitelet-*.*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no units in %s: %v", dir, err)
		}
		for _, file := range files {
			all = append(all, "-rw-r--r-- /usr/lib/systemd/"+scope+"/"+filepath.Base(file))
			if other := strings.Replace(file, dir, map[string]string{"system": "../units/user", "user": "../units"}[scope], 1); !exists(other) {
				t.Errorf("%s has no counterpart %s", file, other)
			}
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// filesOfDEB lists what is no directory, sorted: mode, path and target, except what is for Debian alone.
func filesOfDEB(t *testing.T, deb string) []string {
	var files []string
	for line := range strings.Lines(run(t, "dpkg-deb", "-c", deb)) {
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
			files = append(files, entry(words[0], path, words[6:]))
		}
	}
	slices.Sort(files)
	return files
}

// filesOfRPM lists them of an RPM.
func filesOfRPM(t *testing.T, rpm string) []string {
	var files []string
	for line := range strings.Lines(run(t, "rpm", "-qp", "--qf", `[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES} -> %{FILELINKTOS}\n]`, rpm)) {
		words := strings.Fields(line)
		if words[1] != "root/root" {
			t.Errorf("RPM: %s belongs to %s", words[2], words[1])
		}
		if words[0][0] == 'd' {
			continue
		}
		if len(words) == 4 { // no target
			words = words[:3]
		}
		files = append(files, entry(words[0], words[2], words[3:]))
	}
	slices.Sort(files)
	return files
}

// entry is a line of a listing. dpkg-deb and rpm write the type of a symbolic link with other permissions.
func entry(mode, path string, target []string) string {
	if mode[0] == 'l' {
		mode = "link"
	}
	return strings.Join(append([]string{mode, path}, target...), " ")
}

func TestArchitecture(t *testing.T) {
	onBoth(t, func(t *testing.T, p built) {
		got := strings.TrimSpace(run(t, "dpkg-deb", "-f", p.deb, "Architecture")) + " " + run(t, "rpm", "-qp", "--qf", "%{ARCH}", p.rpm)
		if want := map[string]string{"amd64": "amd64 x86_64", "arm64": "arm64 aarch64"}[architecture(p)]; got != want {
			t.Errorf("the packages are for %s, want %s", got, want)
		}
	})
}

// architecture is the one in a package's name.
func architecture(p built) string {
	name := strings.TrimSuffix(p.deb, ".deb")
	return name[strings.LastIndex(name, "_")+1:]
}

func TestConfigurationIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, p built) {
		const want = "/etc/sitelet/sitelet.toml\n"
		if got := run(t, "dpkg-deb", "-I", p.deb, "conffiles"); got != want {
			t.Errorf("conffiles of the DEB: %q, want %q", got, want)
		}
		if got := run(t, "rpm", "-qpc", p.rpm); got != want {
			t.Errorf("configuration of the RPM: %q, want %q", got, want)
		}
		if flags := run(t, "rpm", "-qp", "--qf", "[%{FILEFLAGS:fflags} %{FILENAMES}\n]", p.rpm); !strings.Contains(flags, "cn "+want) {
			t.Errorf("the RPM would replace its configuration: %s", flags)
		}
	})
}

// Programs can be told which files of an RPM are documents: rpm --excludedocs leaves them out.
func TestDocuments(t *testing.T) {
	onBoth(t, func(t *testing.T, p built) {
		documents, licenses := run(t, "rpm", "-qpd", p.rpm), run(t, "rpm", "-qpL", p.rpm)
		for _, line := range filesOfRPM(t, p.rpm) {
			path := strings.Fields(line)[1]
			isDocument := regexp.MustCompile(`^/usr/share/(doc|man)/`).MatchString(path)
			if strings.Contains(documents, path+"\n") != isDocument {
				t.Errorf("%s is a document: %v, want %v", path, !isDocument, isDocument)
			}
		}
		if licenses != "/usr/share/licenses/sitelet/LICENSE\n" {
			t.Errorf("the licences of the RPM are %q", licenses)
		}
	})
}

func TestDependenciesAndScripts(t *testing.T) {
	onBoth(t, func(t *testing.T, p built) {
		if got, want := run(t, "dpkg-deb", "-f", p.deb, "Depends"), "podman (>= 4.9), systemd (>= 252)\n"; got != want {
			t.Errorf("Depends: %q, want %q", got, want)
		}
		requires := run(t, "rpm", "-qpR", p.rpm)
		for _, want := range []string{"podman >= 4.9\n", "systemd >= 252\n"} {
			if !strings.Contains(requires, want) {
				t.Errorf("the RPM requires\n%s, want %s", requires, want)
			}
		}
		scripts := run(t, "rpm", "-qp", "--scripts", p.rpm)
		for name, file := range map[string]string{"postinst": "postinstall.sh", "prerm": "preremove.sh", "postrm": "postremove.sh"} {
			want, err := os.ReadFile(filepath.Join("scripts", file))
			if err != nil {
				t.Fatal(err)
			}
			if got := run(t, "dpkg-deb", "-I", p.deb, name); got != string(want) {
				t.Errorf("the DEB's %s is not %s:\n%s", name, file, got)
			}
			if !strings.Contains(scripts, string(want)) {
				t.Errorf("the RPM has no %s:\n%s", file, scripts)
			}
		}
	})
}
