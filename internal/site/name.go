package site

import (
	"net/netip"
	"strings"
	"unicode"
)

const (
	// maxName leaves room for what is put around a name in the names of files, which end at 255 bytes.
	maxName = 200
	maxHost = 253 // RFC 1123, section 2.1
	maxKey  = 253
)

// labelProblem checks the name of a namespace or of most kinds by upstream's rule (internal/nonkube/common/site_state_validator.go):
// lower-case letters and digits, with - between them.
func labelProblem(name string) problem {
	switch {
	case len(name) > maxName:
		return problem{"is longer than 200 bytes", "Write a shorter name."}
	case !label(name) || name != strings.ToLower(name):
		return problem{quote(name) + " is not a name", "Write lower-case letters and digits, with - between them."}
	}
	return problem{}
}

// fileProblem checks the name of a resource that may hold more than a label, of a certificate or of a CA. It becomes the name of a
// file or directory.
func fileProblem(name string) problem {
	const hint = "Write letters and digits, with -, . and _ between them."
	switch {
	case len(name) > maxName:
		return problem{"is longer than 200 bytes", "Write a shorter name."}
	case name == "" || !alphanumeric(name[0]) || !alphanumeric(name[len(name)-1]):
		return problem{quote(name) + " is not a name", hint}
	}
	for i := range len(name) {
		if c := name[i]; !alphanumeric(c) && c != '-' && c != '.' && c != '_' {
			return problem{quote(name) + " is not a name", hint}
		}
	}
	return problem{}
}

// CheckName returns an error that says what is wrong with a name as most kinds have it, a Link for one; nil if nothing is.
func CheckName(name string) error {
	if p := labelProblem(name); p.message != "" {
		return p
	}
	return nil
}

// CheckHost is CheckName for a name or an address that a certificate is for.
func CheckHost(name string) error {
	if p := sanProblem(name); p.message != "" {
		return p
	}
	return nil
}

// Error makes a problem without a place an error.
func (p problem) Error() string { return p.message + ". " + p.hint }

// hostProblem checks an address or the name of a host, as it is given to the router.
func hostProblem(host string) problem {
	const hint = "Write an IP address or a DNS name."
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return problem{quote(host) + " has a zone", "Write the address without the % and what follows."}
		}
		return problem{}
	}
	if strings.HasPrefix(host, "[") {
		return problem{quote(host) + " is not a host", "Write an IPv6 address without brackets."}
	}
	if len(host) > maxHost {
		return problem{"is longer than 253 bytes", hint}
	}
	last := ""
	for part := range strings.SplitSeq(host, ".") {
		if !label(part) || len(part) > 63 {
			return problem{quote(host) + " is neither an IP address nor a DNS name", hint}
		}
		last = part
	}
	// A resolver takes such names for IPv4 addresses in a short form: inet_aton(3).
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(strings.ToLower(last), "0x") {
		return problem{quote(host) + " is neither an IP address nor a DNS name", hint}
	}
	return problem{}
}

// sanProblem checks a name that a certificate is for, which may be for all hosts of a domain.
func sanProblem(name string) problem {
	return hostProblem(strings.TrimPrefix(name, "*."))
}

// keyProblem checks a routing key. It becomes part of names in the router.
func keyProblem(key string) problem {
	switch {
	case len(key) > maxKey:
		return problem{"is longer than 253 bytes", "Write a shorter key."}
	case key == "" || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return problem{quote(key) + " is not a routing key", "Write a word without blanks."}
	}
	return problem{}
}

// label tells whether s is letters and digits, with - between them.
func label(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !alphanumeric(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// check reports n if its string has a problem, and returns the string if it has none. An absent n is fine.
func (n *node) check(rule func(string) problem) string {
	if n == nil {
		return ""
	}
	if p := rule(n.str()); p.message != "" {
		n.fail(p.message, p.hint)
		return ""
	}
	return n.str()
}
