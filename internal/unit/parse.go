// Package unit reads unit files and command lines as systemd does, and writes text that systemd reads back unchanged.
// The rules are those of systemd.syntax(7) and systemd.service(5); where these leave something open,
// those of systemd's own readers (src/shared/conf-parser.c, src/basic/extract-word.c, src/basic/env-util.c).
package unit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// blanks separate words and are cut off around lines, keys and values.
const blanks = " \t\n\r"

// maxLine is the longest line that systemd reads, in bytes.
const maxLine = 1 << 20

// Assignment is one KEY=VALUE line; Value is as written, without the blanks around it.
type Assignment struct{ Section, Key, Value string }

// File is a unit file as systemd understands it: its assignments in order, continued lines joined, comments left out.
type File []Assignment

// Parse reads the text of a unit file. It returns an error where systemd would refuse the whole file;
// lines that systemd ignores are left out.
func Parse(text []byte) (File, error) {
	var file File
	section := ""
	lines, err := logicalLines(text)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		switch {
		case !ValidText(line):
			return nil, fmt.Errorf("a line is not valid UTF-8: %q", line)
		case line[0] == '[' && (line[len(line)-1] != ']' || !isSafe(line)):
			return nil, fmt.Errorf("a section header is invalid: %q", line)
		case line[0] == '[':
			section = line[1 : len(line)-1]
		default:
			key, value, found := strings.Cut(line, "=")
			if found && key != "" && section != "" {
				file = append(file, Assignment{section, strings.Trim(key, blanks), strings.Trim(value, blanks)})
			}
		}
	}
	return file, nil
}

// logicalLines returns the lines of text that are neither empty nor comments, continued ones joined, without blanks around them.
func logicalLines(text []byte) ([]string, error) {
	var lines []string
	joined := ""
	add := func() {
		if line := strings.Trim(joined, blanks); line != "" {
			lines = append(lines, line)
		}
		joined = ""
	}
	marked := false // a byte order mark was seen and left out
	for len(text) > 0 {
		var line string
		line, text = cutLine(text)
		if len(joined)+len(line) >= maxLine {
			return nil, errors.New("a line is longer than 1 MiB")
		}
		if start := strings.TrimLeft(line, blanks); strings.HasPrefix(start, "#") || strings.HasPrefix(start, ";") {
			continue // also between a line and its continuation
		}
		if !marked {
			line, marked = strings.CutPrefix(line, "\uFEFF")
		}
		joined += line
		if continues(joined) {
			joined = joined[:len(joined)-1] + " "
			continue
		}
		add()
	}
	add()
	return lines, nil
}

// cutLine returns the first line of text and what follows it. A line ends in a newline, a carriage return or a NUL,
// or in one of each in a row.
func cutLine(text []byte) (line string, rest []byte) {
	end := bytes.IndexAny(text, "\n\r\x00")
	if end < 0 {
		return string(text), nil
	}
	next := end
	for next < len(text) && bytes.IndexByte([]byte("\n\r\x00"), text[next]) >= 0 {
		marks := text[end:next]
		if bytes.IndexByte(marks, 0) >= 0 || bytes.IndexByte(marks, text[next]) >= 0 {
			break
		}
		next++
	}
	return string(text[:end]), text[next:]
}

// continues tells whether line ends in a backslash that no other backslash escapes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// All returns the values of key in section in order. As for the settings that take a list,
// an empty assignment drops those before it.
func (f File) All(section, key string) []string {
	var values []string
	for _, a := range f {
		if a.Section != section || a.Key != key {
			continue
		}
		if a.Value == "" {
			values = nil
			continue
		}
		values = append(values, a.Value)
	}
	return values
}

// Last returns the last value of key in section, which may be empty.
func (f File) Last(section, key string) (value string, ok bool) {
	for _, a := range f {
		if a.Section == section && a.Key == key {
			value, ok = a.Value, true
		}
	}
	return value, ok
}

// isSafe tells whether text holds no control characters, quotes and backslashes.
func isSafe(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return needsEscape(r) || strings.ContainsRune(`"'\`, r) }) < 0
}
