package descriptor

import (
	"path"
	"slices"
	"strings"
)

// absolute returns p without needless slashes and dots, if it begins with / and does not climb.
func absolute(p string) (string, problem) {
	switch {
	case !strings.HasPrefix(p, "/"):
		return p, problem{quote(p) + " is not an absolute path", "Write a path that begins with /."}
	case slices.Contains(strings.Split(p, "/"), ".."):
		return p, problem{quote(p) + " has .. in it", "Write the path that is meant."}
	}
	return path.Clean(p), problem{}
}

// absolutePath is absolute for a value.
func absolutePath(v value) string {
	clean, p := absolute(v.text())
	if p.message != "" {
		v.fail(p.message, p.hint)
	}
	return clean
}

// propagations are the modes of mount_points, the default first. See mount_namespaces(7).
var propagations = []string{"rprivate", "private", "rshared", "shared", "rslave", "slave"}

// readMounts reads mount_points, and where the source of each stands.
func readMounts(root value, lines *lineCounter) (mounts []Mount, at []Position) {
	places := uniquePaths{}
	for _, item := range root.get("mount_points").items() {
		m := Mount{Propagation: item.get("propagation_mode").choice(propagations...)}
		if source, ok := item.require("source", "Write the path on the host."); ok {
			if !strings.HasPrefix(source.text(), "/") {
				source.fail(quote(source.text())+" is not an absolute path, and would be taken for the name of a volume", "Write a path that begins with /.")
			} else {
				m.Source = absolutePath(source)
				at = append(at, source.position(lines))
			}
		}
		if destination, ok := item.require("destination", "Write the path in the container."); ok {
			if m.Destination = absolutePath(destination); m.Destination == "/" {
				destination.fail("would hide the whole container", "Write a directory below /.")
			} else {
				places.add(m.Destination, destination)
			}
		}
		mounts = append(mounts, m)
	}
	return mounts, at
}

// readDevices reads host_config.devices.
func readDevices(host value) []Device {
	var devices []Device
	places := uniquePaths{}
	for _, item := range host.get("devices").items() {
		var d Device
		if v, ok := item.require("path_on_host", `Write the device, such as "/dev/ttyUSB0".`); ok {
			d.HostPath = absolutePath(v)
			d.ContainerPath = d.HostPath
			if in := item.get("path_in_container"); in.text() != "" {
				v = in
				d.ContainerPath = absolutePath(in)
			}
			places.add(d.ContainerPath, v)
		}
		d.Permissions = readPermissions(item.get("cgroup_permissions"))
		devices = append(devices, d)
	}
	return devices
}

// readPermissions returns the letters in the order r, w, m, so that the same rights are the same text.
func readPermissions(v value) string {
	const all = "rwm"
	got := v.text()
	if got == "" {
		return all
	}
	ordered := ""
	for _, letter := range all {
		if strings.Count(got, string(letter)) == 1 {
			ordered += string(letter)
		}
	}
	if len(ordered) != len(got) {
		v.fail(quote(got)+" is not a set of permissions", "Write r (read), w (write) and m (make nodes), each once at most.")
	}
	return ordered
}

// uniquePaths finds what is put in the same place of a container twice.
type uniquePaths map[string]value

func (u uniquePaths) add(place string, v value) {
	if first, taken := u[place]; taken {
		v.fail(quote(place)+" is taken already, by "+first.doc.field(first.id), "Write another path.")
		return
	}
	u[place] = v
}
