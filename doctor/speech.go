package doctor

import "github.com/sitelet/sitelet/internal/paths"

// speech writes commands as whoever asks has to call them.
type speech struct {
	scope paths.Scope
	user  User
}

func (s speech) systemctl(args string) string {
	if s.scope == paths.User {
		return "`systemctl --user " + args + "`"
	}
	return "`systemctl " + args + "`"
}

func (s speech) journalctl(unit string) string {
	if s.scope == paths.User {
		return "`journalctl --user -u " + unit + "`"
	}
	return "`journalctl -u " + unit + "`"
}

// sitelet is a call of the command in the same scope, which root has to name.
func (s speech) sitelet(args string) string {
	if s.scope == paths.User && s.user.UID == 0 {
		return "`sitelet --user " + args + "`"
	}
	return "`sitelet " + args + "`"
}
