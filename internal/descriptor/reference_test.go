package descriptor

import (
	_ "crypto/sha512" // digests in references are only known if their algorithm is
	"strings"
	"testing"

	distribution "github.com/distribution/reference"
)

// FuzzReference holds referenceProblem against the package that Podman uses.
func FuzzReference(f *testing.F) {
	sum := strings.Repeat("0123456789abcdef", 8)
	for _, name := range []string{
		"localhost/a", "a.b/c", "a.b:5000/c/d:1.2_x-y", "A/b", "a.b/c@sha256:" + sum[:64], "a.b/c:1@sha512:" + sum, "a.b/c@sha384:" + sum[:96],
		"[::1]/a", "[fe80:AB::1]:5000/a", "127.0.0.1:80/a-b--c/d__e/f.g/h_i", "docker.io/a", "docker.io/library/a", "xn--a.b/c", "a--b.c/d",
		"", "a", "a/b", "library/a:1", "index.docker.io/a", "index.docker.io/a/b", sum[:64], sum[:63], "localhost/" + sum[:64],
		"/", "/a", "a.b/", "a.b//c", "a.b/c/", "a.b/C", "a.b/c:", "a.b/c:-x", "a.b/c:.x", "a.b/c:" + sum, "a.b/c:" + sum + "0", "a.b/c:x:y", "a.b/c:x/y",
		"a.b/c@", "a.b/c@sha256", "a.b/c@sha256:", "a.b/c@sha256:00", "a.b/c@sha256:" + sum[:63], "a.b/c@sha256:" + strings.ToUpper(sum[:64]),
		"a.b/c@md5:" + sum[:32], "a.b/c@SHA256:" + sum[:64], "a.b/c@sha256:" + sum[:64] + "@sha256:" + sum[:64], "a.b/c@sha256:" + sum[:64] + ":1",
		"a.b/c___d", "a.b/c..d", "a.b/c._d", "a.b/-c", "a.b/c-", "a.b/_c", "a.b/c_", "a.b/.c", "a.b/c.", "a.b/c d", "a.b/c\n", "a.b/c%d", "a.b/ä",
		"a_b.c/d", "a..b/c", ".a/b", "a./b", "-a.b/c", "a-.b/c", "a.b:/c", "a.b:x/c", "a.b:1:2/c", ":1/c", "[::1/a", "[]/a", "[::g]/a", "[::1]:/a", "[::1]x/a", "::1/a",
		"a.b/" + sum + sum[:127], "a.b/" + sum + sum, "https://a.b/c", "a://b", "--privileged", "\u212a.b/c", "a.b/c:\u212a", "a.b/\x00", "\xff.b/c",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		named, err := distribution.ParseNormalizedNamed(name)
		want := err == nil && distribution.Domain(named) == strings.SplitN(name, "/", 2)[0] && strings.Contains(name, "/")
		got := referenceProblem(name)
		if (got.message == "") != want {
			t.Fatalf("%q: %q, want taken: %t (%v)", name, got.message, want, err)
		}
		if full := splitReference(name).String(); err == nil && full != named.String() {
			t.Errorf("%q is %q, want %q", name, full, named)
		}
	})
}
