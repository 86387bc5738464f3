package unit

import (
	"slices"
	"strings"
	"testing"
)

// What is expected here was seen on systemd 257, which ran or refused units with these texts.
func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // SECTION KEY VALUE
	}{
		{"blanks around", " [A] \n\t K =\tv w \n", []string{"A K v w"}},
		{"comments", "#x\n[A]\n ;y\nK=v#w\n# z", []string{"A K v#w"}},
		{"a section twice", "[A]\nK=1\n[B]\nK=2\n[A]\nK=3\n", []string{"A K 1", "B K 2", "A K 3"}},
		{"continued", "[A]\nK=a\\\n  b\\\nc\n", []string{"A K a   b c"}},
		{"comment between", "[A]\nK=a\\\n# no\nb\n", []string{"A K a b"}},
		{"continued at the end", "[A]\nK=a\\", []string{"A K a"}},
		{"escaped backslash", "[A]\nK=a\\\\\nL=b\\\\\\\nc\n", []string{`A K a\\`, `A L b\\ c`}},
		{"backslash and blank", "[A]\nK=a\\ \nL=b\n", []string{`A K a\`, "A L b"}},
		{"CRLF", "[A]\r\nK=a\\\r\nb\r\n", []string{"A K a b"}},
		{"carriage return and NUL end lines", "[A]\rK=a\rL=b\x00M=c", []string{"A K a", "A L b", "A M c"}},
		{"no section", "K=a\n[]\nK=b\n", nil},
		{"no assignment", "[A]\nfoo\n=x\n", nil},
		{"more equals signs", "[A]\nK=a=b\n", []string{"A K a=b"}},
		{"byte order mark", "\uFEFF[A]\nK=a\n", []string{"A K a"}},
		{"long line", "[A]\nK=" + strings.Repeat("x", 1000_000), []string{"A K " + strings.Repeat("x", 1000_000)}},
	}
	for _, tt := range tests {
		file, err := Parse([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var got []string
		for _, a := range file {
			got = append(got, a.Section+" "+a.Key+" "+a.Value)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"[A\nK=v\n", "[A]x\n", "[A\\B]\n", "[A\"B]\n", "[A]\nK=\xff\n", "[A]\nK=\ufffe\n", "[A]\nK=\U0002ffff\n", "[A]\nK=" + strings.Repeat("x", 1<<20),
	} {
		if file, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.20q: got %.100v, want an error", text, file)
		}
	}
}

func TestValues(t *testing.T) {
	file, err := Parse([]byte("[A]\nK=1\nK=2\nK=\nK=3\nK=4\nL=5\nL=\n[B]\nK=6\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := file.All("A", "K"); !slices.Equal(got, []string{"3", "4"}) {
		t.Errorf("All: got %q", got)
	}
	if got := file.All("A", "L"); got != nil {
		t.Errorf("All after a reset: got %q", got)
	}
	for _, tt := range []struct {
		section, key, value string
		ok                  bool
	}{{"A", "K", "4", true}, {"A", "L", "", true}, {"B", "K", "6", true}, {"B", "L", "", false}} {
		if value, ok := file.Last(tt.section, tt.key); value != tt.value || ok != tt.ok {
			t.Errorf("Last(%s, %s): got %q, %v", tt.section, tt.key, value, ok)
		}
	}
}
