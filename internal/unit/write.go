package unit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word writes one word for a key that takes a list of words, such as Environment= or RequiresMountsFor=:
// systemd reads back exactly word. For Exec keys use CommandLine.
func Word(word string) string {
	return Quote(strings.ReplaceAll(word, "%", "%%"))
}

// CommandLine writes a command for an Exec key: systemd runs exactly argv. argv[0] is an absolute path or a program's name.
func CommandLine(argv ...string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = Word(strings.ReplaceAll(word, "$", "$$"))
	}
	return strings.Join(words, " ")
}

// Text writes a value that systemd takes as one text, such as Description=. Such a text can hold neither line breaks nor
// blanks around it: control characters become spaces.
func Text(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	if strings.HasSuffix(text, `\`) {
		text += "\u200B" // a zero-width space keeps the backslash from taking in the next line
	}
	return strings.ReplaceAll(text, "%", "%%")
}

// Quote puts word into double quotes with C escapes where it needs them. Specifiers and variables in it stay alive.
func Quote(word string) string {
	if word != "" && word != ";" && strings.IndexFunc(word, needsQuotes) < 0 && ValidText(word) {
		return word
	}
	var b strings.Builder
	b.WriteByte('"')
	for len(word) > 0 {
		r, size := utf8.DecodeRuneInString(word)
		char := word[:size]
		word = word[size:]
		if i := strings.IndexByte("\a\b\f\n\r\t\v\\\"", char[0]); i >= 0 {
			b.WriteString(`\` + `abfnrtv\"`[i:i+1])
			continue
		}
		if needsEscape(r) || !ValidText(char) {
			for _, c := range []byte(char) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
			continue
		}
		b.WriteString(char)
	}
	b.WriteByte('"')
	return b.String()
}

func needsQuotes(r rune) bool {
	return r == '"' || r == '\'' || r == '\\' || unicode.IsSpace(r) || unicode.IsControl(r)
}

func needsEscape(r rune) bool { return r < ' ' || r == 0x7F }
