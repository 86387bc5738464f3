package diag

import "testing"

func TestWords(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{AllOf(nil), ""},
		{AllOf([]string{"a"}), "a"},
		{AllOf([]string{"a", "b", "c"}), "a, b and c"},
		{OneOf([]string{"a", "b"}), "a or b"},
		{Counted(0, "error"), "0 errors"},
		{Counted(1, "error"), "1 error"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
