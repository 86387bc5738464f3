package unit

import (
	"fmt"
	"strings"
)

// expandSpecifiers replaces %X by what specifier returns for X, and %% by %. A percent sign before anything
// but a letter or digit stays. An unknown letter is an error: systemd refuses the unit.
func expandSpecifiers(text string, specifier func(byte) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if after == "" {
			b.WriteByte('%')
			return b.String(), nil
		}
		letter := after[0]
		value, known := specifier(letter)
		switch {
		case letter == '%':
			b.WriteByte('%')
		case known:
			b.WriteString(value)
		case isAlphanumeric(letter):
			return "", fmt.Errorf("the specifier %%%c is unknown; write %%%% for a percent sign", letter)
		default:
			b.WriteString("%" + after[:1])
		}
		text = after[1:]
	}
}

// expandVariables replaces ${X} in a word by its value, a word $X by the words of its value, and $$ by $.
func expandVariables(words []string, env func(string) (string, bool)) []string {
	var argv []string
	for _, word := range words {
		name, alone := strings.CutPrefix(word, "$")
		if !alone || strings.HasPrefix(name, "{") || strings.HasPrefix(name, "$") {
			argv = append(argv, expandBraces(word, env))
			continue
		}
		value := lookup(name, env)
		for {
			part, rest, ok, _ := splitting{relaxed: true}.next(value)
			if !ok {
				break
			}
			argv, value = append(argv, part), rest
		}
	}
	return argv
}

func expandBraces(word string, env func(string) (string, bool)) string {
	var b strings.Builder
	start := 0 // of what is not yet written
	for i := 0; i+1 < len(word); i++ {
		if word[i] != '$' {
			continue
		}
		i++
		switch word[i] {
		case '$':
			b.WriteString(word[start:i])
			start = i + 1
		case '{':
			n := strings.IndexAny(word[i:], "}:")
			if n < 0 {
				i = len(word)
				break
			}
			if word[i+n] == '}' {
				b.WriteString(word[start:i-1] + lookup(word[i+1:i+n], env))
				start = i + n + 1
			}
			i += n
		}
	}
	return b.String() + word[start:]
}

// lookup returns the value of a variable, or nothing if it is unset or its name is invalid.
func lookup(name string, env func(string) (string, bool)) string {
	if !validName(name) {
		return ""
	}
	value, _ := env(name)
	return value
}

// validName tells whether name can be a variable for systemd: letters, digits and underscores, no digit first.
func validName(name string) bool {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if name[i] != '_' && !isAlphanumeric(name[i]) {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
