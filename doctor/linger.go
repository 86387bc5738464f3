package doctor

import (
	"os"
	"path/filepath"

	"github.com/sitelet/sitelet/internal/paths"
)

// Lingers tells whether a user's systemd runs without a session: logind keeps a file of the user's name for that (loginctl(1)).
func Lingers(p paths.Paths, user string) bool {
	_, err := os.Stat(filepath.Join(p.Below("/var/lib/systemd/linger"), user))
	return err == nil
}

// EnableLinger is the command that has a user's services outlive the sessions.
func EnableLinger(user string) string { return "loginctl enable-linger " + user }

func checkLinger(lingers bool, u User) []Finding {
	const check = "linger"
	if !lingers {
		return one(check, Warning, u.Name+" does not linger, so services end with the last session and no boot starts them", "Run `"+EnableLinger(u.Name)+"`.")
	}
	return one(check, OK, u.Name+" lingers", "")
}
