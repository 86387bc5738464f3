package doctor

import (
	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
)

// reloadPath starts the reload for those path units that see changes.
const reloadPath = "sitelet-reload.path"

// checkAutoReload says for what it is on; off is as good.
func checkAutoReload(u units, namespaces []string, speak speech) []Finding {
	const check = "auto-reload"
	if u.err != nil {
		return unknown(check, errNoSystemd)
	}
	var found []Finding
	var on []string
	watch := func(unit, what string) {
		switch u.state(unit) {
		case "active":
			on = append(on, what)
		case "failed":
			found = append(found, Finding{check, Error, unit + " has failed, so changes of " + what + " are not seen", "Run " + speak.systemctl("restart "+unit) + "."})
		}
	}
	watch(hooks.ContainersPath, "descriptors")
	watch(hooks.AllSitesPath, "the list of namespaces")
	for _, namespace := range namespaces {
		watch(hooks.SitePath(namespace), "namespace "+namespace)
	}
	switch {
	case len(on) > 0 && !u.active(reloadPath):
		found = append(found, Finding{check, Error, reloadPath + " is " + u.state(reloadPath) + ", so changes are seen and not taken up", "Run " + speak.systemctl("restart "+reloadPath) + "."})
	case len(on) > 0:
		found = append(found, Finding{check, OK, "on for " + diag.AllOf(on), ""})
	case found == nil:
		found = one(check, Note, "off", "Changes are taken up by "+speak.sitelet("reload")+"; "+speak.systemctl("enable --now "+hooks.ContainersPath)+" has those of descriptors taken up by themselves, "+speak.systemctl("enable --now "+hooks.AllSitesPath)+" those of sites.")
	}
	return found
}
