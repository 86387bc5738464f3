package diag

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quote returns s as it can stand in a message: in quotes, and shortened.
func Quote(s string) string { return strconv.Quote(Shorten(s)) }

// Shorten cuts what is too long for a message.
func Shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// OneOf returns "a, b or c".
func OneOf(words []string) string { return listed(words, " or ") }

// AllOf returns "a, b and c".
func AllOf(words []string) string { return listed(words, " and ") }

func listed(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + last + words[end]
}

// Counted returns "1 error" or "2 errors".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
