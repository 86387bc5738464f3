package descriptor

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// SecretName tells whether a variable called name is likely to hold a secret, by the words of the name: DB_PASSWORD,
// PGPASSWORD, apiKey and AWS_ACCESS_KEY_ID do, MONKEY and PWD do not.
func SecretName(name string) bool {
	last := ""
	for word := range nameWords(name) {
		switch word {
		case "PASS", "PSK", "PIN", "AUTH":
			return true
		case "PWD":
			if last != "" {
				return true
			}
		case "KEY", "KEYS":
			if slices.Contains([]string{"API", "PRIVATE", "ACCESS", "SIGNING", "ENCRYPTION", "MASTER", "SHARED"}, last) {
				return true
			}
		}
		for _, ending := range []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL", "APIKEY", "PRIVATEKEY", "ACCESSKEY"} {
			if strings.HasSuffix(strings.TrimSuffix(word, "S"), ending) {
				return true
			}
		}
		last = word
	}
	return false
}

// nameWords yields the words of DB_PASSWORD, db-password or dbPassword: DB and PASSWORD.
func nameWords(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, lower := -1, false
		for i, r := range name {
			letter := unicode.IsLetter(r) || unicode.IsDigit(r)
			if start >= 0 && (!letter || lower && unicode.IsUpper(r)) {
				if !yield(strings.ToUpper(name[start:i])) {
					return
				}
				start = -1
			}
			if start < 0 && letter {
				start = i
			}
			lower = unicode.IsLower(r)
		}
		if start >= 0 {
			yield(strings.ToUpper(name[start:]))
		}
	}
}

// findSecrets notes the strings that must not be shown, by their form alone, so that it also works for what is broken
// or in the wrong place: a value of a secret's name, or of "keys", and NAME=VALUE or NAME: VALUE with such a name.
func (d *document) findSecrets() {
	for id, n := range d.nodes {
		if n.kind == '"' && d.secret(id) {
			d.secrets = append(d.secrets, n.at)
		}
	}
}

func (d *document) secret(id int) bool {
	named := d.nodes[id]
	if named.keyEnd == 0 && id > 0 {
		named = d.nodes[named.parent]
	}
	switch key := d.data[named.keyAt:named.keyEnd]; {
	case string(key) == `"keys"`:
		return true
	case named.key == nil && SecretName(string(key)):
		return true // none of the keys of the schema is such a name
	}
	raw := d.raw(id)
	end := bytes.IndexAny(raw, "=:")
	return end > 0 && SecretName(string(raw[1:end]))
}

// secretLine tells whether a line that could not be parsed may hold a secret: it names one, or a key's file.
func secretLine(line []byte) bool {
	words := bytes.FieldsFunc(line, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(words, func(w []byte) bool {
		return string(w) == "keys" || string(w) == "decrypt_config" || SecretName(string(w))
	})
}

// secretLines returns the lines that hold a secret, ascending. A JSON string never spans lines.
func (d *document) secretLines() []int {
	lines := lineCounter{data: d.data}
	var list []int
	for _, at := range d.secrets {
		list = append(list, lines.position(at).Line)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
