package descriptor

import "strings"

// reference is the name of an image, split as github.com/distribution/reference does it, which Podman uses. That package
// compiles regular expressions when a program starts, which takes longer than all that a generator does with a dozen
// descriptors; a test holds the two against each other.
type reference struct {
	registry string // docker.io where none is written
	rest     string // PATH[:TAG][@DIGEST]
	explicit bool   // the registry is written as it is kept
}

func splitReference(name string) reference {
	host, rest, found := strings.Cut(name, "/")
	r := reference{registry: host, rest: rest, explicit: true}
	switch {
	case !found || host != "localhost" && !strings.ContainsAny(host, ".:") && strings.ToLower(host) == host:
		r = reference{registry: "docker.io", rest: name}
	case host == "index.docker.io":
		r = reference{registry: "docker.io", rest: rest}
	}
	if r.registry == "docker.io" && !strings.Contains(r.rest, "/") {
		r.rest = "library/" + r.rest
	}
	return r
}

func (r reference) String() string { return r.registry + "/" + r.rest }

// fault says what is wrong with it, "" for nothing.
func (r reference) fault() string {
	name, digest, hasDigest := strings.Cut(r.rest, "@")
	path, tag, hasTag := strings.Cut(name, ":")
	switch {
	case strings.ToLower(path) != path:
		return "invalid reference format: repository name (" + path + ") must be lowercase"
	case len(path) > 255:
		return "repository name must not be more than 255 characters"
	case !isRegistry(r.registry) || !isPath(path) || hasTag && !isTag(tag) || hasDigest && !isDigest(digest):
		return "invalid reference format"
	}
	return ""
}

const (
	numerals = "0123456789"
	lower    = "abcdefghijklmnopqrstuvwxyz" + numerals
	letters  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + lower
)

// only tells whether text, which is not empty, holds nothing but these characters.
func only(text, characters string) bool { return text != "" && strings.Trim(text, characters) == "" }

// isRegistry wants a host name, an IPv4 address or an IPv6 address in brackets, and perhaps a port.
func isRegistry(s string) bool {
	if six, ok := strings.CutPrefix(s, "["); ok {
		address, port, closed := strings.Cut(six, "]")
		return closed && only(address, numerals+"abcdefABCDEF:") && isPort(port)
	}
	host, port := s, ""
	if i := strings.IndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i:]
	}
	for label := range strings.SplitSeq(host, ".") {
		if !only(label, letters+"-") || strings.Trim(label, "-") != label {
			return false
		}
	}
	return isPort(port)
}

// isPort takes none, too.
func isPort(s string) bool {
	port, found := strings.CutPrefix(s, ":")
	return s == "" || found && only(port, numerals)
}

// isPath wants components of lower-case letters and digits. Between two of these there may be one dot, one or two underscores
// or any number of dashes.
func isPath(s string) bool {
	for component := range strings.SplitSeq(s, "/") {
		for {
			rest := strings.TrimLeft(component, lower)
			if rest == component {
				return false
			}
			if rest == "" {
				break
			}
			component = afterSeparator(rest)
		}
	}
	return true
}

// afterSeparator returns what follows the separator that s begins with, "" if it does not begin with one.
func afterSeparator(s string) string {
	switch {
	case s[0] == '-':
		return strings.TrimLeft(s, "-")
	case strings.HasPrefix(s, "__"):
		return s[2:]
	case s[0] == '_', s[0] == '.':
		return s[1:]
	}
	return ""
}

func isTag(s string) bool {
	return only(s, letters+"_.-") && len(s) <= 128 && s[0] != '.' && s[0] != '-'
}

// isDigest wants one of the algorithms of image-spec, descriptor.md, and as many digits as it gives.
func isDigest(s string) bool {
	algorithm, sum, _ := strings.Cut(s, ":")
	length := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	return only(sum, numerals+"abcdef") && len(sum) == length
}
