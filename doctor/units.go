package doctor

import "strings"

// checkUnits is about failures of sitelet's own units. Those of a trial are news of a version, which `sitelet status` tells, and so are
// those of a create unit whose service runs all the same.
func checkUnits(u units, speak speech) []Finding {
	const check = "units"
	if u.err != nil {
		return unknown(check, errNoSystemd)
	}
	var found []Finding
	for _, l := range u.all {
		kind, instance, _ := strings.Cut(strings.TrimSuffix(l.Name, ".service"), "@")
		switch {
		case l.State != "failed" || !strings.HasPrefix(l.Name, "sitelet-") || !strings.HasSuffix(l.Name, ".service"):
			continue
		case kind == "sitelet-trial" || kind == "sitelet-create" && u.active(instance+".service"):
			continue
		}
		found = append(found, Finding{check, Error, l.Name + " has failed",
			"Run " + speak.systemctl("restart "+l.Name) + " when what " + speak.journalctl(l.Name) + " says is put right."})
	}
	if found == nil {
		return one(check, OK, "none of sitelet's own has failed", "")
	}
	return found
}
