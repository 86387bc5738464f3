package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/workload"
)

// Labels that tell which container is whose. Stopping and removing go by them, never by a name, which a rename moves.
const (
	LabelWorkload   = "io.sitelet.workload"
	LabelGeneration = "io.sitelet.generation"
	LabelHost       = "io.sitelet.host" // the host name, of containers in bridge mode
)

// Network is the bridge network of all containers in network mode bridge: unlike Podman's default one it has DNS.
const Network = "sitelet"

// stopTimeout is what Kanto gives a container before it kills it (default_ctrs_stop_timeout).
const stopTimeout = 30

// kantoCapabilities are those of containerd's default set that Podman's lacks (containerd oci/spec.go, containers/common).
var kantoCapabilities = []string{"CAP_AUDIT_WRITE", "CAP_MKNOD", "CAP_NET_RAW"}

// Rendered is one workload as text.
type Rendered struct {
	Name       string
	Source     string // path of the descriptor
	Generation workload.Digest
	Revision   workload.Digest
	Render     workload.Digest // of Unit and Create
	Wanted     bool            // started at boot
	Inputs     []workload.Input
	Text       []byte // of the descriptor
	Image      string
	Pull       string // policy
	Keys       []descriptor.DecryptKey
	Quadlet    quadlet.File
	Unit       []byte // NAME.service, for everyone to read
	Create     []byte // HookData, which holds secrets
	Site       *SiteData
}

// renderContainers turns a set of containers that passed descriptor.CheckSet into text, in the order of the set. It leaves out, with a
// finding, what no Podman can be told. pins are the ids of images that moved tags were followed to, by workload.
func renderContainers(set []*descriptor.Container, pins map[string]string, facts hostFacts) ([]Rendered, diag.List) {
	around := lookAround(set)
	rendered := make([]Rendered, len(set))
	errs := make([]error, len(set))
	inParallel(len(set), func(i int) {
		rendered[i], errs[i] = renderContainer(set[i], pins[set[i].Name], around, facts)
	})
	out := rendered[:0]
	var found diag.List
	for i, c := range set {
		if errs[i] != nil {
			found = append(found, diag.Diagnostic{File: c.Source, Line: c.NameAt.Line, Column: c.NameAt.Column,
				Message: errs[i].Error(), Secret: slices.Contains(c.SecretLines, c.NameAt.Line)})
			continue
		}
		out = append(out, rendered[i])
	}
	return out, found
}

func renderContainer(c *descriptor.Container, pin string, around surroundings, facts hostFacts) (Rendered, error) {
	r := Rendered{
		Name: c.Name, Source: c.Source, Wanted: c.AutoStart, Inputs: c.Inputs(), Text: c.SourceText,
		Image: c.Image, Pull: c.Pull, Keys: c.DecryptKeys,
	}
	if pin != "" {
		r.Inputs = append(r.Inputs, workload.Input{Field: "image.id", Value: pin})
	}
	r.Generation, r.Revision = workload.Generation(r.Inputs), workload.Revision(r.Inputs)
	r.Quadlet = container(c, r.Generation)
	// What can be written for the oldest Podman can be for all.
	if _, err := r.Quadlet.Text(quadlet.Minimum); err != nil {
		return r, err
	}
	r.Create = []byte(toJSON(hookData(c, r, around)))
	r.Unit = service(c, r, around, facts)
	r.seal()
	return r, nil
}

// seal names the two texts of a rendering by what is in them.
func (r *Rendered) seal() {
	h := sha256.New()
	h.Write(r.Unit)
	h.Write(r.Create)
	r.Render = workload.Digest(hex.EncodeToString(h.Sum(nil))[:24])
	r.Unit = append(r.Unit, "Render="+string(r.Render)+"\n"...)
}

