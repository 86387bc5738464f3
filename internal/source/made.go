package source

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxMade bounds what is read of a file that sitelet has made: a router's configuration grows with its listeners.
const maxMade = 16 << 20

// Made reads a file that sitelet has made where others can put something else in its place, as a router can in the directories that its
// container has mounted: no link is followed, nothing is waited for, and no more is read than there can be.
func Made(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMade+1))
	if err == nil && len(data) > maxMade {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxMade)
	}
	return data, err
}
