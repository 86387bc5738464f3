package descriptor

import (
	"testing"
)

func TestNearest(t *testing.T) {
	words := names(&rootShape)
	for name, want := range map[string]string{"contaner_name": "container_name", "container-name": "container_name", "iamge": "image", "mount_point": "mount_points",
		"hots_name": "host_name", "hook": "hooks", "xyzzy": "", "": "", "i": "", "name": ""} {
		if got, ok := nearest(name, words); got != want || ok != (want != "") {
			t.Errorf("nearest(%q) = %q, %v; want %q", name, got, ok, want)
		}
	}
}
