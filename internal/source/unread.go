package source

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
)

// Unread warns of the files in a directory whose names, in lower case, are such as nobody reads there; not of what editors leave
// behind. A directory that cannot be read has none.
func Unread(dir string, such func(name string) bool, message, hint string) diag.List {
	entries, _ := os.ReadDir(dir)
	var found diag.List
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.Type().IsRegular() && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") && such(name) {
			found = append(found, diag.Diagnostic{File: filepath.Join(dir, e.Name()), Severity: diag.Warning, Message: message, Hint: hint})
		}
	}
	return found
}
