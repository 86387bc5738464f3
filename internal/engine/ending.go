package engine

import "strings"

const (
	// maxEnding bounds what is kept of a container's output, in which a line may have any length.
	maxEnding = 64 << 10
	// maxLine bounds a line of it.
	maxLine = 2 << 10
)

// ending keeps the end of what is written to it.
type ending struct{ data []byte }

func (e *ending) Write(p []byte) (int, error) {
	e.data = append(e.data, p[max(0, len(p)-maxEnding):]...)
	if len(e.data) > 2*maxEnding {
		e.data = append(e.data[:0], e.data[len(e.data)-maxEnding:]...)
	}
	return len(p), nil
}

// lines returns the lines of the end, and the ends of those that are too long.
func (e *ending) lines() []string {
	text := strings.TrimRight(string(e.data[max(0, len(e.data)-maxEnding):]), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > maxLine {
			lines[i] = "…" + strings.ToValidUTF8(line[len(line)-maxLine:], "")
		}
	}
	return lines
}
