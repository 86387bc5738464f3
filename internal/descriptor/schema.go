package descriptor

// kind is what the value of a key may be. null stands for an absent value with every kind.
type kind uint8

const (
	textKind     kind = iota // a string
	flagKind                 // true or false
	integerKind              // a whole number
	durationKind             // a whole number or a string
	commandKind              // a string or a list of strings
	textsKind                // a list of strings
	objectKind               // of the keys of key.of
	objectsKind              // a list of these
	ignoredKind              // anything; has no effect
)

// key is one key of an object.
type key struct {
	name string
	kind kind
	of   *shape
}

// shape is an object of the format: the keys it may have.
type shape struct {
	path string // where it is, for messages; "" for the descriptor itself
	keys []key  // at most 64
}

// find returns the index of the key called name, or -1.
func (s *shape) find(name string) int {
	for i := range s.keys {
		if s.keys[i].name == name {
			return i
		}
	}
	return -1
}

// The shapes follow types.Container and what it holds, in containerm/containers/types of
// eclipse-kanto/container-management; "sitelet" is an extension, which upstream does not read.
var (
	rootShape = shape{"", []key{
		{name: "container_name"},
		{name: "container_id"},
		{"image", objectKind, &imageShape},
		{name: "host_name"},
		{name: "domain_name"},
		{"config", objectKind, &configShape},
		{"host_config", objectKind, &hostShape},
		{"io_config", objectKind, &ioShape},
		{"mount_points", objectsKind, &mountShape},
		{"hooks", objectsKind, &hookShape},
		{"sitelet", objectKind, &extensionShape},
		{name: "resolv_conf_path", kind: ignoredKind},
		{name: "hosts_path", kind: ignoredKind},
		{name: "hostname_path", kind: ignoredKind},
		{name: "network_settings", kind: ignoredKind},
		{name: "state", kind: ignoredKind},
		{name: "created", kind: ignoredKind},
		{name: "restart_count", kind: ignoredKind},
		{name: "manually_stopped", kind: ignoredKind},
		{name: "started_successfully_before", kind: ignoredKind},
	}}
	imageShape = shape{"image", []key{
		{name: "name"},
		{"decrypt_config", objectKind, &decryptShape},
	}}
	decryptShape = shape{"image.decrypt_config", []key{
		{name: "keys", kind: textsKind},
		{name: "recipients", kind: textsKind},
	}}
	configShape = shape{"config", []key{
		{name: "env", kind: textsKind},
		{name: "cmd", kind: textsKind},
	}}
	ioShape = shape{"io_config", []key{
		{name: "open_stdin", kind: flagKind},
		{name: "tty", kind: flagKind},
		{name: "attach_stdin", kind: flagKind},
		{name: "attach_stdout", kind: flagKind},
		{name: "attach_stderr", kind: flagKind},
		{name: "stdin_once", kind: flagKind},
	}}
	mountShape = shape{"mount_points[]", []key{
		{name: "source"},
		{name: "destination"},
		{name: "propagation_mode"},
	}}
	hookShape = shape{"hooks[]", []key{
		{name: "path"},
		{name: "args", kind: textsKind},
		{name: "env", kind: textsKind},
		{name: "timeout", kind: integerKind},
		{name: "type", kind: integerKind},
	}}
	hostShape = shape{"host_config", []key{
		{name: "network_mode"},
		{name: "privileged", kind: flagKind},
		{name: "runtime"},
		{"devices", objectsKind, &deviceShape},
		{name: "extra_hosts", kind: textsKind},
		{name: "extra_capabilities", kind: textsKind},
		{"port_mappings", objectsKind, &portShape},
		{"restart_policy", objectKind, &restartShape},
		{"resources", objectKind, &resourcesShape},
		{"log_config", objectKind, &logShape},
	}}
	deviceShape = shape{"host_config.devices[]", []key{
		{name: "path_on_host"},
		{name: "path_in_container"},
		{name: "cgroup_permissions"},
	}}
	portShape = shape{"host_config.port_mappings[]", []key{
		{name: "proto"},
		{name: "container_port", kind: integerKind},
		{name: "host_ip"},
		{name: "host_port", kind: integerKind},
		{name: "host_port_end", kind: integerKind},
	}}
	restartShape = shape{"host_config.restart_policy", []key{
		{name: "type"},
		{name: "maximum_retry_count", kind: integerKind},
		{name: "retry_timeout", kind: durationKind},
	}}
	resourcesShape = shape{"host_config.resources", []key{
		{name: "memory"},
		{name: "memory_reservation"},
		{name: "memory_swap"},
	}}
	logShape = shape{"host_config.log_config", []key{
		{"driver_config", objectKind, &driverShape},
		{"mode_config", objectKind, &modeShape},
	}}
	driverShape = shape{"host_config.log_config.driver_config", []key{
		{name: "type"},
		{name: "max_files", kind: integerKind},
		{name: "max_size"},
		{name: "root_dir"},
	}}
	modeShape = shape{"host_config.log_config.mode_config", []key{
		{name: "mode"},
		{name: "max_buffer_size"},
	}}
	extensionShape = shape{"sitelet", []key{
		{"health", objectKind, &healthShape},
		{name: "after", kind: textsKind},
		{name: "requires", kind: textsKind},
		{name: "auto_start", kind: flagKind},
		{name: "pull"},
	}}
	healthShape = shape{"sitelet.health", []key{
		{name: "command", kind: commandKind},
		{name: "interval"},
		{name: "timeout"},
		{name: "start_period"},
		{name: "retries", kind: integerKind},
	}}
)

// shapes lists all of them from the outside in.
func shapes() []*shape {
	return append([]*shape{&rootShape}, shapesWithin(&rootShape)...)
}

func shapesWithin(s *shape) []*shape {
	var within []*shape
	for _, k := range s.keys {
		if k.of != nil {
			within = append(append(within, k.of), shapesWithin(k.of)...)
		}
	}
	return within
}
