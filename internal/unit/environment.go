package unit

import (
	"slices"
	"strings"
)

// Env is a list of NAME=VALUE with each name once.
type Env []string

// Environment reads the values of Environment= keys, in order, as systemd.exec(5) says; specifier is as for Commands.
// A later assignment replaces an earlier one of the same name; what systemd ignores is left out.
func Environment(values []string, specifier func(letter byte) (value string, ok bool)) Env {
	var env Env
	for _, text := range values {
		for {
			word, rest, ok, err := execWords.next(text)
			if err != nil || !ok {
				break
			}
			text = rest
			word, err = expandSpecifiers(word, specifier)
			name, _, found := strings.Cut(word, "=")
			if err != nil || !found || !validName(name) || !ValidText(word) {
				continue
			}
			env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
			env = append(env, word)
		}
	}
	return env
}

// Lookup returns the value of the variable name.
func (e Env) Lookup(name string) (value string, ok bool) {
	for _, variable := range e {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
