package state

import (
	"os"
	"path/filepath"
	"strings"
)

// Leftovers lists the workloads and namespaces of which a write that was killed, or is under way, has left a file. The next Change or
// WriteSite removes it, but after a power cut there may be nothing to write.
func (s Store) Leftovers() (workloads, namespaces []string) {
	return leftIn(s.Dir), leftIn(s.siteDir())
}

// leftIn reads names as renameio makes them: a dot, the name of the file and a number.
func leftIn(dir string) []string {
	entries, _ := os.ReadDir(dir) // one that is not there has none
	var names []string
	for _, e := range entries {
		name, hidden := strings.CutPrefix(e.Name(), ".")
		if name, number, ok := cutLast(name, suffix); hidden && ok && strings.Trim(number, "0123456789") == "" {
			names = append(names, name)
		}
	}
	return names
}

// cutLast is strings.Cut at the last separator: a name may have one as well.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// SweepSite removes what a WriteSite has left behind that was killed. No other may be under way.
func (s Store) SweepSite(namespace string) { removeLeft(s.siteDir(), namespace) }

func removeLeft(dir, name string) {
	left, _ := filepath.Glob(filepath.Join(dir, "."+name+suffix+"*"))
	for _, path := range left {
		os.Remove(path)
	}
}
