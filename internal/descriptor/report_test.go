package descriptor

import (
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/diag"
)

func TestPositions(t *testing.T) {
	data := []byte("ab\n\r\n\tü x\nend")
	lines := lineCounter{data: data}
	for _, test := range []struct{ at, line, column int }{
		{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {4, 2, 2}, {5, 3, 1}, {6, 3, 2}, {8, 3, 4}, {11, 4, 1}, {14, 4, 4}, {0, 1, 1}, {8, 3, 4}, {8, 3, 4},
	} {
		if got := lines.position(test.at); got != (Position{test.line, test.column}) {
			t.Errorf("position(%d) = %v, want %v", test.at, got, test)
		}
	}
}

func TestManyFindings(t *testing.T) {
	texts := map[string]string{
		"keys":       "{" + strings.TrimSuffix(strings.Repeat(`"zzz": 1,`, 30000), ",") + "}",
		"duplicates": "{" + strings.TrimSuffix(strings.Repeat(`"image": 1,`, 30000), ",") + "}",
		"ignored":    `{"state": {` + strings.TrimSuffix(strings.Repeat(`"a": 1,`, 30000), ",") + "}}",
		"types":      `{"config": {"cmd": [` + strings.TrimSuffix(strings.Repeat(`0,`, 100000), ",") + "]}}",
		"env":        `{"config": {"env": [` + strings.TrimSuffix(strings.Repeat(`"=",`, 50000), ",") + "]}}",
		"twice":      `{"config": {"env": [` + strings.TrimSuffix(strings.Repeat(`"A=1",`, 50000), ",") + "]}}",
		"brackets":   strings.Repeat("[", maxSize),
	}
	for name, text := range texts {
		start := time.Now()
		c, l := Parse(File{name, []byte(text)})
		if c != nil || !l.HasErrors() || len(l) > maxFindings+1 {
			t.Errorf("%s: %d findings", name, len(l))
		}
		NameOf(File{name, []byte(text)})
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
	_, l := Parse(File{"keys", []byte(texts["keys"])})
	if last := l[len(l)-1]; last.Severity != diag.Error || last.Message != "29902 more findings are left out" {
		t.Errorf("last finding: %v", last)
	}
}
