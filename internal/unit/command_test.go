package unit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var testEnv = Env{"A=x y  z", `B=1 "2 3" \4`, "EMPTY=", "C=$A %n"}

func testSpecifier(letter byte) (string, bool) {
	switch letter {
	case 'n':
		return "x y.service", true
	case 'i':
		return "", true
	}
	return "", false
}

// What is expected here was seen on systemd 257, which ran these lines with a program that prints its arguments.
func TestCommands(t *testing.T) {
	tests := []struct {
		line string
		want []string // PREFIX PATH [ARGV]
	}{
		{`/x`, []string{` /x ["/x"]`}},
		{`/x  a	b `, []string{` /x ["/x" "a" "b"]`}},
		{`/x "a b" 'c d'e"f" '' ""`, []string{` /x ["/x" "a b" "c def" "" ""]`}},
		{`/x \n\t\x41\101\u00e9\U0001F680\s\"\'\\ \xc3\xa9`, []string{" /x [\"/x\" \"\\n\\tAAé🚀 \\\"'\\\\\" \"é\"]"}},
		{`/x \q \ a \x8 \400 \18 \x00 \U00110000`, []string{` /x ["/x" "\\q" "\\ a" "\\x8" "\\400" "\\18" "\\x00" "\\U00110000"]`}},
		{`/x '\q' "\'\"" '\''`, []string{` /x ["/x" "\\q" "'\"" "'"]`}},
		{`/x \ud800`, []string{` /x ["/x" "\xed\xa0\x80"]`}},
		{`/x a\`, []string{` /x ["/x" "a\\"]`}},
		{`/x a ; /y b`, []string{` /x ["/x" "a"]`, ` /y ["/y" "b"]`}},
		{`; /x ; ; -/y`, []string{` /x ["/x"]`, `- /y ["/y"]`}},
		{`/x a; ;b ";" \; \\; "\;" ';'`, []string{` /x ["/x" "a;" ";b" ";" ";" "\\;" "\\;" ";"]`}},
		{`/x a ;`, []string{` /x ["/x" "a"]`}},
		{`-@:+/x a b`, []string{`-@:+ /x ["a" "b"]`}},
		{`!!/x`, []string{`!! /x ["/x"]`}},
		{`x a`, []string{` x ["x" "a"]`}},
		{`/x %n %% %%n %- % a%ib %"%"`, []string{` /x ["/x" "x y.service" "%" "%n" "%-" "%" "ab" "%"]`}},
		{`/x ${A} ${A}b a${A} $A b$A $$A $${A}`, []string{` /x ["/x" "x y  z" "x y  zb" "ax y  z" "x" "y" "z" "b$A" "$A" "${A}"]`}},
		{`/x $B ${B}`, []string{` /x ["/x" "1" "2 3" "4" "1 \"2 3\" \\4"]`}},
		{`/x $EMPTY ${EMPTY} a${EMPTY} ${NONE} $NONE ${C}`, []string{` /x ["/x" "" "a" "" "$A %n"]`}},
		{`/x "$A" '${EMPTY}' "$A b"`, []string{` /x ["/x" "x" "y" "z" ""]`}},
		{`/x $ a$ ${ ${A ${A:b} ${} ${1} $(A)`, []string{` /x ["/x" "a$" "${" "${A" "${A:b}" "" ""]`}},
		{`/x ${A:${EMPTY}}`, []string{` /x ["/x" "${A:}"]`}},
		{`:/x $A ${A} $$ %%`, []string{`: /x ["/x" "$A" "${A}" "$$" "%"]`}},
		{`/x ü 日本 🚀`, []string{` /x ["/x" "ü" "日本" "🚀"]`}},
		{``, nil},
	}
	for _, tt := range tests {
		commands, err := Commands(tt.line, testEnv.Lookup, testSpecifier)
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
		}
		var got []string
		for _, c := range commands {
			got = append(got, fmt.Sprintf("%s %s %q", c.Prefix, c.Path, c.Argv))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s\ngot  %s\nwant %s", tt.line, strings.Join(got, " | "), strings.Join(tt.want, " | "))
		}
	}
}

func TestCommandsRefuses(t *testing.T) {
	for _, line := range []string{
		`/x %20`, `/x %z`, `/x "a`, `/x 'a\'`, `"/x`, `/x/`, `/x/..`, `y/x`, `..`, `/x"y"'"' `, `@/x`, `-`, `/a\nb`, `/x ; y/z`,
	} {
		if commands, err := Commands(line, testEnv.Lookup, testSpecifier); err == nil {
			t.Errorf("%s: got %q, want an error", line, commands)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := Environment([]string{
		`A=1 "B=x y" C='$A' D=\t%n`, `A=2 %z=1 1A=x foo E=%q F=%%`, `G="open H=1`, `I=1 J=\q K=1`, "L=\uFFFE M=", `=x`,
	}, testSpecifier)
	want := Env{"B=x y", "C=$A", "D=\tx y.service", "A=2", "F=%", "I=1", "M="}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, ok := got.Lookup("E"); ok {
		t.Error("E is set")
	}
	if value, ok := got.Lookup("M"); value != "" || !ok {
		t.Errorf("M: got %q, %v", value, ok)
	}
}
