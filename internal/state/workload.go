package state

import (
	"time"

	"github.com/sitelet/sitelet/internal/workload"
)

// Workload is all that is kept of one name. Its parts say where in an update it is: with a Trial, the current version's container
// is set aside and the trial's has the name; without one, nothing is under way.
type Workload struct {
	Version  int
	Name     string
	Current  *Version `json:",omitempty"` // has proved itself, or is the first
	Trial    *Trial   `json:",omitempty"` // runs, and has yet to prove itself
	Unproven bool     `json:",omitempty"` // Current is the first version, and has yet to prove itself
	Previous *Version `json:",omitempty"` // what Current replaced
	Refused  *Refusal `json:",omitempty"` // the last version that failed
	Pin      string   `json:",omitempty"` // id of the image that a moved tag was followed to
	History  []Event  `json:",omitempty"` // the last historySize, oldest first
}

// Version is one generation as text: enough to run it, and to make its container again, without its descriptor.
type Version struct {
	Generation workload.Digest
	Revision   workload.Digest
	Render     workload.Digest // of the two texts, as the generator names them
	Source     string          // the descriptor's path
	Wanted     bool            // started at boot
	Inputs     []workload.Input
	Unit       string // NAME.service
	ImageID    string `json:",omitempty"` // of its container, once another version has taken its place: a tag may have moved since
	Create     string // what its container is made from (generator.HookData), for whatever Podman there is then; holds secrets
}

// Trial is a version that runs on probation.
type Trial struct {
	Version
	Before     string   // invocation id of the unit's run before it; empty if it did not run
	Dependants []string // units that require this one and ran when the trial began
	Failure    string   `json:",omitempty"` // why it failed, once it has
}

// Refusal is a version that failed and is not tried again until its descriptor changes.
type Refusal struct {
	Generation workload.Digest
	Text       string // digest of the descriptor's text, see TextDigest
	Reason     string
	Log        []string `json:",omitempty"` // last lines of its output
	Dependants []string `json:",omitempty"` // of its trial: they are started again once it has been rolled back
	Retry      bool     // the next reload tries again all the same: it failed for want of something outside, such as a registry
	At         time.Time
}

// Event is a line of a workload's history.
type Event struct {
	At         time.Time
	Generation workload.Digest
	Image      string // reference as in the descriptor
	Result     string // "created", "updated", "refused", "rolled back"
	Reason     string `json:",omitempty"`
}

const historySize = 20

// Note appends an event and drops the oldest ones.
func (w *Workload) Note(e Event) {
	w.History = append(w.History, e)
	w.History = w.History[max(0, len(w.History)-historySize):]
}

// Runs is the version whose container has the name now.
func (w *Workload) Runs() *Version {
	if w.Trial != nil {
		return &w.Trial.Version
	}
	return w.Current
}

// Refuses tells whether a version must not be tried: it has failed, and its descriptor is still the same.
func (w *Workload) Refuses(generation workload.Digest, text []byte) bool {
	return w.Refused != nil && w.Refused.Generation == generation && w.Refused.Text == TextDigest(text)
}
