package site

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// document returns the resource below root as YAML in one canonical form: keys sorted, with the namespace, without status and
// without what kubectl and the server note for themselves.
func (n *node) document(namespace string) []byte {
	var b bytes.Buffer
	for _, m := range n.sorted() {
		switch m.key {
		case "status":
		case "metadata":
			b.WriteString("metadata:\n")
			m.metadata(&b, namespace)
		default:
			m.emitMember(&b, 0)
		}
	}
	return b.Bytes()
}

func (n *node) metadata(b *bytes.Buffer, namespace string) {
	members := slices.DeleteFunc(n.sorted(), func(m *node) bool { return m.key == "namespace" || m.key == "managedFields" })
	members = append(members, &node{key: "namespace", kind: textKind, text: namespace})
	slices.SortFunc(members, byKey)
	for _, m := range members {
		if m.key == "annotations" && m.lookup(lastApplied) != nil {
			clone := *m
			clone.members = slices.DeleteFunc(slices.Clone(m.members), func(a *node) bool { return a.key == lastApplied })
			if len(clone.members) == 0 {
				continue
			}
			m = &clone
		}
		m.emitMember(b, 2)
	}
}

func byKey(a, b *node) int { return cmp.Compare(a.key, b.key) }

// sorted returns the members by key, the first of each.
func (n *node) sorted() []*node {
	members := slices.Clone(n.members)
	slices.SortStableFunc(members, byKey)
	return slices.CompactFunc(members, func(a, b *node) bool { return a.key == b.key })
}

// emitMember writes "key: value" and a line end, indented.
func (n *node) emitMember(b *bytes.Buffer, indent int) {
	writeIndent(b, indent)
	writeScalar(b, n.key)
	b.WriteByte(':')
	n.emitValue(b, indent, false)
}

// emitValue writes what follows a key or, in a list, a dash.
func (n *node) emitValue(b *bytes.Buffer, indent int, inList bool) {
	switch n.kind {
	case nullKind:
		b.WriteString(" null\n")
	case textKind:
		b.WriteByte(' ')
		writeText(b, n.text, indent+2)
		b.WriteByte('\n')
	case objectKind:
		if len(n.members) == 0 {
			b.WriteString(" {}\n")
			return
		}
		for i, m := range n.sorted() {
			if inList && i == 0 {
				b.WriteByte(' ')
				writeScalar(b, m.key)
				b.WriteByte(':')
				m.emitValue(b, indent+2, false)
				continue
			}
			if i == 0 {
				b.WriteByte('\n')
			}
			m.emitMember(b, indent+2)
		}
	case listKind:
		if len(n.members) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteByte('\n')
		if inList {
			indent += 2
		}
		for _, m := range n.members {
			writeIndent(b, indent)
			b.WriteByte('-')
			m.emitValue(b, indent, true)
		}
	default:
		b.WriteString(" " + n.text + "\n")
	}
}

func writeIndent(b *bytes.Buffer, indent int) {
	for range indent {
		b.WriteByte(' ')
	}
}

// writeText writes a string of several lines as a block where a block can hold it.
func writeText(b *bytes.Buffer, text string, indent int) {
	if !blockable(text) {
		writeScalar(b, text)
		return
	}
	b.WriteByte('|')
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('-')
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteByte('\n')
		if line != "" {
			writeIndent(b, indent)
			b.WriteString(line)
		}
	}
}

// blockable tells whether text is lines of printable characters, the first without blanks before it and the last not empty.
func blockable(text string) bool {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 2 || lines[0] == "" || lines[0][0] == ' ' || lines[len(lines)-1] == "" {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unprintable(r) })
}

// writeScalar writes a string in one line, in quotes unless it is a plain word to every YAML there is.
func writeScalar(b *bytes.Buffer, text string) {
	if plain(text) {
		b.WriteString(text)
		return
	}
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case !unprintable(r):
			b.WriteRune(r)
		case r < 0x10000:
			b.WriteString(`\u` + hex(r, 4))
		default:
			b.WriteString(`\U` + hex(r, 8))
		}
	}
	b.WriteByte('"')
}

func hex(r rune, width int) string {
	digits := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", width-len(digits)) + digits
}

func unprintable(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }

// plain tells whether text means itself without quotes, by YAML 1.1, which Kubernetes reads, as well as 1.2.
func plain(text string) bool {
	if text == "" {
		return false
	}
	if text[0] >= '0' && text[0] <= '9' {
		addr, err := netip.ParseAddr(text)
		return err == nil && addr.Is4()
	}
	if !unicode.IsLetter(rune(text[0])) || text[0] >= 0x80 || text[len(text)-1] == ':' || text[len(text)-1] == ' ' {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !alphanumeric(c) && strings.IndexByte("-._/ :", c) < 0 || c == ':' && text[i+1] == ' ' {
			return false
		}
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return false
	}
	return true
}
