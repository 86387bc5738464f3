package machine

import (
	"io/fs"
	"strings"
)

// debianMirror returns the first Debian archive that the host's apt uses (sources.list(5), both formats), or
// the one that Debian names where there is none. Its argument is the host's root directory.
func debianMirror(host fs.FS) string {
	files, _ := fs.Glob(host, "etc/apt/sources.list.d/*")
	for _, name := range append([]string{"etc/apt/sources.list"}, files...) {
		if !strings.HasSuffix(name, ".list") && !strings.HasSuffix(name, ".sources") {
			continue
		}
		content, _ := fs.ReadFile(host, name)
		for line := range strings.Lines(string(content)) {
			if mirror := debianArchive(line); mirror != "" {
				return mirror
			}
		}
	}
	return "http://deb.debian.org/debian"
}

// debianArchive returns the address of a Debian archive in a line that names sources, or "".
// Others, such as that of security updates, end differently.
func debianArchive(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "deb" && !strings.EqualFold(words[0], "URIs:") {
		return ""
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "http") && strings.HasSuffix(strings.TrimSuffix(word, "/"), "/debian") {
			return word
		}
	}
	return ""
}
