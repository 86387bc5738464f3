package doctor

import (
	"errors"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/plan"
)

// checkGenerator is about units that are of other files than those that there are, and changes that wait for a reload.
func checkGenerator(in inputs, u units, speak speech) []Finding {
	const check = "generator"
	if !in.hasRun && errors.Is(u.err, ErrElsewhere) {
		return one(check, Note, "it has not run: "+ErrElsewhere.Error(), "")
	}
	if !in.hasRun {
		return one(check, Warning, "it has not run in this boot", "Run "+speak.systemctl("daemon-reload")+"; if that changes nothing, install sitelet anew.")
	}
	if in.plan.Unread != "" {
		return one(check, Note, in.plan.Unread+": descriptors and sites are not read", "")
	}
	pending := 0
	for _, a := range in.plan.Actions {
		if a.Pending() && a.Verb != plan.Resume {
			pending++
		}
	}
	if pending == 0 && !in.plan.Stale() {
		return one(check, OK, "units are those of the files that there are", "")
	}
	level, message := Note, "files have changed since it ran"
	if pending > 0 {
		message = diag.Counted(pending, "change") + " of files not taken up yet"
	}
	if u.active("sitelet-reload.path") && !u.busy("sitelet-reload.service") {
		level, message = Warning, message+", although auto-reload is on"
	}
	return one(check, level, message, "See what it comes to with "+speak.sitelet("plan")+", and run "+speak.sitelet("reload")+".")
}
