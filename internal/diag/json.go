package diag

import (
	"bytes"
	"encoding/json"
	"io"
)

// finding is the stable form of a Diagnostic for other programs: every key is always there.
type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Field    string `json:"field"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

// PrintJSON writes the findings as one JSON array, [] when there are none.
func PrintJSON(w io.Writer, l List) error {
	list := make([]finding, 0, len(l))
	for _, d := range l {
		list = append(list, finding{d.File, d.Line, d.Column, d.Field, d.Severity.String(), d.Message, d.Hint})
	}
	return EncodeJSON(w, list)
}

// EncodeJSON writes a value so that it can be read and does no harm to a terminal.
func EncodeJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(escapeC1(b.Bytes()))
	return err
}

// escapeC1 writes DEL and the control characters U+0080 to U+009F, which JSON leaves as they are, in JSON's escaped form:
// some terminals take U+009B for the start of a sequence. They can only stand within strings.
func escapeC1(text []byte) []byte {
	const hex = "0123456789abcdef"
	var b []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == 0x7f:
			b = append(b, `\u007f`...)
		case c == 0xc2 && text[i+1] < 0xa0:
			i++
			b = append(b, `\u00`...)
			b = append(b, hex[text[i]>>4], hex[text[i]&15])
		default:
			b = append(b, c)
		}
	}
	return b
}
