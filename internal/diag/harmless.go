package diag

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Harmless escapes, as Go does in strings, whatever is not a printable character: control and format characters
// (line breaks, terminal sequences, changes of direction) and bytes that are not UTF-8.
func Harmless(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case unprintable(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// unprintable also holds for the replacement character, which is what broken UTF-8 decodes to.
func unprintable(r rune) bool {
	return r == utf8.RuneError || !unicode.IsPrint(r)
}
