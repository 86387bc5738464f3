package doctor

import (
	"slices"

	"github.com/sitelet/sitelet/internal/diag"
)

// checkFiles is about what is in the inputs, which another command says all about, but for what checkPermissions has said.
func checkFiles(found, said diag.List, speak speech) []Finding {
	const check = "files"
	errors := 0
	for _, d := range found {
		if d.Severity == diag.Error && !slices.Contains(said, d) {
			errors++
		}
	}
	if errors == 0 {
		return one(check, OK, "no configuration, descriptor or resource has errors", "")
	}
	return one(check, Warning, diag.Counted(errors, "error")+" in configuration, descriptors or resources, of which only what is good is used",
		"Run "+speak.sitelet("check")+", which says what to do about each.")
}
