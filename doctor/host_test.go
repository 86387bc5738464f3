package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
)

// podmanSays is a podman that answers info.
type podmanSays string

func (p podmanSays) Run(context.Context, ...string) ([]byte, error) {
	if p == "" {
		return nil, errNone
	}
	return []byte(p), nil
}

func TestPodman(t *testing.T) {
	none := "Install Podman 4.9 or newer (package podman)."
	for _, test := range []struct {
		says   podmanSays
		needed bool
		want   Finding
	}{
		{`{"version": {"Version": "5.4.2"}}`, true, Finding{Level: OK, Message: "version 5.4.2"}},
		{`{"version": {"Version": "4.9.0-rhel"}}`, true, Finding{Level: OK, Message: "version 4.9.0"}},
		{`{"version": {"Version": "4.8.3"}}`, true, Finding{Level: Error, Message: "version 4.8.3 is older than 4.9.0, the first that sitelet can work with", Hint: none}},
		{`{"version": {"Version": "4.8.3"}}`, false, Finding{Level: Note, Message: "version 4.8.3 is older than 4.9.0, the first that sitelet can work with", Hint: none}},
		{`{"version": {"Version": "odd"}}`, true, Finding{Level: Error, Message: `"odd" is no version of Podman`, Hint: none}},
		{`{}`, true, Finding{Level: Error, Message: "no container can be made: podman info does not say its version", Hint: none}},
		{``, true, Finding{Level: Error, Message: "no container can be made: there is none", Hint: none}},
		{``, false, Finding{Level: Note, Message: "no container can be made: there is none", Hint: none}},
	} {
		expectFindings(t, string(test.says), checkPodman(lookAtPodman(t.Context(), test.says), test.needed), "podman", test.want)
	}
}

func TestQuadlet(t *testing.T) {
	none := errors.New("there is no quadlet in /a, /b; install Podman 4.9 or newer")
	hint := "Install Podman 4.9 or newer (package podman)."
	expectFindings(t, "none", checkQuadlet(hostQuadlet{err: none}, true), "quadlet", Finding{Level: Error, Message: "there is no quadlet in /a, /b", Hint: hint})
	expectFindings(t, "none needed", checkQuadlet(hostQuadlet{err: none}, false), "quadlet", Finding{Level: Note, Message: "there is no quadlet in /a, /b", Hint: hint})
	expectFindings(t, "one", checkQuadlet(hostQuadlet{Tool: quadlet.Tool{Path: "/q", Version: quadlet.Version{Major: 5, Minor: 4}}}, true), "quadlet", Finding{Level: OK, Message: "version 5.4.0, /q"})
}

func TestStorage(t *testing.T) {
	for _, test := range []struct {
		allocated, used uint64
		want            Finding
	}{
		{0, 0, Finding{Level: Note, Message: "Podman does not say how full /s is"}},
		{1000, 899, Finding{Level: OK, Message: "the file system of /s, with images and containers, is 89 % full"}},
		{1000, 900, Finding{Level: Warning, Message: "the file system of /s, with images and containers, is 90 % full",
			Hint: "Make room there. `podman system df` shows what takes it, `podman image prune` removes images that have no name any more."}},
	} {
		var info podmanInfo
		info.Store.GraphRoot, info.Store.GraphRootAllocated, info.Store.GraphRootUsed = "/s", test.allocated, test.used
		expectFindings(t, test.want.Message, checkStorage(info), "storage", test.want)
	}
	expectFindings(t, "no podman", checkStorage(podmanInfo{err: errNone}), "storage", Finding{Level: Note, Message: "not looked at: podman could not be asked"})
}

func TestSystemd(t *testing.T) {
	expectFindings(t, "floor", checkSystemd(252, nil), "systemd", Finding{Level: OK, Message: "version 252"})
	expectFindings(t, "old", checkSystemd(251, nil), "systemd", Finding{Level: Error, Message: "version 251 is older than 252, the first that sitelet can work with",
		Hint: "Update the host to a release with a newer systemd."})
	expectFindings(t, "elsewhere", checkSystemd(257, ErrElsewhere), "systemd", Finding{Level: OK, Message: "version 257"},
		Finding{Level: Note, Message: "units were not looked at: SITELET_ROOT stands in for the host, and systemd does not know it"})
	expectFindings(t, "unknown and unreachable", checkSystemd(0, errNone), "systemd", Finding{Level: Note, Message: "its version is not known"},
		Finding{Level: Warning, Message: "units could not be looked at: there is none", Hint: "Run this where systemd and its D-Bus run, a user's in a login session."})
}

