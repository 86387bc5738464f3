package skrouter

import (
	"bytes"
	"regexp"
)

var variable = regexp.MustCompile(`\$(\w+|\{[^}]*\})`)

// Expand puts in the values of variables, $NAME or ${NAME}. Those that are not set stay, and so do lines that begin with #
// (skupper-router, scripts/expandvars.py).
func Expand(configuration []byte, lookup func(string) (string, bool)) []byte {
	lines := bytes.SplitAfter(configuration, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		lines[i] = variable.ReplaceAllFunc(line, func(name []byte) []byte {
			if value, ok := lookup(string(bytes.Trim(name, "${}"))); ok {
				return []byte(value)
			}
			return name
		})
	}
	return bytes.Join(lines, nil)
}
