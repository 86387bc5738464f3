package packaging

import (
	"os/exec"
	"testing"
)

func TestLint(t *testing.T) {
	for _, linter := range [][]string{
		{"lintian", "--fail-on", "error,warning"},
		{"rpmlint", "--strict", "--config", "rpmlint.toml"},
	} {
		t.Run(linter[0], func(t *testing.T) {
			if _, err := exec.LookPath(linter[0]); err != nil {
				missing(t, linter[0]+" is not there; `make deps` installs it on Debian")
			}
			onBoth(t, func(t *testing.T, p built) {
				file := map[string]string{"lintian": p.deb, "rpmlint": p.rpm}[linter[0]]
				if out, err := exec.Command(linter[0], append(linter[1:], file)...).CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		})
	}
}
