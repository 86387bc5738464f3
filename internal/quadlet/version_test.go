package quadlet

import "testing"

func TestParseVersion(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Version
	}{
		{"5.4.2\n", Version{5, 4, 2}}, {"4.9.4-rhel", Version{4, 9, 4}}, {"5.6.0-rc1", Version{5, 6, 0}}, {"6.0", Version{6, 0, 0}}, {"5.10.1+ds1", Version{5, 10, 1}},
	} {
		if got, err := ParseVersion(tt.text); err != nil || got != tt.want {
			t.Errorf("%q: got %v, %v", tt.text, got, err)
		}
	}
	for _, text := range []string{"", "5", "v5.4.2", "podman", "5.", ".5", "5..2", "99999999999999999999.1"} {
		if got, err := ParseVersion(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestVersionAtLeast(t *testing.T) {
	order := []Version{{}, {4, 4, 0}, Minimum, {4, 9, 5}, {4, 10, 0}, {5, 0, 0}, {5, 0, 1}, {5, 10, 0}, always}
	for i, v := range order {
		for j, w := range order {
			if got := v.AtLeast(w); got != (i >= j) {
				t.Errorf("%v.AtLeast(%v) = %v", v, w, got)
			}
		}
	}
}
