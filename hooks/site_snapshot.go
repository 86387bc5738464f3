package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/site"
)

// fromFile begins a document of a snapshot: the file that it was read from follows, in quotes.
const fromFile = "# From "

func (h Hooks) snapshotDir(namespace string) string {
	return filepath.Join(h.home(namespace), "internal/snapshot")
}

// readSnapshot returns the resources of a namespace as they were when they were last good all the way. What cannot be read or was
// not written by writeSnapshot, as upstream's, is left out.
func (h Hooks) readSnapshot(namespace string) []site.Last {
	entries, _ := os.ReadDir(h.snapshotDir(namespace))
	var all []site.Last
	for _, e := range entries {
		name, isYAML := strings.CutSuffix(e.Name(), ".yaml")
		kind, name, hasKind := strings.Cut(name, "-")
		file, bad := generator.Reader(h.Paths).File(filepath.Join(h.snapshotDir(namespace), e.Name()))
		if !isYAML || !hasKind || bad != nil {
			continue
		}
		first, document, _ := bytes.Cut(file.Data, []byte("\n"))
		quoted, _ := strings.CutPrefix(string(first), fromFile)
		if from, err := strconv.Unquote(quoted); err == nil {
			all = append(all, site.Last{Kind: kind, Name: name, File: from, Document: document})
		}
	}
	return all
}

// writeSnapshot keeps the resources that are good all the way, and forgets those that are gone. Those with an error stay as they
// were, to stand in. The documents hold the secrets that their files hold.
func (h Hooks) writeSnapshot(s Site) error {
	dir := h.snapshotDir(s.Namespace)
	var keep []string
	var good []*site.Resource
	for _, r := range s.Resources.All {
		if name := resourceFile(r); name != "" {
			if keep = append(keep, name); !r.Problems.HasErrors() {
				good = append(good, r)
			}
		}
	}
	errs := make([]error, len(good))
	inTurns(len(good), func(i int) {
		text := fmt.Appendf(nil, "%s%s\n%s", fromFile, strconv.Quote(good[i].File), good[i].Document)
		errs[i] = replace(filepath.Join(dir, resourceFile(good[i])), text, 0o600)
	})
	return errors.Join(append(errs, removeOthers(dir, keep))...)
}
