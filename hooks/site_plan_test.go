package hooks

import (
	"context"
	"slices"
	"testing"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/plan"
)

// runningUnits is a systemd in which these units run.
type runningUnits struct {
	scripted
	active []string
}

func (r *runningUnits) Active(_ context.Context, unit string) bool {
	return slices.Contains(r.active, unit)
}

// TestSiteActions has a plan say what a running router is in for, and do to it what it says.
func TestSiteActions(t *testing.T) {
	h := siteHooks(t)
	running(t, h)
	systemd := &runningUnits{active: []string{"skupper-ns1.service"}}
	systemd.h, systemd.m = &h, &memory{}
	h.Systemd = func(context.Context) (Manager, error) { return systemd, nil }
	look := func(verb plan.Verb) plan.Action {
		t.Helper()
		sites, _ := h.LookAtSites()
		p := Planned{Actions: []plan.Action{{Name: generator.SiteWorkload("ns1"), Verb: verb}}}
		h.addSites(t.Context(), &p, sites)
		return p.Actions[0]
	}
	s := refresh(t, h)
	if err := h.noteApplied("ns1", applied{}.next(s, h.profileDigests(s.Namespace, s.Entities), h.now())); err != nil {
		t.Fatal(err)
	}
	if a := look(plan.None); a.Verb != plan.None {
		t.Errorf("nothing has changed: %+v", a)
	}
	put(t, h, "resources/new.yaml", listenerText("new", 9999))
	if a := look(plan.None); a.Verb != plan.Reload || !a.Live || len(a.Changes) != 1 || a.Changes[0].Field != "tcpListener listener/new" || a.Changes[0].Old != "" {
		t.Errorf("a new listener: %+v", a)
	}
	put(t, h, "resources/new.yaml", "{")
	if a := look(plan.None); a.Verb != plan.None {
		t.Errorf("a mistake: %+v", a)
	}
	put(t, h, "resources/second.yaml", resourceText("Site", "t", ""))
	if a := look(plan.None); a.Verb != plan.None {
		t.Errorf("an impossible site: %+v", a)
	}
	unput(t, h, "resources")
	refresh(t, h)
	if a := look(plan.Orphaned); a.Verb != plan.Stop || !a.Live {
		t.Errorf("no Site: %+v", a)
	}
	if err := h.stopSite(t.Context(), systemd, "ns1"); err != nil || !mustRecord(t, h).Stopped {
		t.Fatalf("%v %+v", err, mustRecord(t, h))
	}
	systemd.active = nil
	if a := look(plan.Orphaned); a.Verb != plan.None {
		t.Errorf("no Site, and stopped: %+v", a)
	}
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	refresh(t, h)
	if a := look(plan.None); a.Verb != plan.Start {
		t.Errorf("the Site is back: %+v", a)
	}
	if err := h.startSite(t.Context(), systemd, "ns1"); err != nil || mustRecord(t, h).Stopped {
		t.Fatalf("%v %+v", err, mustRecord(t, h))
	}
	if want := []string{"stop skupper-ns1.service", "start skupper-ns1.service"}; !slices.Equal(systemd.calls, want) {
		t.Errorf("systemd was asked to %q, want %q", systemd.calls, want)
	}
	// What an operator has stopped stays stopped.
	if a := look(plan.None); a.Verb != plan.None {
		t.Errorf("stopped by somebody: %+v", a)
	}
}
