package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/workload"
)

func version(generation, revision workload.Digest, inputs ...workload.Input) *state.Version {
	return &state.Version{Generation: generation, Revision: revision, Render: "r", Source: "/c/web.json", Inputs: inputs}
}

func TestDecide(t *testing.T) {
	text := []byte("{}")
	refused := &state.Refusal{Generation: "g2", Text: state.TextDigest(text), Reason: "it ended"}
	retried := &state.Refusal{Generation: "g2", Text: state.TextDigest(text), Reason: "no registry", Retry: true}
	edited := &state.Refusal{Generation: "g2", Text: "another", Reason: "it ended"}
	trial := &state.Trial{Version: *version("g2", "l1")}
	for _, c := range []struct {
		name   string
		known  state.Workload
		want   Wanted
		frozen bool
		unborn bool
		idle   bool
		verb   Verb
	}{
		{name: "new", want: Wanted{Generation: "g2", AutoStart: true}, verb: Create},
		{name: "new, and need not be started", want: Wanted{Generation: "g2"}, verb: None},
		{name: "new, after a failure outside", known: state.Workload{Refused: retried}, want: Wanted{Generation: "g2", AutoStart: true}, verb: Create},
		{name: "new, refused", known: state.Workload{Refused: refused}, want: Wanted{Generation: "g2"}, verb: Refused},
		{name: "same", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g1", Revision: "l1", Render: "r"}, verb: None},
		{name: "never started", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g1", Revision: "l1", Render: "r", AutoStart: true}, unborn: true, verb: Start},
		{name: "never started, and need not", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g1", Revision: "l1", Render: "r"}, unborn: true, verb: None},
		{name: "generation", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g2", Revision: "l1", Render: "r2"}, verb: Recreate},
		{name: "both", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g2", Revision: "l2", Render: "r2"}, verb: Recreate},
		{name: "revision", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g1", Revision: "l2", Render: "r2"}, verb: Reload},
		{name: "unit text only", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g1", Revision: "l1", Render: "r2"}, verb: Reload},
		{name: "refused", known: state.Workload{Current: version("g1", "l1"), Refused: refused}, want: Wanted{Generation: "g2"}, verb: Refused},
		{name: "refused, file edited", known: state.Workload{Current: version("g1", "l1"), Refused: edited}, want: Wanted{Generation: "g2"}, verb: Recreate},
		{name: "refused for want of something", known: state.Workload{Current: version("g1", "l1"), Refused: retried}, want: Wanted{Generation: "g2"}, verb: Recreate},
		{name: "another one was refused", known: state.Workload{Current: version("g1", "l1"), Refused: refused}, want: Wanted{Generation: "g3"}, verb: Recreate},
		{name: "on trial", known: state.Workload{Current: version("g1", "l1"), Trial: trial}, want: Wanted{Generation: "g3"}, verb: Resume},
		{name: "stopped on trial", known: state.Workload{Current: version("g1", "l1"), Trial: trial}, want: Wanted{Generation: "g2"}, idle: true, verb: None},
		{name: "stopped on trial, and edited", known: state.Workload{Current: version("g1", "l1"), Trial: trial}, want: Wanted{Generation: "g3"}, idle: true, verb: Recreate},
		{name: "stopped on trial, and edited back", known: state.Workload{Current: version("g1", "l1"), Trial: trial}, want: Wanted{Generation: "g1"}, idle: true, verb: Recreate},
		{name: "stopped on trial, and edited to what has failed", known: state.Workload{Current: version("g1", "l1"), Trial: &state.Trial{Version: *version("g3", "l1")}, Refused: refused}, want: Wanted{Generation: "g2"}, idle: true, verb: None},
		{name: "mode init, stopped on trial", known: state.Workload{Current: version("g1", "l1"), Trial: trial}, want: Wanted{Generation: "g3"}, frozen: true, idle: true, verb: None},
		{name: "mode init", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g2"}, frozen: true, verb: Held},
		{name: "mode init, same", known: state.Workload{Current: version("g1", "l1")}, want: Wanted{Generation: "g1", Revision: "l1", Render: "r"}, frozen: true, verb: None},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.known.Name, c.want.Name, c.want.Text = "web", "web", text
			host := Host{Frozen: c.frozen, Unborn: func(string) bool { return c.unborn }, Stopped: func(string) bool { return c.idle }}
			if c.known.Current != nil || c.known.Refused != nil {
				host.Known = []state.Workload{c.known}
			}
			got := Make([]Wanted{c.want}, host)
			if len(got) != 1 || got[0].Verb != c.verb || got[0].Restart != (c.verb == Recreate && !c.idle) {
				t.Errorf("got %+v, want %s", got, c.verb)
			}
		})
	}
}

func TestWhatNobodyWants(t *testing.T) {
	known := []state.Workload{
		{Name: "gone", Current: &state.Version{Source: "/c/gone.json"}},
		{Name: "old", Current: &state.Version{Source: "/c/moved.json"}},
		{Name: "broken", Current: &state.Version{Source: "/c/broken.json"}},
		{Name: "never", Refused: &state.Refusal{}},
	}
	got := Make([]Wanted{{Name: "new", Source: "/c/moved.json", AutoStart: true}}, Host{Known: known, Broken: []string{"broken"}})
	want := []Action{
		{Name: "broken", Verb: None, Note: "its descriptor has errors; it runs on as it was"},
		{Name: "gone", Verb: Orphaned, Note: "its descriptor is gone; `sitelet prune` removes it"},
		{Name: "new", Verb: Create},
		{Name: "old", Verb: Orphaned, Note: "/c/moved.json has another container_name now, new; `sitelet prune` removes the old one"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDifferences(t *testing.T) {
	old := []workload.Input{{Field: "image.name", Value: "i:1"}, {Field: "host_name", Value: "h"}, {Field: "config.env[PASSWORD]", Value: "PASSWORD=a", Secret: true}, {Field: "x", Value: "1"}}
	now := []workload.Input{{Field: "image.name", Value: "i:2"}, {Field: "host_name", Value: "h"}, {Field: "config.env[PASSWORD]", Value: "PASSWORD=b", Secret: true}, {Field: "y", Value: "2"}}
	want := []Change{
		{Field: "image.name", Old: "i:1", New: "i:2"},
		{Field: "config.env[PASSWORD]", Old: "(secret)", New: "(secret)", Secret: true},
		{Field: "y", New: "2"},
		{Field: "x", Old: "1"},
	}
	if diff := cmp.Diff(want, differences(old, now)); diff != "" {
		t.Error(diff)
	}
}
