package hooks

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/state"
)

// routerImage decides which image a router is to have, given the one that it has. It never goes down by itself: of two versions
// of one repository the higher one counts as newer; where they cannot be compared, the configured one does.
func routerImage(c config.Router, has *state.Router) string {
	image := cmp.Or(c.Image, config.DefaultRouterImage)
	switch {
	case has == nil || has.Image == "" || c.Upgrade == config.Always:
		return image
	case c.Upgrade == config.Never:
		return has.Image
	}
	repository, tag := splitTag(image)
	oldRepository, oldTag := splitTag(has.Image)
	now, ok := versionOf(tag)
	before, oldOK := versionOf(oldTag)
	if repository == oldRepository && ok && oldOK && compareVersions(now, before) < 0 {
		return has.Image
	}
	return image
}

// splitTag takes the tag off an image. A colon before a slash is that of a port.
func splitTag(image string) (repository, tag string) {
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[:i], image[i+1:]
	}
	return image, ""
}

// versionOf reads a tag such as 2.1.0, v2.1 or 2.1.0-rc1.
func versionOf(tag string) (numbers []int, ok bool) {
	tag, pre, isPre := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
	for part := range strings.SplitSeq(tag, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	for len(numbers) < 3 {
		numbers = append(numbers, 0)
	}
	// A release comes after what led to it.
	last := 1 << 30
	if isPre {
		last, _ = strconv.Atoi(strings.TrimLeft(pre, "abcdefghijklmnopqrstuvwxyz.-"))
	}
	return append(numbers, last), true
}

func compareVersions(a, b []int) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}
