package spelling

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"mode", "containers", "directories", "env", "end"}
	for _, c := range []struct{ name, want string }{
		{"mode", "mode"},
		{"mdoe", "mode"},
		{"containers", "containers"},
		{"conainer", "containers"},
		{"directory", "directories"},
		{"directoy", ""},
		{"en", "env"},
		{"END", "end"},
		{"EN", ""},
		{"enb", "env"},
		{"xyz", ""},
		{"", ""},
		{"a very long name that is none of them", ""},
	} {
		got, ok := Nearest(c.name, words)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Nearest(%q) = %q, %t; want %q", c.name, got, ok, c.want)
		}
	}
}

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "acb", 1},
		{"ca", "abc", 3},
		{"kitten", "sitting", 3},
		{"abcd", "badc", 2},
	} {
		if got := slips(c.a, c.b, 10); got != c.want {
			t.Errorf("slips(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := slips(c.b, c.a, 10); got != c.want {
			t.Errorf("slips(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
