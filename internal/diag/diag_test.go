package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	for _, test := range []struct {
		d    Diagnostic
		want string
	}{
		{Diagnostic{File: "a.json", Message: "is bad"}, "a.json: is bad."},
		{Diagnostic{File: "a.json", Line: 3, Column: 7, Field: "x.y[0]", Message: "is bad", Hint: "Make it good."}, "a.json:3:7: x.y[0]: is bad. Make it good."},
		{Diagnostic{File: "a.json", Line: 1, Column: 1, Severity: Warning, Message: "is odd"}, "a.json:1:1: warning: is odd."},
		{Diagnostic{File: "a\nb\x1b[2J.json", Field: "\x00", Message: "\u009b \u202e \xff Zürich 日本 🚀 \u00a0", Hint: "\t"},
			`a\nb\x1b[2J.json: \x00: \u009b \u202e \xff Zürich 日本 🚀 \u00a0. \t`},
		{Diagnostic{File: "a", Message: "\ufffd"}, `a: \ufffd.`},
	} {
		if got := test.d.String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestPrint(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	for _, test := range []struct {
		name, source string
		line, column int
		want         string // what follows the first line
	}{
		{"start", "abc\n", 1, 1, "  abc\n  ^\n"},
		{"end", "abc", 1, 4, "  abc\n     ^\n"},
		{"beyond", "abc", 1, 40, "  abc\n     ^\n"},
		{"second line", "a\nbc\nd", 2, 2, "  bc\n   ^\n"},
		{"last empty line", "a\n", 2, 1, "  \n  ^\n"},
		{"no such line", "a\n", 3, 1, ""},
		{"no line", "a\n", 0, 0, ""},
		{"tabs", "\ta\tb\n", 1, 4, "  \ta\tb\n  \t \t^\n"},
		{"CRLF", "a\r\nbc\r\n", 2, 2, "  bc\n   ^\n"},
		{"UTF-8", "üé日x\n", 1, 8, "  üé日x\n      ^\n"},
		{"combining", "e\u0301x\n", 1, 4, "  e\u0301x\n   ^\n"},
		{"within a character", "日x\n", 1, 2, "  \ufffd\ufffd\ufffdx\n   ^\n"},
		{"control", "\x1b[31m\x00\u009b\xff\u202ex\n", 1, 13, "  \ufffd[31m\ufffd\ufffd\ufffd\ufffdx\n           ^\n"},
		{"long, left", long, 1, 1, "  " + long[:100] + "…\n  ^\n"},
		{"long, middle", long, 1, 151, "  …" + long[90:190] + "…\n  " + strings.Repeat(" ", 61) + "^\n"},
		{"long, right", long, 1, 301, "  …" + long[240:] + "\n  " + strings.Repeat(" ", 61) + "^\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			d := Diagnostic{File: "f", Line: test.line, Column: test.column, Message: "m"}
			if err := Print(&b, List{d}, func(string) []byte { return []byte(test.source) }, false); err != nil {
				t.Fatal(err)
			}
			if want := d.String() + "\n" + test.want; b.String() != want {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want)
			}
		})
	}
}

func TestPrintSecret(t *testing.T) {
	var b bytes.Buffer
	l := List{{File: "f", Line: 1, Column: 1, Message: "m", Secret: true}, {File: "gone", Line: 1, Column: 1, Message: "m"}}
	source := func(file string) []byte {
		if file == "f" {
			return []byte("hunter2")
		}
		return nil
	}
	if err := Print(&b, l, source, false); err != nil {
		t.Fatal(err)
	}
	if want := "f:1:1: m.\ngone:1:1: m.\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestPrintColor(t *testing.T) {
	var b bytes.Buffer
	l := List{{File: "f", Line: 1, Column: 2, Message: "m"}, {File: "f", Line: 1, Column: 1, Message: "m", Severity: Warning}}
	if err := Print(&b, l, func(string) []byte { return []byte("ab") }, true); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1mf:1:2: m.\x1b[0m\n  ab\n   \x1b[1;31m^\x1b[0m\n" +
		"\x1b[1mf:1:1: warning: m.\x1b[0m\n  ab\n  \x1b[1;33m^\x1b[0m\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestPrintJSON(t *testing.T) {
	var b bytes.Buffer
	if err := PrintJSON(&b, nil); err != nil || b.String() != "[]\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	b.Reset()
	l := List{
		{File: "a<b>.json", Line: 3, Column: 7, Field: "x.y", Message: "is \"bad\" \x1b\u009b\x7f\u0085 ü", Hint: "H.", Secret: true},
		{File: "b.json", Severity: Warning, Message: "\xff"},
	}
	if err := PrintJSON(&b, l); err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "file": "a<b>.json",
    "line": 3,
    "column": 7,
    "field": "x.y",
    "severity": "error",
    "message": "is \"bad\" \u001b\u009b\u007f\u0085 ü",
    "hint": "H."
  },
  {
    "file": "b.json",
    "line": 0,
    "column": 0,
    "field": "",
    "severity": "warning",
    "message": "\ufffd",
    "hint": ""
  }
]
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	var back []map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back[0]["message"] != l[0].Message {
		t.Errorf("read back %q, %v", back, err)
	}
}

func TestSort(t *testing.T) {
	l := List{{File: "b", Line: 1}, {File: "a", Line: 2, Column: 1}, {File: "a", Line: 1, Column: 9}, {File: "a", Line: 1, Column: 2, Message: "1"}, {File: "a", Line: 1, Column: 2, Message: "2"}}
	l.Sort()
	if l[0].Message != "1" || l[1].Message != "2" || l[2].Column != 9 || l[3].Line != 2 || l[4].File != "b" {
		t.Errorf("got %v", l)
	}
}

func FuzzPrint(f *testing.F) {
	f.Add("a\tb\nc\x1b[0m", 2, 3, "f", "m")
	f.Add(strings.Repeat("日\u0301", 200), 1, 300, "f\n", "\xff")
	f.Fuzz(func(t *testing.T, source string, line, column int, file, message string) {
		l := List{{File: file, Line: line, Column: column, Message: message}}
		var b bytes.Buffer
		if err := Print(&b, l, func(string) []byte { return []byte(source) }, false); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) && r != utf8.RuneError }) {
			t.Fatalf("not harmless: %q", text)
		}
		if n := strings.Count(text, "\n"); n != 1 && n != 3 {
			t.Fatalf("%d lines", n)
		}
		b.Reset()
		if err := PrintJSON(&b, l); err != nil || !json.Valid(b.Bytes()) {
			t.Fatalf("%v: %q", err, b.Bytes())
		}
	})
}
