package systemd

import (
	"context"
	"os/exec"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/paths"
)

// LastLines returns the last lines of a unit in the journal, of itself and of systemd about it; none if there is no reading it.
func (m *Manager) LastLines(ctx context.Context, unit string, lines int) []string {
	of := "--unit=" + unit
	if m.scope == paths.User {
		of = "--user-unit=" + unit
	}
	out, err := exec.CommandContext(ctx, "journalctl", "--quiet", "--no-pager", "--output=cat", "--lines="+strconv.Itoa(lines), of).Output()
	if err != nil || len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n")
}
