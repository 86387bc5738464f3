package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/engine"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/systemd"
)

func TestPermissions(t *testing.T) {
	p := below(t, paths.System, map[string]string{"/etc/sitelet/containers/rack/db.json": "{}", "/etc/sitelet/containers/web.json": "{}",
		"/etc/sitelet/sitelet.toml": "", "/var/lib/sitelet/workloads/web.json": "{}", "/var/lib/sitelet-ports/0": ""})
	me := User{"me", os.Getuid()}
	chmod := func(path string, mode os.FileMode) {
		if err := os.Chmod(p.Below(path), mode); err != nil {
			t.Fatal(err)
		}
	}
	look := func() string {
		var all []string
		for _, f := range checkPermissions(lookAtPermissions(p, me, inputs{})) {
			if f.Check != "permissions" {
				t.Errorf("a finding of %s", f.Check)
			}
			all = append(all, f.Level.String()+": "+f.Message+". "+f.Hint)
		}
		return strings.ReplaceAll(strings.Join(all, "\n"), p.Root, "")
	}
	chmod("/var/lib/sitelet-ports", 0o777|fs.ModeSticky)
	if got, want := look(), "ok: nobody else may change what is read, and all of it can be read. "; got != want {
		t.Errorf("got %s", got)
	}
	chmod("/etc/sitelet/containers/rack", 0o777)
	chmod("/etc/sitelet/containers/web.json", 0o666)
	chmod("/etc/sitelet/sitelet.toml", 0o646)
	chmod("/var/lib/sitelet", 0o777)
	chmod("/var/lib/sitelet-ports", 0o777)
	const others = ", so others than its owner could change what runs as root. Run `chmod go-w "
	want := strings.Join([]string{
		"error: /etc/sitelet/containers/rack: is not used: /etc/sitelet/containers/rack has mode 0777" + others + "/etc/sitelet/containers/rack` if you trust what is in it.",
		"error: /etc/sitelet/containers/web.json: is not used: /etc/sitelet/containers/web.json has mode 0666" + others + "/etc/sitelet/containers/web.json` if you trust what is in it.",
		"error: /etc/sitelet/sitelet.toml has mode 0646" + others + "/etc/sitelet/sitelet.toml` if you trust what is in it.",
		"error: /var/lib/sitelet has mode 0777" + others + "/var/lib/sitelet` if you trust what is in it.",
		"error: /var/lib/sitelet-ports has mode 0777, where each user has to write, and none to remove what others have. Run `chmod 1777 /var/lib/sitelet-ports`.",
	}, "\n")
	if got := look(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestForeign(t *testing.T) {
	per := permissions{scope: paths.User, user: alices.user, foreign: []owned{{"/home/alice/.local/state/sitelet", 0}},
		refused: diag.List{{File: "/home/alice/x.json", Message: "cannot be read: permission denied"}},
		ports:   directory{path: "/var/lib/sitelet-ports", err: fs.ErrNotExist}}
	expectFindings(t, "a user's", checkPermissions(per), "permissions",
		Finding{Level: Error, Message: "/home/alice/x.json: cannot be read: permission denied", Hint: "Let alice read it."},
		Finding{Level: Error, Message: "/home/alice/.local/state/sitelet belongs to user 0, and alice has to write there", Hint: "As root, run `chown -R alice: /home/alice/.local/state/sitelet`."},
		Finding{Level: Warning, Message: "/var/lib/sitelet-ports is missing, where each user with a site notes its ports", Hint: "As root, run `systemd-tmpfiles --create`."})
	per = permissions{scope: paths.System, user: User{"root", 0}, ports: directory{path: "/p", uid: 1000, mode: portsMode}}
	expectFindings(t, "the registry is a user's", checkPermissions(per), "permissions",
		Finding{Level: Error, Message: "/p belongs to user 1000, who could remove what others have noted there", Hint: "Run `chown root:root /p`."})
}

func TestFiles(t *testing.T) {
	expectFindings(t, "warnings", checkFiles(diag.List{{Severity: diag.Warning}, {File: "open"}}, diag.List{{File: "open"}}, host), "files", Finding{Level: OK, Message: "no configuration, descriptor or resource has errors"})
	expectFindings(t, "errors", checkFiles(diag.List{{File: "a"}, {File: "b"}, {Severity: diag.Warning}}, nil, host), "files", Finding{Level: Warning,
		Message: "2 errors in configuration, descriptors or resources, of which only what is good is used", Hint: "Run `sitelet check`, which says what to do about each."})
}

func TestGenerator(t *testing.T) {
	pending := hooks.Planned{Actions: []plan.Action{{Name: "web", Verb: plan.Create}, {Name: "db", Verb: plan.None}, {Name: "app", Verb: plan.Resume}}}
	const see = "See what it comes to with `sitelet plan`, and run `sitelet reload`."
	for _, test := range []struct {
		name string
		in   inputs
		u    units
		want Finding
	}{
		{"not run", inputs{plan: pending}, units{}, Finding{Level: Warning, Message: "it has not run in this boot", Hint: "Run `systemctl daemon-reload`; if that changes nothing, install sitelet anew."}},
		{"nothing to do", inputs{hasRun: true}, units{}, Finding{Level: OK, Message: "units are those of the files that there are"}},
		{"a change", inputs{hasRun: true, plan: pending}, units{}, Finding{Level: Note, Message: "1 change of files not taken up yet", Hint: see}},
		{"auto-reload", inputs{hasRun: true, plan: pending}, loaded("sitelet-reload.path", "active"), Finding{Level: Warning, Message: "1 change of files not taken up yet, although auto-reload is on", Hint: see}},
		{"auto-reload at work", inputs{hasRun: true, plan: pending}, loaded("sitelet-reload.path", "active", "sitelet-reload.service", "activating"),
			Finding{Level: Note, Message: "1 change of files not taken up yet", Hint: see}},
	} {
		expectFindings(t, test.name, checkGenerator(test.in, test.u, host), "generator", test.want)
	}
}

func TestAutoReload(t *testing.T) {
	const off = "Changes are taken up by `sitelet reload`; `systemctl enable --now sitelet-containers.path` has those of descriptors taken up by themselves, `systemctl enable --now sitelet-sites.path` those of sites."
	for _, test := range []struct {
		name string
		u    units
		want []Finding
	}{
		{"off", loaded(), []Finding{{Level: Note, Message: "off", Hint: off}}},
		{"unknown", units{err: errNone}, []Finding{{Level: Note, Message: "not looked at: systemd could not be asked"}}},
		{"on", loaded("sitelet-containers.path", "active", "sitelet-site@east.path", "active", "sitelet-reload.path", "active"),
			[]Finding{{Level: OK, Message: "on for descriptors and namespace east"}}},
		{"half", loaded("sitelet-sites.path", "active", "sitelet-reload.path", "failed"), []Finding{{Level: Error,
			Message: "sitelet-reload.path is failed, so changes are seen and not taken up", Hint: "Run `systemctl restart sitelet-reload.path`."}}},
		{"failed", loaded("sitelet-site@east.path", "failed"), []Finding{{Level: Error,
			Message: "sitelet-site@east.path has failed, so changes of namespace east are not seen", Hint: "Run `systemctl restart sitelet-site@east.path`."}}},
	} {
		expectFindings(t, test.name, checkAutoReload(test.u, []string{"east", "west"}, host), "auto-reload", test.want...)
	}
}

func TestUnits(t *testing.T) {
	all := loaded("sitelet-boot.service", "failed", "sitelet-trial@web.service", "failed", "sitelet-create@web.service", "failed", "web.service", "active",
		"sitelet-create@db.service", "failed", "sitelet-reload.service", "inactive", "skupper-east.service", "failed", "sitelet-reload.path", "failed")
	hint := func(unit string) string {
		return "Run `systemctl restart " + unit + "` when what `journalctl -u " + unit + "` says is put right."
	}
	expectFindings(t, "failed", checkUnits(all, host), "units",
		Finding{Level: Error, Message: "sitelet-boot.service has failed", Hint: hint("sitelet-boot.service")},
		Finding{Level: Error, Message: "sitelet-create@db.service has failed", Hint: hint("sitelet-create@db.service")})
	expectFindings(t, "none", checkUnits(loaded("sitelet-trial@web.service", "failed"), host), "units", Finding{Level: OK, Message: "none of sitelet's own has failed"})
}

func TestOrphans(t *testing.T) {
	expectFindings(t, "one", checkOrphans([]plan.Action{{Name: "web", Verb: plan.None}, {Name: "db", Verb: plan.Orphaned}}, host), "orphans", Finding{Level: Warning,
		Message: "the descriptor of db is gone, and db is still there", Hint: "Run `sitelet prune db`, or bring the descriptor back."})
	expectFindings(t, "none", checkOrphans(nil, host), "orphans", Finding{Level: OK, Message: "none"})
}

func TestLeftovers(t *testing.T) {
	for _, test := range []struct {
		name string
		l    leftovers
		u    units
		want []Finding
	}{
		{"none", leftovers{}, loaded("sitelet-trial@web.service", "inactive"), []Finding{{Level: OK, Message: "none"}}},
		{"no podman", leftovers{err: errNone}, units{}, []Finding{{Level: Note, Message: "not looked at: podman could not be asked"}}},
		{"a reload", leftovers{reloading: true, resumed: []string{"web"}}, units{}, []Finding{{Level: Note, Message: "a reload is under way, and what it has now is no leftover"}}},
		{"a trial", leftovers{resumed: []string{"web"}, marks: []mark{{"web", "/m/web", true}}, containers: []container{{"web.1", "web", false}}},
			loaded("sitelet-trial@web.service", "activating"), []Finding{{Level: Note, Message: "an update of web is under way"}}},
		{"cut off", leftovers{resumed: []string{"web"}, marks: []mark{{"web", "/m/web", true}}}, loaded("sitelet-trial@web.service", "failed"),
			[]Finding{{Level: Error, Message: "an update of web was cut off", Hint: "Run `sitelet reload`, which goes on with it."}}},
		{"no systemd", leftovers{resumed: []string{"web"}, marks: []mark{{"first", "/m/first", true}}}, units{err: errNone}, []Finding{
			{Level: Note, Message: "an update of web is under way or was cut off, and systemd would know which"},
			{Level: Note, Message: "/m/first marks an update of first, which systemd would know more of"}}},
		{"marks", leftovers{marks: []mark{{"first", "/m/first", true}, {"ghost", "/m/ghost", false}}}, units{}, []Finding{
			{Level: Warning, Message: "/m/first marks a first start of first that nobody watches", Hint: "Run `systemctl start sitelet-trial@first.service`, which does."},
			{Level: Warning, Message: "/m/ghost marks an update of what is not known", Hint: "Run `rm /m/ghost`."}}},
		{"containers", leftovers{containers: []container{{"web.1", "web", true}, {"db.1", "db", false}}}, units{}, []Finding{
			{Level: Warning, Message: "the container web.1 is of no version of web", Hint: "Run `sitelet reload`, which takes it up or removes it."},
			{Level: Warning, Message: "the container db.1 is of no version of db that is kept", Hint: "Run `podman rm --force db.1`."}}},
	} {
		expectFindings(t, test.name, checkLeftovers(test.l, test.u, host), "leftovers", test.want...)
	}
}

// containers is an engine that has some, and does nothing else.
type containers struct {
	hooks.Engine
	all []engine.Container
}

func (c containers) Containers(context.Context, string) ([]engine.Container, error) {
	return c.all, nil
}

func TestLookAtLeftovers(t *testing.T) {
	p := below(t, paths.System, map[string]string{"/run/sitelet/trials/web": "", "/run/sitelet/trials/ghost": "", "/run/sitelet/locks/reload": ""})
	labelled := func(name, workload, generation string) engine.Container {
		return engine.Container{ID: "id", Names: []string{name}, Labels: map[string]string{"io.sitelet.workload": workload, "io.sitelet.generation": generation}}
	}
	h := hooks.Hooks{Paths: p, Engine: containers{all: []engine.Container{labelled("web", "web", "g2"), labelled("web.g1", "web", "g1"), labelled("web.g0", "web", "g0"), labelled("new.g1", "new", "g1")}}}
	in := inputs{known: []state.Workload{{Name: "web", Current: &state.Version{Generation: "g1"}, Trial: &state.Trial{Version: state.Version{Generation: "g2"}}}},
		plan: hooks.Planned{Actions: []plan.Action{{Name: "web", Verb: plan.Resume}, {Name: "new", Verb: plan.Create}}}}
	l := lookAtLeftovers(t.Context(), h, in)
	if l.reloading || l.err != nil || len(l.resumed) != 1 || l.resumed[0] != "web" {
		t.Errorf("got %+v", l)
	}
	if len(l.marks) != 2 || l.marks[0] != (mark{"ghost", h.MarkPath("ghost"), false}) || l.marks[1] != (mark{"web", h.MarkPath("web"), true}) {
		t.Errorf("marks are %v", l.marks)
	}
	if len(l.containers) != 2 || l.containers[0] != (container{"web.g0", "web", true}) || l.containers[1] != (container{"new.g1", "new", true}) {
		t.Errorf("containers are %v", l.containers)
	}
}

func TestCertificates(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	days := func(n int) time.Time { return now.AddDate(0, 0, n) }
	const reload = "Run `sitelet reload east`, which makes a new one."
	given := func(from string) string {
		return "Put a newer one in its place: " + from + ". Then run `sitelet reload east`."
	}
	for _, test := range []struct {
		name string
		age  pki.Age
		want Finding
	}{
		{"made here", pki.Age{Name: "c", Renewed: true, Due: days(1), End: days(500)}, Finding{}},
		{"due today", pki.Age{Name: "c", Renewed: true, Due: days(-1), End: days(500)}, Finding{}},
		{"late", pki.Age{Name: "c", Renewed: true, Due: days(-3), End: days(500)}, Finding{Level: Warning, Message: "the certificate c of namespace east was to be renewed on 2026-05-29", Hint: reload}},
		{"expired", pki.Age{Name: "c", Renewed: true, Due: days(-500), End: days(-1)}, Finding{Level: Error, Message: "the certificate c of namespace east expired on 2026-05-31", Hint: reload}},
		{"a CA", pki.Age{Name: "c", Authority: true, Due: days(-500), End: days(-1)}, Finding{Level: Error, Message: "the CA c of namespace east expired on 2026-05-31",
			Hint: given("`sitelet check` says where it comes from")}},
		{"given", pki.Age{Name: "c", From: "/certs/c", Due: days(-300), End: days(31)}, Finding{}},
		{"given, near its end", pki.Age{Name: "c", From: "/certs/c", Due: days(-300), End: days(29)}, Finding{Level: Warning, Message: "the certificate c of namespace east expires on 2026-06-30", Hint: given("/certs/c")}},
		{"given, of a short life", pki.Age{Name: "c", From: "/certs/c", Due: days(1), End: days(10)}, Finding{}},
	} {
		got := checkCertificates([]siteCertificates{{"east", []pki.Age{test.age}}}, now, host)
		want := test.want
		if want == (Finding{}) {
			want = Finding{Level: OK, Message: "none of 1 certificate of sites is near its end"}
		}
		expectFindings(t, test.name, got, "certificates", want)
	}
	expectFindings(t, "no site", checkCertificates(nil, now, host), "certificates", Finding{Level: OK, Message: "no site has any"})
}

func TestRenewal(t *testing.T) {
	u := loaded("skupper-east.service", "active", "sitelet-renew@east.timer", "active", "skupper-west.service", "active", "skupper-off.service", "inactive")
	expectFindings(t, "one of two", checkRenewal(u, []string{"east", "west", "off"}, alices), "renewal", Finding{Level: Error,
		Message: "sitelet-renew@west.timer is inactive, so certificates of namespace west are not renewed", Hint: "Run `systemctl --user start sitelet-renew@west.timer`."})
	expectFindings(t, "all", checkRenewal(u, []string{"east", "off"}, host), "renewal", Finding{Level: OK, Message: "the timer of each site that runs is active"})
}

// A host with nothing that can be asked has a finding of each check all the same.
func TestExamineNothing(t *testing.T) {
	p := below(t, paths.System, nil)
	none := func(context.Context) (hooks.Manager, error) { return nil, errNone }
	found, err := Examine(t.Context(), Host{
		Hooks:   hooks.Hooks{Paths: p, Engine: engine.Podman{Command: filepath.Join(p.Root, "podman")}, Systemd: none, Now: time.Now, Log: t.Logf},
		Podman:  podmanSays(""),
		Systemd: func() (Systemd, error) { return nil, errNone },
		User:    User{"me", os.Getuid()},
	})
	if err != nil {
		t.Fatal(err)
	}
	var checks []string
	for _, f := range found {
		if len(checks) == 0 || checks[len(checks)-1] != f.Check {
			checks = append(checks, f.Check)
		}
	}
	const want = "podman quadlet systemd kernel cgroup selinux permissions files generator auto-reload units orphans leftovers ports certificates renewal storage"
	if got := strings.Join(checks, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// asked is a systemd that has some units.
type asked []systemd.Loaded

func (a asked) Loaded(context.Context, ...string) ([]systemd.Loaded, error) { return a, nil }

func TestLookAtUnits(t *testing.T) {
	h := Host{Systemd: func() (Systemd, error) { return asked{{Name: "a.service", State: "active"}}, nil }}
	if u := h.lookAtUnits(t.Context()); !u.active("a.service") || u.state("b.service") != "inactive" || u.err != nil {
		t.Errorf("got %v", u)
	}
	h.Systemd = func() (Systemd, error) { return nil, errNone }
	if u := h.lookAtUnits(t.Context()); !errors.Is(u.err, errNone) {
		t.Errorf("got %v", u)
	}
}
