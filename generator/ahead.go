package generator

import (
	"context"
	"os"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/quadlet"
)

// ahead is what is done by other processes while this one reads the descriptors, on a boot's first run. Its zero value has
// nothing done.
type ahead struct {
	run     *run // nil once it is used
	version func() (quadlet.Version, error)
}

// startAhead starts what will be needed if there are descriptors.
func startAhead(p paths.Paths) *ahead {
	tool, err := findTool(p)
	if err != nil || isEmpty(p.ContainersDir) {
		return &ahead{}
	}
	a := &ahead{}
	if r, err := newRun(p, tool, 0); err == nil {
		if a.run = r; r.startEarly() != nil {
			a.end()
		}
	}
	a.version = askAhead(tool)
	return a
}

// askAhead asks a tool for its version and returns a function that waits for the answer.
func askAhead(tool Tool) func() (quadlet.Version, error) {
	var version quadlet.Version
	var err error
	done := make(chan struct{})
	go func() {
		version, err = askVersion(tool)
		close(done)
	}()
	return func() (quadlet.Version, error) {
		<-done
		return version, err
	}
}

// askVersion returns the version of a tool.
func (a *ahead) askVersion(tool Tool) (quadlet.Version, error) {
	if a.version != nil {
		return a.version()
	}
	return askVersion(tool)
}

func askVersion(tool Tool) (quadlet.Version, error) {
	ctx, cancel := context.WithTimeout(context.Background(), quadletTimeout)
	defer cancel()
	return quadlet.RunVersion(ctx, tool.Path)
}

// end ends what was not needed.
func (a *ahead) end() {
	if a.run != nil {
		a.run.end()
		a.run = nil
	}
}

func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return err != nil
}
