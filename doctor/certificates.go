package doctor

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/pki"
)

const (
	// renewalSlack is how long after its time a renewal is late: a timer makes it once a day.
	renewalSlack = 2 * 24 * time.Hour
	// nearEnd is how long before its end somebody has to see to a certificate that is not renewed here; for one that lives less
	// than three times as long it is the last third.
	nearEnd = 30 * 24 * time.Hour
)

func checkCertificates(all []siteCertificates, now time.Time, speak speech) []Finding {
	const check = "certificates"
	var found []Finding
	count := 0
	for _, s := range all {
		for _, age := range s.ages {
			count++
			if f := checkAge(s.namespace, age, now, speak); f != nil {
				f.Check = check
				found = append(found, *f)
			}
		}
	}
	switch {
	case count == 0:
		return one(check, OK, "no site has any", "")
	case found == nil:
		return one(check, OK, "none of "+diag.Counted(count, "certificate")+" of sites is near its end", "")
	}
	return found
}

func checkAge(namespace string, a pki.Age, now time.Time, speak speech) *Finding {
	what := fmt.Sprintf("the certificate %s of namespace %s", a.Name, namespace)
	if a.Authority {
		what = fmt.Sprintf("the CA %s of namespace %s", a.Name, namespace)
	}
	hint := "Put a newer one in its place: " + cmp.Or(a.From, "`sitelet check` says where it comes from") + ". Then run " + speak.sitelet("reload "+namespace) + "."
	near := a.End.Add(-nearEnd)
	if a.Due.After(near) {
		near = a.Due
	}
	if a.Renewed {
		hint = "Run " + speak.sitelet("reload "+namespace) + ", which makes a new one."
		near = a.Due.Add(renewalSlack)
	}
	switch {
	case now.After(a.End):
		return &Finding{"", Error, what + " expired on " + day(a.End), hint}
	case now.After(near) && a.Renewed:
		return &Finding{"", Warning, what + " was to be renewed on " + day(a.Due), hint}
	case now.After(near):
		return &Finding{"", Warning, what + " expires on " + day(a.End), hint}
	}
	return nil
}

// checkRenewal is about the timers that renew certificates of routers that run.
func checkRenewal(u units, namespaces []string, speak speech) []Finding {
	const check = "renewal"
	if u.err != nil {
		return unknown(check, errNoSystemd)
	}
	var found []Finding
	for _, namespace := range namespaces {
		timer := "sitelet-renew@" + namespace + ".timer"
		if u.active(generator.SiteWorkload(namespace)+".service") && !u.active(timer) {
			found = append(found, Finding{check, Error, timer + " is " + u.state(timer) + ", so certificates of namespace " + namespace + " are not renewed",
				"Run " + speak.systemctl("start "+timer) + "."})
		}
	}
	if found == nil {
		return one(check, OK, "the timer of each site that runs is active", "")
	}
	return found
}