// container is what podman create gets. What Quadlet has no key for is in HookData.
func container(c *descriptor.Container, generation workload.Digest) quadlet.File {
	f := make(quadlet.File, 0, 32)
	f.Add("ContainerName", c.Name)
	f.Add("Image", c.Image)
	f.Add("Pull", c.Pull)
	f.Add("Label", LabelWorkload, c.Name)
	f.Add("Label", LabelGeneration, string(generation))
	addProcess(&f, c)
	addSecurity(&f, c)
	addNetwork(&f, c)
	addMemory(&f, c.Memory)
	addLog(&f, c)
	addHealth(&f, c.Health)
	for _, m := range c.Mounts {
		f.Bind(m.Source, m.Destination, "bind-propagation="+m.Propagation)
	}
	return f
}

func addProcess(f *quadlet.File, c *descriptor.Container) {
	for _, e := range c.Env {
		if e.Unset {
			// Environment=NAME would copy the host's value.
			f.Add("PodmanArgs", "--unsetenv="+e.Name)
			continue
		}
		f.Add("Environment", e.Name, e.Value)
	}
	if c.TTY {
		f.Add("PodmanArgs", "--tty")
	}
	if c.OpenStdin {
		f.Add("PodmanArgs", "--interactive")
	}
	if c.Runtime != "" {
		f.Add("GlobalArgs", "--runtime="+c.Runtime)
	}
	f.Add("StopTimeout", strconv.Itoa(stopTimeout))
	if len(c.Cmd) > 0 {
		f.Add("Exec", c.Cmd...)
	}
}

func addSecurity(f *quadlet.File, c *descriptor.Container) {
	f.Add("NoNewPrivileges", "true")
	f.Add("Ulimit", "nofile=1024:1024")
	if c.Privileged {
		f.Add("PodmanArgs", "--privileged")
		return
	}
	for _, name := range kantoCapabilities {
		if !slices.Contains(c.Capabilities, name) {
			f.Add("AddCapability", name)
		}
	}
	for _, name := range c.Capabilities {
		f.Add("AddCapability", name)
	}
	for _, d := range c.Devices {
		f.Add("AddDevice", d.HostPath+":"+d.ContainerPath+":"+d.Permissions)
	}
}

func addNetwork(f *quadlet.File, c *descriptor.Container) {
	if c.Network == "host" {
		f.Add("Network", "host")
	} else {
		f.Add("Network", Network)
		f.Add("HostName", c.HostName)
		f.Add("NetworkAlias", c.HostName)
		f.Add("Label", LabelHost, c.HostName)
		if c.DomainName != "" {
			f.Add("NetworkAlias", c.HostName+"."+c.DomainName)
			f.Add("PodmanArgs", "--dns-search="+c.DomainName)
		}
	}
	for _, p := range c.Ports {
		f.Add("PublishPort", publish(p))
	}
	for _, h := range c.Hosts {
		switch h.Kind {
		case descriptor.HostAddress:
			f.Add("AddHost", h.Name+":"+h.Value)
		case descriptor.HostGateway:
			f.Add("AddHost", h.Name+":host-gateway")
		}
	}
}

// publish writes a port in the form of podman create --publish. A range on the host's side stands for one port of it: the
// create hook picks it.
func publish(p descriptor.Port) string {
	host := strconv.Itoa(int(p.HostPort))
	if p.HostPortEnd > p.HostPort {
		host += "-" + strconv.Itoa(int(p.HostPortEnd))
	}
	return bracket(p.HostIP) + ":" + host + ":" + strconv.Itoa(int(p.ContainerPort)) + "/" + p.Proto
}

