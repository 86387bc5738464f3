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
	guess bool // guessPodman has given a version that no run has shown to be right
}

// job is the work on one unit.
type job struct {
	Rendered
	render workload.Digest // of all that the unit is made of
	done   bool            // it is in the cache
}

// podman returns the version of the tool, which is asked once in its life.
func (c *converter) podman() (quadlet.Version, error) {
	c.guess = false
	if v, ok := c.remembered(); ok {
		return v, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), quadletTimeout)
	defer cancel()
	v, err := quadlet.RunVersion(ctx, c.tool.Path)
	if err == nil {
		c.remember(v)
	}
	return v, err
}

// guessPodman returns settled where the tool would have to be asked: the next run finds out whether that is right.
func (c *converter) guessPodman() (quadlet.Version, error) {
	v, ok := c.remembered()
	if c.guess = !ok; c.guess {
		return settled, nil
	}
	return v, nil
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

// perRun is how many units are worth a run of quadlet of their own, while there is a processor for it.
const perRun = 50

// convert makes those units of renderings that are not in the cache. It returns all that are there then, and what Quadlet
// refused; nothing where they were made for a Podman that was guessed wrong.
func (c *converter) convert(all []Rendered) ([]Entry, diag.List) {
	cached := namesIn([]string{cacheDir(c.paths)})
	jobs := make([]*job, len(all))
	inParallel(len(all), func(i int) {
		render := c.render(all[i])
		jobs[i] = &job{all[i], render, cached[filepath.Base(CreatePath(c.paths, render))]}
	})
	todo := undone(jobs)
	runs := min(runtime.GOMAXPROCS(0), 1+len(todo)/perRun)
	var wait sync.WaitGroup
	for i := range runs {
		wait.Go(func() { c.run(i, todo[i*len(todo)/runs:(i+1)*len(todo)/runs]) })
	}
	wait.Wait()
	if c.guess {
		return nil, nil
	}
	found := c.retry(undone(todo))
	var entries []Entry
	for _, j := range jobs {
		if j.done {
			entries = append(entries, Entry{j.Name, j.render, j.Wanted})
		}
	}
	return entries, found
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
		log := c.run(0, half)
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
