package generator

import (
	"slices"
	"testing"

	"github.com/sitelet/sitelet/internal/state"
	"github.com/sitelet/sitelet/internal/unit"
)

// A user's directories can have any name.
func TestNativeRouterReadsItsFile(t *testing.T) {
	home := `/home/a ${HOME} $$ b/100%/namespaces/east`
	r := renderSite(state.Site{Namespace: "east", Platform: "linux", Router: &state.Router{Name: "east", Home: home}}, hostFacts{})
	parsed, err := unit.Parse(r.Unit)
	if err != nil {
		t.Fatal(err)
	}
	line, _ := parsed.Last("Service", "ExecStart")
	nothing := func(string) (string, bool) { return "", false }
	commands, err := unit.Commands(line, nothing, func(byte) (string, bool) { return "", false })
	want := []string{"skrouterd", "-c", home + "/runtime/router/skrouterd.json"}
	if err != nil || len(commands) != 1 || !slices.Equal(commands[0].Argv, want) {
		t.Errorf("%s\ngot  %q, error %v\nwant %q", line, commands, err, want)
	}
}
