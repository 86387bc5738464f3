package descriptor

import (
	"strings"
	"unicode"

	"github.com/sitelet/sitelet/internal/spelling"
)

// Three other forms of the same information are in use and look alike; see the API's containers/*.proto (gRPC),
// containerm/things (camelCase) and docs/references/containers/container-component-config.md (component) upstream.
const (
	grpcForm      = "this is the gRPC form, "
	thingsForm    = "this is the camelCase form of things, "
	componentForm = "this is the desired-state component form, "
)

// foreignKey is a key of another form that has another name here. What differs in its capitals only is not listed.
type foreignKey struct {
	in    *shape // where it is met; nil for anywhere
	name  string
	form  string
	write string // what to do, after the form
	same  string // the key of the same shape that takes such a value, if any
}

// foreignKeys is a function because nothing but a wrong file needs it.
func foreignKeys() []foreignKey {
	return []foreignKey{
		{&rootShape, "name", grpcForm, `write "container_name"`, "container_name"},
		{&rootShape, "id", grpcForm, `write "container_name" for the name and leave the id out`, ""},
		{&rootShape, "mounts", grpcForm, `write "mount_points"`, "mount_points"},
		{&portShape, "protocol", grpcForm, `write "proto"`, "proto"},

		{&rootShape, "imageRef", thingsForm, `write "image": {"name": "..."}`, ""},
		{&rootShape, "decryption", thingsForm, `write "image": {"decrypt_config": {...}}`, ""},
		{&rootShape, "log", thingsForm, `write "log_config" in host_config`, ""},
		{&rootShape, "createdAt", thingsForm, `leave it out`, ""},
		{nil, "hostIP", thingsForm, `write "host_ip"`, "host_ip"},
		{nil, "maxRetryCount", thingsForm, `write "maximum_retry_count"`, "maximum_retry_count"},

		{&rootShape, "domains", componentForm, "write one file with \"container_name\", \"image\" and so on for each component", ""},
		{&rootShape, "version", componentForm, `write the version as the tag of image.name`, ""},
		{&rootShape, "mount", componentForm, `write "mount_points": [{"source": "...", "destination": "..."}]`, ""},
		{&rootShape, "device", componentForm, `write "devices" in host_config`, ""},
		{&rootShape, "port", componentForm, `write "port_mappings" in host_config`, ""},
		{&rootShape, "network", componentForm, `write "network_mode" in host_config`, ""},
		{&rootShape, "host", componentForm, `write "extra_hosts" in host_config`, ""},
		{&rootShape, "terminal", componentForm, `write "tty" in io_config`, ""},
		{&rootShape, "interactive", componentForm, `write "open_stdin" in io_config`, ""},
		{&rootShape, "restartMaxRetries", componentForm, `write "maximum_retry_count" in host_config.restart_policy`, ""},
		{&rootShape, "restartTimeout", componentForm, `write "retry_timeout" in host_config.restart_policy, with its unit, such as "30s"`, ""},
		{&rootShape, "logDriver", componentForm, `write "type" in host_config.log_config.driver_config`, ""},
		{&rootShape, "logMaxFiles", componentForm, `write "max_files" in host_config.log_config.driver_config`, ""},
		{&rootShape, "logMaxSize", componentForm, `write "max_size" in host_config.log_config.driver_config`, ""},
		{&rootShape, "logPath", componentForm, `write "root_dir" in host_config.log_config.driver_config`, ""},
		{&rootShape, "logMode", componentForm, `write "mode" in host_config.log_config.mode_config`, ""},
		{&rootShape, "logMaxBufferSize", componentForm, `write "max_buffer_size" in host_config.log_config.mode_config`, ""},
	}
}

// otherWord is what other tools call a key.
type otherWord struct {
	in         *shape
	name, hint string
	same       string // the key of the same shape that takes such a value, if any
}

// otherWords is a function for the same reason as foreignKeys.
func otherWords() []otherWord {
	return []otherWord{
		{&configShape, "command", `Write "cmd".`, "cmd"},
		{&configShape, "environment", `Write "env".`, "env"},
		{&healthShape, "cmd", `Write "command".`, "command"},
		{&mountShape, "src", `Write "source".`, "source"},
		{&mountShape, "dst", `Write "destination".`, "destination"},
		{&mountShape, "target", `Write "destination".`, "destination"},
		{&extensionShape, "healthcheck", `Write "health".`, "health"},
		{&extensionShape, "depends_on", `Write "requires", or "after" for the order alone.`, ""},
		{&rootShape, "command", `Write "cmd" in config.`, ""},
		{&rootShape, "environment", `Write "env" in config.`, ""},
		{&rootShape, "ports", `Write "port_mappings" in host_config.`, ""},
		{&rootShape, "restart", `Write "restart_policy" in host_config.`, ""},
		{&rootShape, "volumes", `Write "mount_points".`, ""},
		{&hostShape, "ports", `Write "port_mappings".`, ""},
		{&hostShape, "restart", `Write "restart_policy".`, ""},
	}
}

