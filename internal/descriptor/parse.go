package descriptor

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/sitelet/sitelet/internal/diag"
)

// File is a descriptor to be read. Path is what messages call it.
type File struct {
	Path string
	Data []byte
}

// maxSize is a hundred times what a long descriptor needs.
const maxSize = 1 << 20

// Parse reads one descriptor. It returns everything that is wrong in it, in the order of the file, and no Container if
// any of that is an error. Warnings alone do not keep it from being used. The Container keeps f.Data.
func Parse(f File) (*Container, diag.List) {
	d := &document{file: f.Path, data: f.Data, nodes: *nodes.Get().(*[]node)}
	defer d.free()
	if !d.read() {
		return nil, d.findings()
	}
	c := d.container()
	if d.failed {
		return nil, d.findings()
	}
	c.SecretLines = d.secretLines()
	return c, d.findings()
}

// nodes are the memory of trees that are done with: the next ones are about as large.
var nodes = sync.Pool{New: func() any { return new([]node) }}

func (d *document) free() {
	tree := d.nodes[:0]
	d.nodes = nil
	nodes.Put(&tree)
}

// Refused is what can be said of a descriptor that Parse refused.
type Refused struct {
	Source string
	Name   string
	NameAt Position
}

// NameOf returns the name that f gives to its container even where Parse refuses f for something else. It is false when
// there is none to be found.
func NameOf(f File) (Refused, bool) {
	d := &document{file: f.Path, data: f.Data}
	if len(f.Data) > maxSize {
		return Refused{}, false
	}
	_ = d.decode(d.byteOrderMark()) // the name may well stand before what is wrong
	if len(d.nodes) == 0 || d.nodes[0].kind != '{' {
		return Refused{}, false
	}
	d.conform(0, &rootShape)
	v := d.value(0).get("container_name")
	if nameProblem(v.text()).message != "" {
		return Refused{}, false
	}
	return Refused{f.Path, v.text(), v.position(&lineCounter{data: f.Data})}, true
}

// read makes the tree and holds it against the schema. It returns false when that leaves nothing to apply rules to.
func (d *document) read() bool {
	if len(d.data) > maxSize {
		d.report(-1, "", diag.Error, fmt.Sprintf("is %d bytes long, and a descriptor has at most %d", len(d.data), maxSize),
			"Move other files elsewhere.")
		return false
	}
	if hint := wideEncoding(d.data); hint != "" {
		d.report(0, "", diag.Error, "is not UTF-8", hint)
		return false
	}
	bom := d.byteOrderMark()
	if bom > 0 {
		d.report(0, "", diag.Error, "begins with a byte order mark", "Save it as UTF-8 without one.")
	}
	if len(bytes.TrimSpace(d.data[bom:])) == 0 {
		d.report(bom, "", diag.Error, "is empty", `Write at least {"container_name": "...", "image": {"name": "..."}}.`)
		return false
	}
	err := d.decode(bom)
	if err != nil {
		d.syntax(err, bom)
	}
	if len(d.nodes) == 0 {
		return false
	}
	root := d.nodes[0]
	if root.kind != '{' {
		if err == nil {
			d.report(root.at, "", diag.Error, "holds "+kindName(root.kind)+" instead of an object",
				`Write {"container_name": "...", "image": {"name": "..."}}.`)
		}
		d.findSecrets()
		return false
	}
	d.conform(0, &rootShape)
	d.findSecrets()
	if err != nil {
		return false
	}
	d.refuseRest(root.end)
	return true
}

// refuseRest reports what follows the descriptor.
func (d *document) refuseRest(end int) {
	rest := bytes.TrimLeft(d.data[end:], " \t\r\n")
	if len(rest) == 0 {
		return
	}
	hint := "Remove it."
	if rest[0] == '{' {
		hint = "Put each descriptor in a file of its own."
	}
	d.report(len(d.data)-len(rest), "", diag.Error, "there is text after the end of the descriptor", hint)
}

// byteOrderMark returns the length of the mark at the start of the file, 0 or 3.
func (d *document) byteOrderMark() int {
	if bytes.HasPrefix(d.data, []byte("\xef\xbb\xbf")) {
		return 3
	}
	return 0
}

// wideEncoding recognises UTF-16 with a mark, and UTF-16 and UTF-32 by the zero bytes around the first bracket.
func wideEncoding(data []byte) string {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) ||
		len(data) > 1 && (data[0] == 0 || data[1] == 0) {
		return "It looks like UTF-16 or UTF-32; save it as UTF-8."
	}
	return ""
}

// container applies the rules to a tree that fits the schema. Its result is of use only if they found no error.
func (d *document) container() *Container {
	c := &Container{Source: d.file, SourceText: d.data}
	root, lines := d.value(0), &lineCounter{data: d.data}
	host := root.get("host_config")

	readName(root, c, lines)
	readImage(root, c)
	readNetwork(root, host, c)
	c.Ports, c.PortsAt = readPorts(host, c.Network, lines)
	c.Hosts, c.HostsAt = readHosts(host, c, lines)
	c.Mounts, c.MountsAt = readMounts(root, lines)
	c.Devices = readDevices(host)
	c.Privileged, c.Capabilities = readPrivileges(host)
	c.Runtime = readRuntime(host)
	c.Hooks = readHooks(root)
	c.Env = readEnv(root.get("config"))
	c.Cmd = root.get("config").get("cmd").list()
	c.OpenStdin, c.TTY = readIO(root.get("io_config"))
	c.Restart = readRestart(host.get("restart_policy"))
	c.Memory = readMemory(host.get("resources"))
	c.Log = readLog(host.get("log_config"))
	readExtension(root.get("sitelet"), c, lines)
	warnRuntimeState(root)
	return c
}
