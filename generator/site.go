package generator

import (
	"path/filepath"
	"strconv"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/unit"
	"github.com/sitelet/sitelet/internal/workload"
)

// SiteWorkload names the workload, and so the service, of a namespace's router, as upstream does.
func SiteWorkload(namespace string) string { return "skupper-" + namespace }

// RouterContainer names the container of a namespace's router, as upstream does.
func RouterContainer(namespace string) string { return namespace + "-skupper-router" }

const (
	// routerStop is how long a router may take to end, in seconds (skupper, pkg/nonkube/client/compat).
	routerStop = 10
	// routerStart is how long it may take until it answers, in seconds.
	routerStart = 2 * 60
	// routerHome is where the router's image looks for what it reads.
	routerHome = "/etc/skupper-router"
	// routerOOMScore has the kernel end a router before other services, as upstream does.
	routerOOMScore = 100
)

// SiteData is what the hooks need of the workload of a site's router.
type SiteData struct {
	Namespace string
	Platform  string
	Router    state.Router
	Argv      []string `json:",omitempty"` // of docker create, behind the name; Quadlet writes podman's
}

// renderSite renders the workload of a site's router. It has create inputs only: what can change while the router runs is
// compared with the router itself.
func renderSite(s state.Site, facts hostFacts) Rendered {
	r := Rendered{Name: SiteWorkload(s.Namespace), Source: s.Router.Source, Wanted: true, Image: s.Router.Image, Pull: "missing", Inputs: siteInputs(s)}
	r.Text = SiteText(r.Inputs)
	r.Generation, r.Revision = workload.Generation(r.Inputs), workload.Revision(r.Inputs)
	r.Site = &SiteData{Namespace: s.Namespace, Platform: s.Platform, Router: *s.Router}
	if s.Platform == "podman" {
		r.Quadlet = siteQuadlet(s, r)
	} else {
		r.Site.Argv = siteArgv(s, r)
	}
	r.Create = []byte(toJSON(HookData{Generation: r.Generation, Revision: r.Revision, Inputs: r.Inputs, Wanted: true, Image: r.Image,
		Quadlet: r.Quadlet, Site: r.Site}))
	r.Unit = siteService(s, r, facts)
	r.seal()
	return r
}

// SiteText is what stands in the place of a descriptor's text where a refusal is remembered: a router that has failed may be tried
// again when it is another one, and not when only a listener is.
func SiteText(inputs []workload.Input) []byte { return []byte(toJSON(inputs)) }

func siteInputs(s state.Site) []workload.Input {
	mode := "interior"
	if s.Router.Edge {
		mode = "edge"
	}
	return []workload.Input{
		{Field: "platform", Value: s.Platform},
		{Field: "router.image", Value: s.Router.Image},
		{Field: "router.id", Value: s.RouterID()},
		{Field: "router.mode", Value: mode},
		{Field: "router.version", Value: s.Router.Release},
		{Field: "site.id", Value: s.ID},
		{Field: "user", Value: s.Router.User},
		{Field: "userns.keep-id", Value: strconv.FormatBool(s.Router.KeepID)},
		{Field: "home", Value: s.Router.Home},
	}
}

// pair is a name and a value, or two directories: of the host's and of the container's.
type pair struct{ a, b string }

// siteEnv is the environment of a router's container (skupper, internal/nonkube/compat/site_state_renderer.go).
func siteEnv(s state.Site) []pair {
	return []pair{
		{"APPLICATION_NAME", "skupper-router"},
		{"QDROUTERD_CONF", routerHome + "/config/skrouterd.json"},
		{"QDROUTERD_CONF_TYPE", "json"},
		{"SKUPPER_SITE_ID", s.ID},
		{"SSL_PROFILE_BASE_PATH", routerHome},
	}
}

func siteLabels(s state.Site, r Rendered) []pair {
	return []pair{
		{LabelWorkload, r.Name},
		{LabelGeneration, string(r.Generation)},
		{"application", "skupper-v2"},
		{"skupper.io/v2-component", "router"},
		{"skupper.io/site-id", s.ID},
	}
}

func siteMounts(s state.Site) []pair {
	return []pair{
		{filepath.Join(s.Router.Home, "runtime/router"), routerHome + "/config"},
		{filepath.Join(s.Router.Home, "runtime/certs"), routerHome + "/runtime/certs"},
	}
}

