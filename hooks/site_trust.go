package hooks

import (
	"fmt"
	"path/filepath"

	"github.com/sitelet/sitelet/generator"
)

// checkHome refuses a namespace whose directories others may change: a link in the place of one would lead what is written, and
// removed, elsewhere, and what the router reads would be theirs.
func (h Hooks) checkHome(namespace string) error {
	reader := generator.Reader(h.Paths)
	for _, dir := range []string{"internal/snapshot", "runtime/certs", "runtime/issuers", "runtime/links", "runtime/resources", "runtime/router"} {
		if d := reader.Trust(filepath.Join(h.home(namespace), dir)); d != nil {
			return fmt.Errorf("the site %s is left alone: %s. %s", namespace, d.Message, d.Hint)
		}
	}
	return nil
}
