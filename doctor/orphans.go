package doctor

import "github.com/sitelet/sitelet/internal/plan"

// checkOrphans is about workloads that run although nothing wants them.
func checkOrphans(actions []plan.Action, speak speech) []Finding {
	const check = "orphans"
	var found []Finding
	for _, a := range actions {
		if a.Verb == plan.Orphaned {
			found = append(found, Finding{check, Warning, "the descriptor of " + a.Name + " is gone, and " + a.Name + " is still there",
				"Run " + speak.sitelet("prune "+a.Name) + ", or bring the descriptor back."})
		}
	}
	if found == nil {
		return one(check, OK, "none", "")
	}
	return found
}
