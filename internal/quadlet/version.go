package quadlet

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a version of Podman, which is also the version of its Quadlet.
type Version struct{ Major, Minor, Patch int }

// Minimum is the oldest Podman that is supported: that of RHEL 8.10.
var Minimum = Version{4, 9, 0}

// ParseVersion reads a version as quadlet -version prints it, such as "5.4.2" or "5.6.0-rc1".
// What follows the numbers is not looked at.
func ParseVersion(s string) (Version, error) {
	text := strings.TrimSpace(s)
	numbers := text
	if end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		numbers = text[:end]
	}
	var v Version
	parts := strings.SplitN(numbers, ".", 4)
	for i, field := range []*int{&v.Major, &v.Minor, &v.Patch} {
		if i >= len(parts) {
			break
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return Version{}, fmt.Errorf("%q is no version of Podman", text)
		}
		*field = n
	}
	if len(parts) < 2 {
		return Version{}, fmt.Errorf("%q is no version of Podman", text)
	}
	return v, nil
}

// compare returns a negative number if v is older than w, zero if they are equal, a positive number if v is newer.
func (v Version) compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// AtLeast tells whether v is w or newer.
func (v Version) AtLeast(w Version) bool { return v.compare(w) >= 0 }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }
