package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each shell finds the completions in its own place, and gets commands from them.
func TestCompletions(t *testing.T) {
	root := unpack(t, packages(t))
	share := filepath.Join(root, "usr/share")
	for _, c := range []struct {
		shell  []string
		script string
		want   []string
	}{
		{[]string{"bash", "--norc", "-c"}, `. /usr/share/bash-completion/bash_completion; . $1/bash-completion/completions/sitelet; complete -p sitelet
			COMP_WORDS=(sitelet st) COMP_CWORD=1 COMP_LINE='sitelet st' COMP_POINT=10 COMP_TYPE=9; __start_sitelet; echo "${COMPREPLY[*]}"`,
			[]string{"complete -o default -F __start_sitelet sitelet", "start", "stop"}},
		{[]string{"zsh", "-f", "-c"}, `fpath=($1/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D; echo $_comps[sitelet]; autoload +X _sitelet`,
			[]string{"_sitelet"}},
		{[]string{"fish", "--no-config", "-c"}, `source $argv[2]/fish/vendor_completions.d/sitelet.fish; complete -C 'sitelet st'`, []string{"start", "stop"}},
	} {
		name := c.shell[0]
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				missing(t, name+" is not there; `make deps` installs it on Debian")
			}
			shell := exec.Command(name, append(c.shell[1:], c.script, name, share)...)
			shell.Env = append(os.Environ(), "PATH="+filepath.Join(root, "usr/bin")+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
			out, err := shell.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("it does not give %q:\n%s", want, out)
				}
			}
		})
	}
}