func TestKernel(t *testing.T) {
	for _, test := range []struct {
		kernel kernel
		scope  paths.Scope
		want   Finding
	}{
		{kernel{"6.12.57+deb13-amd64", nil}, paths.User, Finding{Level: OK, Message: "version 6.12.57+deb13-amd64"}},
		{kernel{"5.10.0-30", nil}, paths.System, Finding{Level: OK, Message: "version 5.10.0-30"}},
		{kernel{"5.10.0-30", nil}, paths.User, Finding{Level: Warning, Message: "version 5.10.0-30 does not let users mount overlay file systems, so that Podman needs fuse-overlayfs",
			Hint: "Install fuse-overlayfs, or a kernel from 5.11 on."}},
		{kernel{"odd", nil}, paths.User, Finding{Level: Note, Message: `its release is "odd"`}},
		{kernel{"", errNone}, paths.User, Finding{Level: Note, Message: "not looked at: there is none"}},
	} {
		expectFindings(t, test.kernel.release, checkKernel(test.kernel, test.scope), "kernel", test.want)
	}
}

// below makes the files of a host below a directory of the test.
func below(t *testing.T, scope paths.Scope, files map[string]string) paths.Paths {
	t.Helper()
	p, err := paths.New(scope, t.TempDir(), func(name string) string {
		return map[string]string{"HOME": "/home/alice", "XDG_RUNTIME_DIR": "/run/user/1000"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := p.Below(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestCgroup(t *testing.T) {
	const group = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers"
	for _, test := range []struct {
		name  string
		files map[string]string
		speak speech
		level Level
		part  string // of the message
		hint  string // part of it
	}{
		{"all", map[string]string{"/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory pids\n"}, host, OK, "version 2 with memory and pids", ""},
		{"no memory", map[string]string{"/sys/fs/cgroup/cgroup.controllers": "cpu pids"}, host, Warning, "but memory is not available, so limits", "cgroup_enable=memory"},
		{"a user's", map[string]string{"/sys/fs/cgroup/cgroup.controllers": "cpu memory pids", group: "memory"}, alices, Warning, "but pids is not available", "user@.service.d/delegate.conf"},
		{"a user's, all", map[string]string{"/sys/fs/cgroup/cgroup.controllers": "", group: "memory pids"}, alices, OK, "version 2 with", ""},
		{"neither", map[string]string{"/sys/fs/cgroup/cgroup.controllers": "cpu"}, host, Warning, "but memory and pids are not available", "cgroup_enable=memory"},
		{"no user's", map[string]string{"/sys/fs/cgroup/cgroup.controllers": "cpu memory pids"}, alices, Note, "not looked at: ", ""},
		{"version 1", map[string]string{"/sys/fs/cgroup/memory/tasks": ""}, host, Error, "the host has version 1", "systemd.unified_cgroup_hierarchy=1"},
		{"nothing", nil, host, Note, "not looked at: ", ""},
	} {
		p := below(t, test.speak.scope, test.files)
		got := checkCgroup(lookAtCgroup(p, test.speak.user), test.speak)
		if len(got) != 1 || got[0].Check != "cgroup" || got[0].Level != test.level || !strings.Contains(got[0].Message, test.part) || !strings.Contains(got[0].Hint, test.hint) {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

func TestSELinux(t *testing.T) {
	enforcing := below(t, paths.System, map[string]string{"/sys/fs/selinux/enforce": "1"})
	permissive := below(t, paths.System, map[string]string{"/sys/fs/selinux/enforce": "0"})
	for _, test := range []struct {
		name   string
		s      selinux
		mounts []string
		want   Finding
	}{
		{"enforcing", lookAtSELinux(enforcing), []string{"/srv", "/var/lib/db"}, Finding{Level: Note,
			Message: "enforcing, so containers can only use mounted directories whose label lets them: /srv, /var/lib/db",
			Hint:    "Where a container is refused, run `chcon -R -t container_file_t DIRECTORY`, or `semanage fcontext` and `restorecon` to have that stay."}},
		{"enforcing, no mounts", lookAtSELinux(enforcing), nil, Finding{Level: OK, Message: "enforcing"}},
		{"permissive", lookAtSELinux(permissive), []string{"/srv"}, Finding{Level: OK, Message: "permissive"}},
		{"none", lookAtSELinux(below(t, paths.System, nil)), []string{"/srv"}, Finding{Level: OK, Message: "disabled"}},
		{"unreadable", selinux{err: errNone}, nil, Finding{Level: Note, Message: "not looked at: there is none"}},
	} {
		expectFindings(t, test.name, checkSELinux(test.s, test.mounts), "selinux", test.want)
	}
}

func TestUser(t *testing.T) {
	alice := alices.user
	bare := below(t, paths.User, nil)
	expectFindings(t, "no linger", checkLinger(Lingers(bare, "alice"), alice), "linger", Finding{Level: Warning,
		Message: "alice does not linger, so services end with the last session and no boot starts them", Hint: "Run `loginctl enable-linger alice`."})
	p := below(t, paths.User, map[string]string{"/var/lib/systemd/linger/alice": "", "/run/user/1000/bus": ""})
	expectFindings(t, "linger", checkLinger(Lingers(p, "alice"), alice), "linger", Finding{Level: OK, Message: "alice lingers"})
	if got := checkRuntimeDir(lookAtRuntimeDir(p), alice); len(got) != 1 || got[0].Level != OK {
		t.Errorf("with a runtime directory: %v", got)
	}
	if got := checkRuntimeDir(lookAtRuntimeDir(bare), alice); len(got) != 1 || got[0].Level != Error || !strings.Contains(got[0].Hint, "loginctl enable-linger alice") {
		t.Errorf("without a runtime directory: %v", got)
	}
	if got := checkUser(below(t, paths.System, nil), User{"root", 0}, inputs{}); got != nil {
		t.Errorf("the host's services have findings of a user's: %v", got)
	}
}

func TestSubIDs(t *testing.T) {
	for _, test := range []struct {
		name   string
		ids    subIDs
		user   User
		needed bool
		want   Finding
	}{
		{"by name and number", subIDs{uids: []byte("bob:100000:65536\nalice:165536:65536\n"), gids: []byte("1000:165536:65536"), helper: true}, alices.user, true,
			Finding{Level: OK, Message: "65536 user and 65536 group ids"}},
		{"none", subIDs{helper: true}, alices.user, true, Finding{Level: Error, Message: "alice has none in /etc/subuid and /etc/subgid, so most images cannot be unpacked",
			Hint: "As root, run `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 alice`, and then yourself `podman system migrate`."}},
		{"behind those of others", subIDs{uids: []byte("# x\nbob:100000:65536\nodd\n"), gids: []byte("alice:100000:65536\nbob:165536:65536"), helper: true}, alices.user, true,
			Finding{Level: Error, Message: "alice has none in /etc/subuid, so most images cannot be unpacked",
				Hint: "As root, run `usermod --add-subuids 231072-296607 alice`, and then yourself `podman system migrate`."}},
		{"elsewhere", subIDs{nsswitch: []byte("passwd: files\nsubid: sss\n"), helper: true}, alices.user, true,
			Finding{Level: OK, Message: "they are not in files (subid in /etc/nsswitch.conf)"}},
		{"no helper", subIDs{}, alices.user, true, Finding{Level: Error, Message: "newuidmap is missing, so that containers can have one user only",
			Hint: "Install it (package uidmap of Debian, shadow-utils of Fedora)."}},
		{"root", subIDs{}, User{"root", 0}, true, Finding{Level: OK, Message: "none are needed"}},
		{"no Podman", subIDs{}, alices.user, false, Finding{Level: OK, Message: "none are needed"}},
	} {
		expectFindings(t, test.name, checkSubIDs(test.ids, test.user, test.needed), "subordinate-ids", test.want)
	}
	p := below(t, paths.User, map[string]string{"/etc/subuid": "u", "/etc/subgid": "g", "/etc/nsswitch.conf": "n", "/usr/bin/newuidmap": ""})
	if diff := cmp.Diff(subIDs{[]byte("u"), []byte("g"), []byte("n"), true}, lookAtSubIDs(p), cmp.AllowUnexported(subIDs{})); diff != "" {
		t.Error(diff)
	}
}
