package doctor

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
)

// subIDs is what is known of the ids that a user's containers may have besides the user's own.
type subIDs struct {
	uids, gids []byte // content of /etc/subuid and /etc/subgid
	nsswitch   []byte // of /etc/nsswitch.conf
	helper     bool   // newuidmap is there
}

func lookAtSubIDs(p paths.Paths) subIDs {
	read := func(path string) []byte {
		text, _ := os.ReadFile(p.Below(path))
		return text
	}
	_, err := os.Stat(p.Below("/usr/bin/newuidmap"))
	return subIDs{read("/etc/subuid"), read("/etc/subgid"), read("/etc/nsswitch.conf"), err == nil}
}

// subIDRange is a line of /etc/subuid (subuid(5)).
type subIDRange struct {
	owner       string // name or number
	first, size int
}

func readSubIDs(text []byte) []subIDRange {
	var all []subIDRange
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Split(strings.TrimSpace(lines.Text()), ":")
		if len(fields) != 3 {
			continue
		}
		first, err1 := strconv.Atoi(fields[1])
		size, err2 := strconv.Atoi(fields[2])
		if err1 == nil && err2 == nil {
			all = append(all, subIDRange{fields[0], first, size})
		}
	}
	return all
}

// firstSubID and subIDCount are what useradd gives (login.defs(5)).
const (
	firstSubID = 100000
	subIDCount = 65536
)

func checkSubIDs(s subIDs, u User, needed bool) []Finding {
	const check = "subordinate-ids"
	switch {
	case u.UID == 0 || !needed:
		return one(check, OK, "none are needed", "")
	case !s.helper:
		return one(check, Error, "newuidmap is missing, so that containers can have one user only", "Install it (package uidmap of Debian, shadow-utils of Fedora).")
	case otherSubIDs(s.nsswitch):
		return one(check, OK, "they are not in files (subid in /etc/nsswitch.conf)", "")
	}
	free := firstSubID
	has := func(text []byte) (count int) {
		for _, r := range readSubIDs(text) {
			free = max(free, r.first+r.size)
			if r.owner == u.Name || r.owner == strconv.Itoa(u.UID) {
				count += r.size
			}
		}
		return count
	}
	uids, gids := has(s.uids), has(s.gids)
	var missing, flags []string
	last := free + subIDCount - 1
	if uids == 0 {
		missing, flags = append(missing, "/etc/subuid"), append(flags, fmt.Sprintf("--add-subuids %d-%d", free, last))
	}
	if gids == 0 {
		missing, flags = append(missing, "/etc/subgid"), append(flags, fmt.Sprintf("--add-subgids %d-%d", free, last))
	}
	if missing == nil {
		return one(check, OK, fmt.Sprintf("%d user and %d group ids", uids, gids), "")
	}
	return one(check, Error, u.Name+" has none in "+diag.AllOf(missing)+", so most images cannot be unpacked",
		fmt.Sprintf("As root, run `usermod %s %s`, and then yourself `podman system migrate`.", strings.Join(flags, " "), u.Name))
}

// otherSubIDs tells whether the ids come from elsewhere than files (nsswitch.conf(5)).
func otherSubIDs(nsswitch []byte) bool {
	for line := range strings.Lines(string(nsswitch)) {
		if from, ok := strings.CutPrefix(strings.TrimSpace(line), "subid:"); ok {
			return strings.TrimSpace(from) != "files"
		}
	}
	return false
}