// unknown reports node id, whose key is not of shape s. If it is clear which key was meant, the value is read as that
// one's, so that what is wrong in it is reported too.
func (d *document) unknown(id int, s *shape) {
	if d.full() {
		d.nodes[id].bad = true
		d.value(id).failKey("unknown key", "")
		return
	}
	name := d.keyOf(id)
	u := explain(name, s)
	if s == &rootShape && name == "id" {
		if _, ok := d.lookup(d.nodes[id].parent, "version"); ok {
			u.message = componentForm + strings.TrimPrefix(u.message, grpcForm)
		}
	}
	d.foreign = d.foreign || u.foreign && s == &rootShape
	d.value(id).failKey(u.message, u.hint)

	n := &d.nodes[id]
	n.bad = true
	if i := s.find(u.meant); i >= 0 {
		if _, taken := d.lookup(n.parent, u.meant); !taken {
			n.key, n.bad = &s.keys[i], false
		}
	}
}

// explanation is what there is to say of a key that does not belong.
type explanation struct {
	message, hint string
	meant         string // the key of the same shape that was meant, if that is clear
	foreign       bool   // it is a key of another form
}

func explain(name string, s *shape) explanation {
	for _, f := range foreignKeys() {
		if f.name == name && (f.in == nil || f.in == s) {
			return explanation{message: f.form + f.write, meant: f.same, foreign: true}
		}
	}
	for _, k := range s.keys {
		if strings.EqualFold(k.name, name) {
			return explanation{message: "keys are in lower case", hint: "Write " + quote(k.name) + ".", meant: k.name}
		}
	}
	if snake := snakeCase(name); snake != name {
		if s.find(snake) >= 0 {
			return explanation{message: thingsForm + "write " + quote(snake), meant: snake, foreign: true}
		}
		if homes := homesOf(snake); len(homes) > 0 {
			return explanation{message: thingsForm + "write " + quote(snake) + " in " + oneOf(homes), foreign: true}
		}
	}
	for _, w := range otherWords() {
		if w.name == name && w.in == s {
			return explanation{message: "unknown key", hint: w.hint, meant: w.same}
		}
	}
	if homes := homesOf(name); len(homes) > 0 {
		return explanation{message: "this key does not belong here", hint: "It belongs in " + oneOf(homes) + "."}
	}
	if meant, ok := spelling.Nearest(name, names(s)); ok {
		return explanation{message: "unknown key", hint: "Did you mean " + quote(meant) + "?", meant: meant}
	}
	for _, other := range shapes() {
		if len(name) < 6 {
			break // too short to tell what was meant by it so far away
		}
		if meant, ok := spelling.Nearest(name, names(other)); ok {
			return explanation{message: "unknown key", hint: "Did you mean " + quote(meant) + " in " + other.place() + "?"}
		}
	}
	return explanation{message: "unknown key", hint: "Remove it; the keys here are " + strings.Join(names(s), ", ") + "."}
}

// otherForm reports node id, whose value is not of the kind that k takes, if that kind gives away what was meant.
func (d *document) otherForm(id int, k *key) bool {
	v, kind := d.value(id), d.nodes[id].kind
	switch {
	case k.name == "config" && kind == '[':
		d.foreign = true
		v.failKey(componentForm+`write "config": {"env": ["NAME=VALUE"], "cmd": ["..."]}, and each other key in its place`, "")
	case k.name == "image" && kind == '"':
		v.fail("must be an object, not a string", `Write {"name": `+quote(v.text())+`}.`)
	case k.of == nil && k.name == "type" && k.kind == integerKind && kind == '"':
		v.fail("must be a whole number, not a string", "Write 0 for prestart, 1 for poststart or 2 for poststop.")
	default:
		return false
	}
	return true
}

// homesOf returns the shapes that have a key called name, but for those without effect.
func homesOf(name string) []string {
	var homes []string
	for _, s := range shapes() {
		if i := s.find(name); i >= 0 && s.keys[i].kind != ignoredKind {
			homes = append(homes, s.place())
		}
	}
	return homes
}

// names returns the keys of s, but for those without effect.
func names(s *shape) []string {
	var list []string
	for _, k := range s.keys {
		if k.kind != ignoredKind {
			list = append(list, k.name)
		}
	}
	return list
}

func (s *shape) place() string {
	if s.path == "" {
		return "the outermost object"
	}
	return s.path
}

// snakeCase turns hostConfig into host_config, and leaves alone what has no inner capitals.
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if b.Len() == len(name) {
		return name
	}
	return b.String()
}
