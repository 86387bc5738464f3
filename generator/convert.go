package generator

import (
	"context"
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
	"github.com/sitelet/sitelet/internal/quadlet"
	"github.com/sitelet/sitelet/internal/workload"
)

// converter makes units of renderings with the host's quadlet, and keeps them.
type converter struct {
	paths paths.Paths
	tool  Tool
	ready []*run // have started, and wait for their files
	guess bool   // podman has given a version that is not known to be right
}

// job is the work on one unit.
type job struct {
	Rendered
	render workload.Digest // of all that the unit is made of
	done   bool            // it is in the cache
}

// perRun is how many units are worth a run of quadlet of their own, while there are processors for one.
const perRun = 50

func runsFor(units int) int { return min(runtime.GOMAXPROCS(0), 1+units/perRun) }

// start starts quadlets for about as many units, before these are known.
func (c *converter) start(units int) {
	for i := range runsFor(units) {
		r, err := newRun(c.paths, c.tool, i)
		if err != nil {
			return
		}
		if r.startEarly() != nil {
			r.end()
			return
		}
		c.ready = append(c.ready, r)
	}
}

// end ends the quadlets that were not needed.
func (c *converter) end() {
	for _, r := range c.ready {
		r.end()
	}
	c.ready = nil
}

// podman returns the version that is rendered for: what the tool has said once in its life or, while quadlets wait for their
// files, settled, which they may show to be wrong.
func (c *converter) podman() (quadlet.Version, error) {
	if v, ok := c.remembered(); ok {
		return v, nil
	}
	if c.guess = len(c.ready) > 0; c.guess {
		return settled, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), quadletTimeout)
	defer cancel()
	v, err := quadlet.RunVersion(ctx, c.tool.Path)
	if err == nil {
		c.remember(v)
	}
	return v, err
}

func (c *converter) remembered() (quadlet.Version, bool) {
	data, err := os.ReadFile(podmanPath(c.paths))
	if err != nil {
		return quadlet.Version{}, false
	}
	identity, version, _ := strings.Cut(string(data), "\n")
	v, err := quadlet.ParseVersion(version)
	return v, err == nil && identity == c.tool.Identity
}

func (c *converter) remember(v quadlet.Version) {
	// Whoever may not write here, such as a user who asks for a plan, asks again the next time.
	_ = writeFile(podmanPath(c.paths), []byte(c.tool.Identity+"\n"+v.String()), 0o644)
}

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
	c.runAll(todo)
	found := c.retry(undone(todo))
	var entries []Entry
	for _, j := range jobs {
		if j.done {
			entries = append(entries, Entry{j.Name, j.render, j.Wanted})
		}
	}
	return entries, found
}

// runAll shares jobs out to quadlets that run at the same time.
func (c *converter) runAll(jobs []*job) {
	defer c.end()
	if len(jobs) == 0 {
		return
	}
	if len(c.ready) == 0 {
		c.start(len(jobs))
	}
	var wait sync.WaitGroup
	for i, r := range c.ready {
		part := jobs[i*len(jobs)/len(c.ready) : (i+1)*len(jobs)/len(c.ready)]
		if len(part) > 0 {
			wait.Go(func() { r.convert(part) })
		}
	}
	wait.Wait()
	if c.guess && slices.ContainsFunc(c.ready, (*run).isSettled) {
		c.guess = false
		c.remember(settled)
	}
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

// run is a run by itself. It returns what quadlet said.
func (c *converter) run(jobs []*job) (log string) {
	r, err := newRun(c.paths, c.tool, 0)
	if err != nil {
		return err.Error()
	}
	defer r.end()
	return r.convert(jobs)
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