func bracket(ip netip.Addr) string {
	if ip.Is6() {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

func addMemory(f *quadlet.File, m descriptor.Memory) {
	if m.Limit > 0 {
		f.Add("PodmanArgs", "--memory="+strconv.FormatInt(m.Limit, 10))
	}
	if m.Reservation > 0 {
		f.Add("PodmanArgs", "--memory-reservation="+strconv.FormatInt(m.Reservation, 10))
	}
	if m.Swap != 0 {
		f.Add("PodmanArgs", "--memory-swap="+strconv.FormatInt(m.Swap, 10))
	}
}

// addLog bounds the log by the product of size and count: Podman keeps one file and begins it anew when it is full.
func addLog(f *quadlet.File, c *descriptor.Container) {
	if c.Log.Driver == "none" {
		f.Add("LogDriver", "none")
		return
	}
	f.Add("LogDriver", "k8s-file")
	f.Add("LogOpt", "max-size="+strconv.FormatInt(c.Log.MaxSize*int64(c.Log.MaxFiles), 10))
	if c.Log.RootDir != "" {
		f.Add("LogOpt", "path="+c.Log.RootDir+"/"+c.Name+".log")
	}
}

func addHealth(f *quadlet.File, h *descriptor.Health) {
	if h == nil {
		return
	}
	f.Add("HealthCmd", healthCommand(h))
	f.Add("HealthInterval", h.Interval.String())
	f.Add("HealthTimeout", h.Timeout.String())
	f.Add("HealthStartPeriod", h.StartPeriod.String())
	f.Add("HealthRetries", strconv.Itoa(h.Retries))
	f.Add("Notify", "healthy")
}

// healthCommand writes a check in the forms of podman-create(1), --health-cmd, that Podman 5.4 keeps as they are. It takes a
// JSON array of several words for them, but one of one word for a shell's text, and one that begins with CMD for one word.
func healthCommand(h *descriptor.Health) string {
	switch {
	case h.Shell:
		return toJSON([]string{"CMD-SHELL", h.Command[0]})
	case len(h.Command) > 1:
		return toJSON(h.Command)
	case strings.ContainsAny(h.Command[0], " \t\n"):
		return toJSON([]string{"CMD-SHELL", "'" + strings.ReplaceAll(h.Command[0], "'", `'\''`) + "'"})
	}
	return "CMD " + h.Command[0]
}

// HookData is what the hooks need to know of a workload, in JSON: enough to make its container without its descriptor, by
// whatever Podman the host has then.
type HookData struct {
	Generation workload.Digest
	Revision   workload.Digest
	Inputs     []workload.Input // what the two digest
	Wanted     bool             // started at boot
	Image      string
	Bridge     bool                    `json:",omitempty"` // needs Network
	Lookup     []descriptor.Host       `json:",omitempty"` // addresses to be found at each start
	Hooks      []descriptor.Hook       `json:",omitempty"`
	Keys       []descriptor.DecryptKey `json:",omitempty"`
	LogDir     string                  `json:",omitempty"` // to be made
	Health     bool                    `json:",omitempty"` // has a health check
	Reserved   []string                `json:",omitempty"` // PROTO/PORT that other descriptors publish, within this one's ranges
	Quadlet    quadlet.File
	Site       *SiteData `json:",omitempty"` // of a site's router
}

func hookData(c *descriptor.Container, r Rendered, around surroundings) HookData {
	data := HookData{
		Generation: r.Generation, Revision: r.Revision, Inputs: r.Inputs, Wanted: r.Wanted, Image: c.Image, Bridge: c.Network != "host",
		Lookup: lookups(c), Hooks: c.Hooks, Keys: c.DecryptKeys, Reserved: around.reserved(c), Quadlet: r.Quadlet,
	}
	data.Health = c.Health != nil
	if c.Log.Driver != "none" {
		data.LogDir = c.Log.RootDir
	}
	return data
}

// lookups are the hosts whose addresses are known only when the container starts.
func lookups(c *descriptor.Container) []descriptor.Host {
	var out []descriptor.Host
	for _, h := range c.Hosts {
		if h.Kind == descriptor.HostInterface || h.Kind == descriptor.HostContainer {
			out = append(out, h)
		}
	}
	return out
}

// toJSON is for values that always have a JSON form.
func toJSON(v any) string {
	var text strings.Builder
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(text.String(), "\n")
}
