package doctor

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/systemd"
)

var (
	errNone = errors.New("there is none")
	host    = speech{paths.System, User{"root", 0}}
	alices  = speech{paths.User, User{"alice", 1000}}
)

// expectFindings expects findings that are written as level, message and hint, with the name of their check.
func expectFindings(t *testing.T, what string, got []Finding, check string, want ...Finding) {
	t.Helper()
	for i := range want {
		want[i].Check = check
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func loaded(pairs ...string) units {
	var u units
	for i := 0; i < len(pairs); i += 2 {
		u.all = append(u.all, systemd.Loaded{Name: pairs[i], State: pairs[i+1]})
	}
	return u
}

func TestJSON(t *testing.T) {
	text, err := json.Marshal(Finding{"linger", Warning, "m", "h"})
	if want := `{"check":"linger","level":"warning","message":"m","hint":"h"}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestSpeech(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{host.systemctl("start x"), "`systemctl start x`"},
		{alices.systemctl("start x"), "`systemctl --user start x`"},
		{alices.journalctl("x"), "`journalctl --user -u x`"},
		{host.sitelet("reload"), "`sitelet reload`"},
		{alices.sitelet("reload"), "`sitelet reload`"},
		{speech{paths.User, User{"root", 0}}.sitelet("reload"), "`sitelet --user reload`"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}
