package descriptor

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sitelet/sitelet/internal/workload"
)

// Inputs returns what decides how the container runs, in canonical form: a fixed order of fields, sets sorted, lists as
// JSON, sizes in bytes, durations as Go writes them. What is empty is left out, so that a field that a later version
// knows changes no digest of a descriptor without it. Where the descriptor stands is no part of it.
func (c *Container) Inputs() []workload.Input {
	in := make(inputs, 0, 32)
	in.add("container_name", c.Name)
	in.add("image.name", c.Image)
	for _, k := range sorted(c.DecryptKeys, func(k DecryptKey) string { return k.Path }) {
		in = append(in, workload.Input{Field: "image.decrypt_config.keys[" + k.Path + "]", Value: k.Path + ":" + k.Password, Secret: true})
	}
	in.add("host_name", c.HostName)
	in.add("domain_name", c.DomainName)
	in.process(c)
	in.host(c)
	in.live(c)
	return in
}

// inputs collects create inputs, but for those of live.
type inputs []workload.Input

func (in *inputs) add(field, value string) {
	if value != "" {
		*in = append(*in, workload.Input{Field: field, Value: value})
	}
}

func (in *inputs) addLive(field, value string) {
	if value != "" {
		*in = append(*in, workload.Input{Field: field, Value: value, Live: true})
	}
}

// process adds what is about the container's own processes and files.
func (in *inputs) process(c *Container) {
	for _, m := range sorted(c.Mounts, func(m Mount) string { return m.Destination }) {
		in.add("mount_points["+m.Destination+"]", m.Source+":"+m.Propagation)
	}
	for i, h := range c.Hooks {
		field := "hooks[" + strconv.Itoa(i) + "]."
		in.add(field+"type", h.Stage)
		in.add(field+"path", h.Path)
		in.add(field+"args", array(h.Args))
		in.add(field+"env", array(h.Env))
		in.add(field+"timeout", number(int64(h.Timeout)))
	}
	for _, e := range sorted(c.Env, func(e EnvVar) string { return e.Name }) {
		value := e.Name
		if !e.Unset {
			value += "=" + e.Value
		}
		*in = append(*in, workload.Input{Field: "config.env[" + e.Name + "]", Value: value, Secret: SecretName(e.Name)})
	}
	in.add("config.cmd", array(c.Cmd))
	in.add("io_config.open_stdin", boolean(c.OpenStdin))
	in.add("io_config.tty", boolean(c.TTY))
}

// host adds what the host gives to the container.
func (in *inputs) host(c *Container) {
	in.add("host_config.network_mode", c.Network)
	in.add("host_config.privileged", boolean(c.Privileged))
	in.add("host_config.runtime", c.Runtime)
	for _, d := range sorted(c.Devices, func(d Device) string { return d.ContainerPath }) {
		in.add("host_config.devices["+d.ContainerPath+"]", d.HostPath+":"+d.Permissions)
	}
	for _, h := range sorted(c.Hosts, func(h Host) string { return h.String() }) {
		in.add("host_config.extra_hosts["+h.String()+"]", "true")
	}
	in.add("host_config.extra_capabilities", strings.Join(slices.Sorted(slices.Values(c.Capabilities)), " "))
	in.ports(c.Ports)
	in.add("host_config.log_config.driver_config.type", c.Log.Driver)
	in.add("host_config.log_config.driver_config.max_files", number(int64(c.Log.MaxFiles)))
	in.add("host_config.log_config.driver_config.max_size", number(c.Log.MaxSize))
	in.add("host_config.log_config.driver_config.root_dir", c.Log.RootDir)
	if h := c.Health; h != nil {
		command := array(h.Command)
		if h.Shell {
			command = h.Command[0]
		}
		in.add("sitelet.health.command", command)
		in.add("sitelet.health.shell", boolean(h.Shell))
		in.add("sitelet.health.interval", h.Interval.String())
		in.add("sitelet.health.timeout", h.Timeout.String())
		in.add("sitelet.health.start_period", h.StartPeriod.String())
		in.add("sitelet.health.retries", strconv.Itoa(h.Retries))
	}
}

// ports adds the container ports of each host side, since several mappings may share one range.
func (in *inputs) ports(ports []Port) {
	ports = slices.SortedFunc(slices.Values(ports), func(a, b Port) int {
		return cmp.Or(strings.Compare(a.hostSide(), b.hostSide()), cmp.Compare(a.ContainerPort, b.ContainerPort))
	})
	for i, p := range ports {
		value := strconv.Itoa(int(p.ContainerPort))
		if i > 0 && p.hostSide() == ports[i-1].hostSide() {
			(*in)[len(*in)-1].Value += " " + value
			continue
		}
		in.add("host_config.port_mappings["+p.hostSide()+"]", value)
	}
}

// live adds what a running container can take up, or what is only about its unit.
func (in *inputs) live(c *Container) {
	in.addLive("host_config.restart_policy.type", c.Restart.Policy)
	in.addLive("host_config.restart_policy.maximum_retry_count", number(int64(c.Restart.MaxRetries)))
	if c.Restart.MaxDelay > 0 {
		in.addLive("host_config.restart_policy.retry_timeout", c.Restart.MaxDelay.String())
	}
	in.addLive("host_config.resources.memory", number(c.Memory.Limit))
	in.addLive("host_config.resources.memory_reservation", number(c.Memory.Reservation))
	in.addLive("host_config.resources.memory_swap", number(c.Memory.Swap))
	in.addLive("sitelet.after", array(slices.Sorted(slices.Values(c.After))))
	in.addLive("sitelet.requires", array(slices.Sorted(slices.Values(c.Requires))))
	if !c.AutoStart {
		in.addLive("sitelet.auto_start", "false")
	}
	in.addLive("sitelet.pull", c.Pull)
}

// String returns the host as an entry of extra_hosts, in one way for what means the same.
func (h Host) String() string {
	switch h.Kind {
	case HostGateway:
		return h.Name + ":host_ip"
	case HostInterface:
		return h.Name + ":host_ip_" + h.Value
	case HostContainer:
		return h.Name + ":container_" + h.Value
	default:
		return h.Name + ":" + h.Value
	}
}

// hostSide returns what is taken of the host, such as 0.0.0.0:8000-8010/tcp.
func (p Port) hostSide() string {
	side := netip.AddrPortFrom(p.HostIP, p.HostPort).String()
	if p.HostPortEnd != p.HostPort {
		side += "-" + strconv.Itoa(int(p.HostPortEnd))
	}
	return side + "/" + p.Proto
}

// sorted returns a copy of list in the order of its keys; what has equal keys keeps its order.
func sorted[T any](list []T, key func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	return list
}

// array returns list as a JSON array, "" for an empty one.
func array(list []string) string {
	if len(list) == 0 {
		return ""
	}
	b := []byte{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, s) // fails for what is not UTF-8 only, which no descriptor has
	}
	return string(append(b, ']'))
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func boolean(b bool) string {
	if b {
		return "true"
	}
	return ""
}
