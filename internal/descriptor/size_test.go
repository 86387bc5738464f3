package descriptor

import (
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"1k", 1 << 10, true}, {"1K", 1 << 10, true}, {"1M", 1 << 20, true}, {"1g", 1 << 30, true},
		{"200M", 209715200, true}, {"200 M", 209715200, true}, {"0.1953125G", 209715200, true}, {"204800k", 209715200, true},
		{"209715200", 209715200, true}, {"209715200B", 209715200, true}, {"209715200 b", 209715200, true},
		{"1.1m", 1153433, true}, {"0.3k", 307, true}, {"0", 0, true}, {"1.0000000000000000000000000000000000G", 1 << 30, true},
		{"1023.9990234375k", 1048575, true}, {"", 0, false}, {"k", 0, false}, {" k", 0, false}, {"1.2.3M", 0, false},
		{"-1", 0, false}, {"+1M", 0, false}, {"1z", 0, false}, {"1.5", 0, false}, {"1.5B", 0, false}, {"1.M", 0, false},
		{".1M", 0, false}, {"1  M", 0, false}, {"1M ", 0, false}, {" 1M", 0, false}, {"1MB", 0, false}, {"1e3M", 0, false},
		{"InfM", 0, false}, {"0x1M", 0, false}, {"1_0M", 0, false}, {"1073741824G", largest, true}, {"9999999999999999999", largest + 1, true}, {"99999999999G", largest + 1, true},
		{strings.Repeat("9", 500) + "G", largest + 1, true}, {"１M", 0, false},
	} {
		got, ok := parseSize(test.text)
		if got != test.want || ok != test.ok {
			t.Errorf("parseSize(%q) = %d, %v; want %d, %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1: "1B", 1 << 10: "1K", 3 << 20: "3M", 1 << 40: "1024G", 1025: "1025B"} {
		if got := formatSize(n); got != want {
			t.Errorf("formatSize(%d) = %q, want %q", n, got, want)
		}
	}
}