func siteQuadlet(s state.Site, r Rendered) quadlet.File {
	f := make(quadlet.File, 0, 24)
	f.Add("ContainerName", RouterContainer(s.Namespace))
	f.Add("Image", s.Router.Image)
	f.Add("Pull", r.Pull)
	f.Add("Network", "host")
	f.Add("StopTimeout", strconv.Itoa(routerStop))
	for _, l := range siteLabels(s, r) {
		f.Add("Label", l.a, l.b)
	}
	for _, e := range siteEnv(s) {
		f.Add("Environment", e.a, e.b)
	}
	for _, m := range siteMounts(s) {
		f.Bind(m.a, m.b, "relabel=shared")
	}
	f.Add("PodmanArgs", "--user="+s.Router.User, "--oom-score-adj="+strconv.Itoa(routerOOMScore))
	if s.Router.KeepID {
		f.Add("PodmanArgs", "--userns=keep-id")
	}
	return f
}

// siteArgv is the command line of docker create behind the name; of it, the labels are all that a native router needs.
func siteArgv(s state.Site, r Rendered) []string {
	var argv []string
	for _, l := range siteLabels(s, r) {
		argv = append(argv, "--label="+l.a+"="+l.b)
	}
	if s.Platform != "docker" {
		return argv
	}
	for _, e := range siteEnv(s) {
		argv = append(argv, "--env="+e.a+"="+e.b)
	}
	for _, m := range siteMounts(s) {
		argv = append(argv, "--volume="+m.a+":"+m.b+":z")
	}
	return append(argv, "--network=host", "--user="+s.Router.User, "--oom-score-adj="+strconv.Itoa(routerOOMScore),
		"--stop-timeout="+strconv.Itoa(routerStop), s.Router.Image)
}

// siteService renders the unit of a router: a container's, with hooks that write what the router reads before it starts, and
// compare it with what the router has once it runs and at each reload.
func siteService(s state.Site, r Rendered, facts hostFacts) []byte {
	out := section{}
	out.text.Grow(2048)
	out.write("# Generated by sitelet-generator for the Site in the file that SourcePath= names.\n")
	out.begin("Unit")
	out.add("Description", "Skupper router of "+s.Namespace)
	out.add("SourcePath", unit.Text(r.Source))
	out.online(facts.scope)
	out.add("RequiresMountsFor", unit.Word(s.Router.Home))
	switch s.Platform {
	case "podman":
		out.add("RequiresMountsFor", "%t/containers")
	case "docker":
		out.add("Wants", "docker.service")
		out.add("After", "docker.service")
	}
	out.helpers(r.Name, false)
	out.add("Wants", "sitelet-renew@"+s.Namespace+".timer")
	out.add("StartLimitIntervalSec", "0")
	out.begin("Service")
	out.add("ExecStartPre", "sitelet hook prepare "+r.Name)
	out.router(s, r)
	out.add("ExecStartPost", "sitelet hook started "+s.Namespace)
	out.add("ExecReload", "sitelet hook sync "+s.Namespace)
	// What is stopped ends as the signal's victim, which is no failure; of its own it is one.
	out.add("SuccessExitStatus", "137 143")
	out.add("RestartForceExitStatus", "137 143")
	out.add("Restart", "on-failure")
	out.add("RestartSec", seconds(oldRestartDelay))
	out.add("TimeoutStartSec", strconv.Itoa(routerStart))
	out.add("TimeoutStopSec", strconv.Itoa(routerStop+stopSlack))
	if facts.scope == paths.System {
		out.add("OOMScoreAdjust", strconv.Itoa(routerOOMScore))
	}
	out.digests(r)
	return out.text.Bytes()
}

// router adds how a platform runs one.
func (s *section) router(site state.Site, r Rendered) {
	switch site.Platform {
	case "podman":
		for _, line := range fromQuadlet {
			s.write(line, "\n")
		}
		s.add("ExecStart", podmanStart(RouterContainer(site.Namespace), r.Generation))
		s.stop(r.Name)
	case "docker":
		// Docker tells systemd nothing: the client, which is attached, ends with the container.
		s.add("Type", "exec")
		s.add("ExecStart", "sitelet hook run "+r.Name)
		s.add("ExecStop", "sitelet hook stop "+r.Name)
	default:
		s.add("Type", "exec")
		s.add("Environment", "SKUPPER_SITE_ID="+site.ID)
		s.add("ExecStart", unit.CommandLine("skrouterd", "-c", filepath.Join(site.Router.Home, "runtime/router/skrouterd.json")))
	}
}
