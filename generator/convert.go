package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/workload"
)

// converter makes units of renderings with the host's quadlet, and keeps them.
type converter struct {
	paths paths.Paths
	tool  Tool
	ahead *ahead
}

// job is the work on one unit.
type job struct {
	Rendered
	render workload.Digest // of all that the unit is made of
	done   bool            // it is in the cache
}

// perRun is how many units are worth a run of quadlet of their own, while there are processors for one.
const perRun = 500

// convert makes those units of renderings that are not in the cache. It returns all that are there then, and what Quadlet
// refused.
func (c *converter) convert(all []Rendered) ([]Entry, diag.List) {
	cached := c.cached()
	jobs := make([]*job, len(all))
	inParallel(len(all), func(i int) {
		render := c.render(all[i])
		jobs[i] = &job{all[i], render, cached[filepath.Base(CreatePath(c.paths, render))]}
	})
	todo := undone(jobs)
	runs := min(runtime.GOMAXPROCS(0), 1+len(todo)/perRun)
	var wait sync.WaitGroup
	for i := range runs {
		part := todo[i*len(todo)/runs : (i+1)*len(todo)/runs]
		wait.Go(func() { c.runEarly(i, part) })
	}
	wait.Wait()
	found := c.retry(undone(todo))
	var entries []Entry
	for _, j := range jobs {
		if j.done {
			entries = append(entries, Entry{j.Name, j.render, j.Wanted})
		}
	}
	return entries, found
}

// runEarly is the i-th of the runs that go on at the same time.
func (c *converter) runEarly(i int, jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	if i == 0 && c.ahead.run != nil {
		c.ahead.run.convert(jobs)
		c.ahead.end()
		return
	}
	r, err := newRun(c.paths, c.tool, i)
	if err != nil {
		return
	}
	defer r.end()
	if r.startEarly() == nil {
		r.convert(jobs)
	}
}

// run is a run by itself. It returns what quadlet said.
func (c *converter) run(jobs []*job) (log string) {
	r, err := newRun(c.paths, c.tool, 0)
	if err != nil {
		return err.Error()
	}
	defer r.end()
	return r.convert(jobs)
}

// cached returns the names of the files in the cache.
func (c *converter) cached() map[string]bool {
	names := map[string]bool{}
	dir, err := os.Open(cacheDir(c.paths))
	if err != nil {
		return names
	}
	defer dir.Close()
	list, _ := dir.Readdirnames(-1)
	for _, name := range list {
		names[name] = true
	}
	return names
}

func undone(jobs []*job) []*job {
	var rest []*job
	for _, j := range jobs {
		if !j.done {
			rest = append(rest, j)
		}
	}
	return rest
}

// render digests all that a unit is made of.
func (c *converter) render(r Rendered) workload.Digest {
	h := sha256.New()
	put(h, c.tool.Identity, r.Name, r.Source, string(r.Generation), string(r.Revision))
	h.Write(r.Quadlet)
	h.Write(r.Settings)
	return workload.Digest(hex.EncodeToString(h.Sum(nil))[:24])
}

// retry runs quadlet once more for what it made no unit of, half by half: a file that it cannot parse takes its whole directory
// with it. What it refuses alone is a finding.
func (c *converter) retry(lost []*job) diag.List {
	var found diag.List
	for half := range slices.Chunk(lost, max(1, (len(lost)+1)/2)) {
		log := c.run(half)
		if rest := undone(half); len(half) > 1 {
			found = append(found, c.retry(rest)...)
		} else if len(rest) > 0 {
			found = append(found, refusal(half[0], log))
		}
	}
	return found
}

// refusal reports what Quadlet made no unit of, with what it said about it.
func refusal(j *job, log string) diag.Diagnostic {
	return diag.Diagnostic{File: j.Source, Message: "Quadlet made no unit of it: " + said(log, j.Name),
		Hint: "This is a fault of sitelet; please report it with the descriptor."}
}

// said picks the lines of a log that name a workload, or all of it.
func said(log, name string) string {
	var lines []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, name+".container") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		return strings.TrimSpace(log)
	}
	return strings.Join(lines, "; ")
}
