package descriptor

import (
	"path/filepath"
	"strings"
)

// problem is a refusal that is yet to get its place. The zero value is none.
type problem struct{ message, hint string }

// maxName leaves room for what is put around a name in file and unit names, which end at 255 bytes (systemd.unit(5)).
const maxName = 200

// nameProblem checks the name of a container, which is also that of its unit. Podman's rule for names
// (libpod/define.NameRegex) is the narrower one, but for a dash at the end.
func nameProblem(name string) problem {
	const letters = "Write letters, digits, _, . and -, beginning with a letter or a digit."
	switch {
	case len(name) > maxName:
		return problem{"is longer than 200 bytes", "Write a shorter name."}
	case strings.HasPrefix(name, "_"):
		return problem{"begins with _, which Podman does not take", "Write a name that begins with a letter or a digit."}
	case !podmanName(name):
		return problem{quote(name) + " is not a name", letters}
	case strings.HasSuffix(name, "-"):
		// systemd applies a drop-in directory web-.service.d to every unit whose name begins with web-.
		return problem{quote(name) + " ends with -, which would make its settings those of other units", "Write a name that ends otherwise."}
	}
	return problem{}
}

// podmanName is libpod/define.NameRegex, [a-zA-Z0-9][a-zA-Z0-9_.-]*.
func podmanName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !alphanumeric(c) && (i == 0 || c != '_' && c != '.' && c != '-') {
			return false
		}
	}
	return name != ""
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// readName reads container_name, which must be there because nothing else says which container a changed file is about.
func readName(root value, c *Container, lines *lineCounter) {
	if id := root.get("container_id"); id.text() != "" {
		id.warnKey("has no effect, the engine gives the id", "Remove it.")
	}
	v, ok := root.require("container_name", nameHint(root.doc.file))
	if !ok {
		return
	}
	c.Name, c.NameAt = v.text(), v.position(lines)
	if p := nameProblem(c.Name); p.message != "" {
		v.fail(p.message, p.hint)
	}
}

// nameHint proposes the name of the file.
func nameHint(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	if nameProblem(name).message != "" {
		name = "..."
	}
	return `Write "container_name": ` + quote(name) + `.`
}

// hostNameProblem checks a host or domain name of at most most bytes: labels as in RFC 1123, but with _ allowed since
// container names have it.
func hostNameProblem(name string, most int) problem {
	if len(name) > most {
		return problem{quote(name) + " is too long for a host name", "Write a shorter one."}
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || !podmanName(label) || strings.HasSuffix(label, "-") {
			return problem{quote(name) + " is not a host name", "Write letters, digits, - and _ with dots between, each part beginning with a letter or a digit."}
		}
	}
	return problem{}
}

// maxHostName is Linux's HOST_NAME_MAX, for the domain name as well.
const maxHostName = 64

// readNetwork reads network_mode, host_name and domain_name.
func readNetwork(root, host value, c *Container) {
	c.Network = host.get("network_mode").choice("bridge", "host")

	domain := root.get("domain_name")
	if c.DomainName = domain.text(); c.DomainName != "" {
		if p := hostNameProblem(c.DomainName, maxHostName); p.message != "" {
			domain.fail(p.message, p.hint)
		}
	}

	v := root.get("host_name")
	switch name := v.text(); {
	case c.Network == "host":
		if name != "" {
			v.warnKey(`has no effect with network_mode "host", the host's own name is used`, "Remove it.")
		}
		return
	case name != "":
		c.HostName = name
		if p := hostNameProblem(name, maxHostName); p.message != "" {
			v.fail(p.message, p.hint)
		}
	case c.Name != "" && nameProblem(c.Name).message == "":
		c.HostName = c.Name + "-host"
		if p := hostNameProblem(c.HostName, maxHostName); p.message != "" {
			root.get("container_name").fail("the default host name "+p.message, `Write a "host_name" of your own.`)
		}
	}
}
