package unit

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// splitting says how words are cut out of a text: blanks separate them, quotes of both kinds group and are removed.
type splitting struct {
	unescape    bool // a backslash starts a C escape; otherwise it makes the next character an ordinary one
	keepUnknown bool // keep a backslash that starts no escape; otherwise it is an error
	relaxed     bool // allow a quote that is not closed
}

var (
	errEscape = errors.New("a backslash starts no known escape sequence")
	errQuote  = errors.New("a quote is not closed")
)

// next returns the first word of text and the text from the second word on. ok is false when there is no word left.
func (s splitting) next(text string) (word, rest string, ok bool, err error) {
	text = strings.TrimLeft(text, blanks)
	if text == "" {
		return "", "", false, nil
	}
	var b []byte
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 == len(text):
			switch {
			case s.keepUnknown && (quote == 0 || s.relaxed):
				b = append(b, '\\')
			case !s.relaxed:
				return "", "", false, errEscape
			}
			return string(b), "", true, nil
		case c == '\\':
			i++
			decoded, n := []byte{text[i]}, 1
			if s.unescape {
				decoded, n = unescape(text[i:])
			}
			switch {
			case n > 0:
				b = append(b, decoded...)
				i += n - 1
			case s.keepUnknown:
				b = append(b, '\\', text[i])
			default:
				return "", "", false, errEscape
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && strings.IndexByte(blanks, c) >= 0:
			return string(b), strings.TrimLeft(text[i:], blanks), true, nil
		default:
			b = append(b, c)
		}
	}
	if quote != 0 && !s.relaxed {
		return "", "", false, errQuote
	}
	return string(b), "", true, nil
}

// unescape decodes the C escape at the start of text, which begins after the backslash.
// n is the number of bytes that it takes there; 0 means that it is none. A NUL cannot be written.
func unescape(text string) (decoded []byte, n int) {
	if i := strings.IndexByte(`abfnrtv\"'s`, text[0]); i >= 0 {
		return []byte{"\a\b\f\n\r\t\v\\\"' "[i]}, 1
	}
	start, digits, base := 1, 0, 16
	switch text[0] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		start, digits, base = 0, 3, 8
	}
	n = start + digits
	if len(text) < n {
		return nil, 0
	}
	code, err := strconv.ParseUint(text[start:n], base, 32)
	switch {
	case err != nil || code == 0:
		return nil, 0
	case text[0] == 'x' || base == 8:
		if code > 0xFF {
			return nil, 0
		}
		return []byte{byte(code)}, n
	case text[0] == 'U' && !validRune(rune(code)):
		return nil, 0
	case code >= 0xD800 && code <= 0xDFFF: // half of a UTF-16 pair, which systemd encodes as if it were a character
		return []byte{0xE0 | byte(code>>12), 0x80 | byte(code>>6)&0x3F, 0x80 | byte(code)&0x3F}, n
	}
	return utf8.AppendRune(nil, rune(code)), n
}

// ValidText tells whether systemd takes text for valid UTF-8; code points that are no characters (U+FFFE) are not for it.
func ValidText(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !validRune(r) }) < 0
		}
	}
	return true
}

// validRune is false for the code points that are no characters, which systemd refuses (unichar_is_valid in src/basic/utf8.c).
func validRune(r rune) bool {
	return utf8.ValidRune(r) && !(r >= 0xFDD0 && r <= 0xFDEF) && r&0xFFFE != 0xFFFE
}
