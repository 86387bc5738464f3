package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/plan"
	"github.com/sitelet/sitelet/internal/state"
)

// pullAll fetches the images of the containers that will be made, while the old ones run. What cannot be had is refused for this
// time, so that the daemon-reload does not bring its unit.
func (h Hooks) pullAll(ctx context.Context, p Planned) map[string]error {
	failed := map[string]error{}
	var mutex sync.Mutex
	var todo []generator.Rendered
	for _, a := range p.Actions {
		if a.Verb != plan.Create && a.Verb != plan.Recreate {
			continue
		}
		for _, r := range p.rendered {
			if r.Name == a.Name {
				todo = append(todo, r)
			}
		}
	}
	inTurns(len(todo), func(i int) {
		r := todo[i]
		if err := h.pull(ctx, r); err != nil {
			mutex.Lock()
			defer mutex.Unlock()
			failed[r.Name] = fmt.Errorf("its image cannot be had: %w; what runs was left alone", err)
		}
	})
	return failed
}

// pull fetches one image by its descriptor's policy.
func (h Hooks) pull(ctx context.Context, r generator.Rendered) error {
	h = h.at(r.Name)
	if r.Pull == "never" || r.Pull == "missing" && h.Engine.ImageExists(ctx, r.Image) {
		return nil
	}
	m := made{name: r.Name}
	m.data.Keys = r.Keys
	keys, forget, err := h.decryptionKeys(m)
	if err != nil {
		return err
	}
	defer forget()
	h.Log("%s: pulling %s", r.Name, r.Image)
	defer h.doing(r.Name, "pulling")()
	_, failure := h.fetch(ctx, r.Image, keys)
	if failure == nil || r.Pull == "newer" && h.Engine.ImageExists(ctx, r.Image) {
		return nil
	}
	return errors.Join(failure, h.postpone(r, failure.Error()))
}

// pullTime is how long an image may take, as for sitelet-create@.service: nothing else is reloaded until then.
const pullTime = time.Hour

// fetch pulls an image, and gives up on a registry that never comes to an end.
func (h Hooks) fetch(ctx context.Context, image string, flags []string) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	id, err = h.Engine.Pull(ctx, image, flags)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "", fmt.Errorf("it has not come within %v", pullTime)
	}
	return id, err
}

// postpone refuses a version for want of something outside: the daemon-reload does not bring its unit, and the next reload tries
// it again.
func (h Hooks) postpone(r generator.Rendered, reason string) error {
	return h.store().Change(r.Name, func(w *state.Workload) error {
		w.Refused = &state.Refusal{Generation: r.Generation, Text: state.TextDigest(r.Text), Reason: reason, Retry: true, At: h.now()}
		return nil
	})
}

// followTags pulls the images of what runs unchanged, and plans a new container where a tag has moved. The new image's id becomes
// an input of the workload, so that the update is one like any other.
func (h Hooks) followTags(ctx context.Context, p Planned) (Planned, error) {
	moved := false
	for _, a := range p.Actions {
		if !p.follows(a) {
			continue
		}
		for _, r := range p.rendered {
			if r.Name != a.Name || r.Pull == "never" || r.Site != nil {
				continue
			}
			changed, err := h.followTag(ctx, r)
			if err != nil {
				h.Log("%s: looking for a newer image: %v", r.Name, err)
			}
			moved = moved || changed
		}
	}
	if !moved {
		return p, nil
	}
	return h.Plan(ctx)
}

// follows tells whether the tag of a workload is looked up: it runs unchanged, or on because another image of the tag was refused.
func (p Planned) follows(a plan.Action) bool {
	if a.Verb != plan.Refused {
		return a.Verb == plan.None && a.Note == ""
	}
	return slices.ContainsFunc(p.known, func(w state.Workload) bool {
		return w.Name == a.Name && w.Refused != nil && w.Pin != "" && w.Refused.Generation == a.Generation
	})
}

func (h Hooks) followTag(ctx context.Context, r generator.Rendered) (moved bool, err error) {
	h = h.at(r.Name)
	defer h.doing(r.Name, "looking for a newer image")()
	id, err := h.fetch(ctx, r.Image, nil)
	if err != nil {
		return false, err
	}
	all, err := h.containers(ctx, r.Name)
	if err != nil {
		return false, err
	}
	c := h.named(r.Name, all)
	w, err := h.store().Read(r.Name)
	if err != nil || c == nil || c.ImageID == id || w.Pin == id {
		return false, err
	}
	h.Log("%s: %s is another image now", r.Name, r.Image)
	return true, h.store().Change(r.Name, func(w *state.Workload) error {
		w.Pin = id
		return nil
	})
}
