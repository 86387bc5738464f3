package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"
)

// TestPrintStrings wants strings to come back from what is printed as they were, and none to do something to a terminal.
func TestPrintStrings(t *testing.T) {
	bareWords := []string{"web", "skupper-east.service", "/etc/sitelet/containers/web.json", "e5", "on trial",
		"docker.io/library/busybox:1", "see `sitelet doctor`"}
	texts := append(bareWords, "", "123456", "1e5", "123e456789", ".inf", ".NaN", "0x1F", "0o17", "1_000", "2026-11-30T00:00:00Z", "1:30", "+1",
		"yes", "No", "on", "null", "~", "a: b", "a #b", "trailing ", " x", "- x", "? a", "*a", "&a", "!x", "%x", "|", "{a}", "[", "<<", "=", "'q'",
		`"dq"`, `a\b`, "a\nb\n", "a\r\nb", "tab\tx", "\x1b[31m", "\u009b31m", "\x7f", "é日🚀", "\u2028", "<&>", "a:", "a(: b)")
	value := map[string]any{"texts": texts, "number": 5, "flag": true, "none": nil, "empty": []string{}, "object": map[string]any{}}

	for name, print := range map[string]func(*bytes.Buffer) error{
		"YAML": func(b *bytes.Buffer) error { return printYAML(b, value) },
		"JSON": func(b *bytes.Buffer) error { return printJSON(b, value) },
	} {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(name, err)
		}
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
			t.Errorf("%s: holds %q", name, b.String()[i:i+2])
		}
		read := json.Unmarshal
		if name == "YAML" {
			read = func(data []byte, v any) error { return yaml.Unmarshal(data, v) }
			for _, bare := range []string{"\n- web\n", "\n- on trial\n", "\n- docker.io/library/busybox:1\n", "\n- see `sitelet doctor`\n", "\n- /etc/sitelet/containers/web.json\n", "\n- \"1e5\"\n", "empty: []\n", "none: null\n"} {
				if !strings.Contains(b.String(), bare) {
					t.Errorf("there is no %q in\n%s", bare, b.String())
				}
			}
		}
		var back struct{ Texts []any }
		if err := read(b.Bytes(), &back); err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, b.String())
		}
		for i, want := range texts {
			if back.Texts[i] != want {
				t.Errorf("%s: %q comes back as %#v", name, want, back.Texts[i])
			}
		}
	}
}
