package hooks

import (
	"cmp"
	"slices"
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
	if repository == oldRepository && ok && oldOK && now.compare(before) < 0 {
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

// version is that of a tag, such as 2.1.0, v2.1 or 2.1.0-rc1.
type version struct {
	numbers []int
	stage   string // "rc"; empty for a release, which comes after what led to it
	step    int    // of the stage
}

func versionOf(tag string) (v version, ok bool) {
	tag, stage, _ := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
	for part := range strings.SplitSeq(tag, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false
		}
		v.numbers = append(v.numbers, n)
	}
	for len(v.numbers) < 3 {
		v.numbers = append(v.numbers, 0)
	}
	v.stage = strings.TrimRight(stage, "0123456789")
	v.step, _ = strconv.Atoi(stage[len(v.stage):])
	return v, true
}

func (v version) compare(w version) int {
	stages := cmp.Compare(v.stage, w.stage)
	if (v.stage == "") != (w.stage == "") {
		stages = -stages
	}
	return cmp.Or(slices.Compare(v.numbers, w.numbers), stages, cmp.Compare(v.step, w.step))
}
