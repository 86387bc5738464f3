package descriptor

import (
	"strings"
	"testing"
)

func TestTooLong(t *testing.T) {
	c, l := Parse(File{"big.json", []byte(`{"container_name": "x"}` + strings.Repeat(" ", maxSize))})
	if c != nil || len(l) != 1 || l[0].Line != 0 || !strings.Contains(l[0].Message, "1048599 bytes") {
		t.Errorf("got %v, %v", c, l)
	}
	if _, ok := NameOf(File{"big.json", make([]byte, maxSize+1)}); ok {
		t.Error("NameOf read it")
	}
}

func TestNameOf(t *testing.T) {
	for text, want := range map[string]Refused{
		`{"x": 1, "container_name": "a"}`:             {"f.json", "a", Position{1, 28}},
		"{\n \"container_name\": \"a\",\n \"image\":": {"f.json", "a", Position{2, 20}},
		`{"name": "a"}`:            {"f.json", "a", Position{1, 10}},
		`{"container_name": "_a"}`: {},
		`{"container_name": 5}`:    {},
		`["container_name"]`:       {},
		`{"container_name`:         {},
		"":                         {},
		"null":                     {},
		"\xef\xbb\xbf{\"container_name\": \"a\"}": {"f.json", "a", Position{1, 23}},
	} {
		if got, ok := NameOf(File{"f.json", []byte(text)}); got != want || ok != (want.Name != "") {
			t.Errorf("NameOf(%q) = %v, %v; want %v", text, got, ok, want)
		}
	}
}
