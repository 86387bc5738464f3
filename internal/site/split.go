package site

import (
	"bytes"
	"strings"
)

// chunk is a document of a file as text.
type chunk struct {
	file string
	data []byte // of the whole file
	low  int    // the chunk is data[low:high]
	high int
}

func (c chunk) text() []byte { return c.data[c.low:c.high] }

// split cuts a file at the lines that begin or end a document, which nothing within a document can be taken for (YAML 1.2.2,
// section 9.1.2). So a syntax error spoils its own document only. Documents without content are left out.
func split(file string, data []byte) (chunks []chunk) {
	low := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		low = 3
	}
	add := func(high int) {
		c := chunk{file, data, low, high}
		if !empty(c.text()) {
			chunks = append(chunks, c)
		}
		low = high
	}
	for at := low; at < len(data); {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch line := data[at:end]; {
		case marks(line, "---"):
			add(at)
		case marks(line, "..."):
			add(at)
			low = end
		}
		at = end
	}
	add(len(data))
	return chunks
}

// marks tells whether a line begins with mark as a word of its own.
func marks(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// empty tells whether there is nothing but comments, directives and the mark of a document in text.
func empty(text []byte) bool {
	for line := range bytes.Lines(text) {
		if marks(line, "---") {
			line = line[3:]
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}
