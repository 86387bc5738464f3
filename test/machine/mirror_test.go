package machine

import (
	"testing"
	"testing/fstest"
)

func TestDebianMirror(t *testing.T) {
	for _, test := range []struct {
		name string
		file string
		text string
		want string
	}{
		{"none", "etc/apt/sources.list", "", "http://deb.debian.org/debian"},
		{"one line", "etc/apt/sources.list", "# deb http://a.example/debian x main\ndeb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian/ trixie main\n", "http://mirror.example/debian/"},
		{"source packages only", "etc/apt/sources.list", "deb-src http://mirror.example/debian trixie main\n", "http://deb.debian.org/debian"},
		{"deb822", "etc/apt/sources.list.d/debian.sources", "Types: deb\n# http://snapshot.example/debian\nURIs: https://mirror.example/debian\nSuites: trixie\n", "https://mirror.example/debian"},
		{"security is not it", "etc/apt/sources.list.d/debian.sources", "URIs: http://mirror.example/debian-security\n", "http://deb.debian.org/debian"},
		{"another vendor", "etc/apt/sources.list.d/node.list", "deb https://packages.example/node_22.x nodistro main\n", "http://deb.debian.org/debian"},
		{"switched off", "etc/apt/sources.list.d/debian.sources.disabled", "URIs: http://mirror.example/debian\n", "http://deb.debian.org/debian"},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := fstest.MapFS{test.file: {Data: []byte(test.text)}}
			if got := debianMirror(host); got != test.want {
				t.Errorf("debianMirror = %q, want %q", got, test.want)
			}
		})
	}
}
