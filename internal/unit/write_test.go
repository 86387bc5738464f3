package unit

import (
	"slices"
	"strings"
	"testing"
)

var words = []string{
	"", ";", "a", "a b", " ", "\t", "\n", "\r", "\r\n", "a\\", "\\", "\\n", "\\x41", `"`, "'", `"a" 'b'`, "%", "%n", "%%", "100%", "$", "$$", "$A", "${A}", "a$A",
	"#", "[Service]", "ExecStart=/x", "=", "\x01\x1b\x7f", "\a\b\f\v", "\u0080", "\u0085", "\u00a0", "\u3000", "\ufeff", "\ufffe", "\U0001ffff", "\xff", "\xc3", "é", "🚀",
	"a\\\n[Service]\nExecStart=/bin/false", strings.Repeat(`\"'%$ `, 1000),
}

func FuzzCommandLine(f *testing.F) {
	for i, word := range words {
		f.Add(word, words[(i+1)%len(words)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.Contains(a+b, "\x00") {
			t.Skip("no argument holds a NUL")
		}
		want := []string{"/x", a, b, a + b}
		text := "[Service]\nExecStart=" + CommandLine(want...) + "\nUser=x\n"
		file, err := Parse([]byte(text))
		if err != nil || len(file) != 2 {
			t.Fatalf("%d assignments, error %v in %q", len(file), err, text)
		}
		commands, err := Commands(file[0].Value, testEnv.Lookup, testSpecifier)
		if err != nil || len(commands) != 1 || !slices.Equal(commands[0].Argv, want) {
			t.Fatalf("%s\ngot  %q, error %v\nwant %q", file[0].Value, commands, err, want)
		}
	})
}

func FuzzWord(f *testing.F) {
	for _, word := range words {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if strings.Contains(value, "\x00") || !ValidText(value) {
			t.Skip("no variable holds it")
		}
		file, err := Parse([]byte("[Service]\nEnvironment=" + Word("A="+value) + " B=1\nUser=x\n"))
		if err != nil || len(file) != 2 {
			t.Fatalf("%d assignments, error %v", len(file), err)
		}
		if got := Environment(file.All("Service", "Environment"), testSpecifier); !slices.Equal(got, Env{"A=" + value, "B=1"}) {
			t.Fatalf("%s\ngot  %q\nwant %q", file[0].Value, got, value)
		}
	})
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain text; 'x' \"y\" $z", "plain text; 'x' \"y\" $z"},
		{"100% of %n", "100%% of %%n"},
		{"a\nb\r\n[Service]\x00", "a b  [Service]"},
		{" \t a \u00a0", "a"},
		{`C:\dir\`, "C:\\dir\\\u200b"},
		{"C:\\dir\\\u00a0\n", "C:\\dir\\\u200b"},
		{"\\\u0085", "\\\u200b"},
		{"", ""},
	} {
		if got := Text(tt.text); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
