package quadlet

import (
	"math"
	"strings"
	"unicode"
)

// A key is a row of what podman-systemd.unit(5) says of the [Container] group, together with Podman's flag for it.
// Environment, Label, Mount, Exec, PodmanArgs and GlobalArgs are written in ways of their own.
type key struct {
	name   string
	fits   func(value string) bool // whether Quadlet's reader of this key takes the value as it stands
	flag   string                  // of podman run; empty where none does the same
	since  Version                 // first Podman whose Quadlet passes any value of the key on; zero for all since Minimum
	commas Version                 // Podman before this takes the flag's value for a comma-separated list (cmd/podman/common)
}

var always = Version{Major: math.MaxInt}

var keys = []key{
	{name: "AddCapability", fits: isWord, flag: "--cap-add", commas: always},
	{name: "AddDevice", fits: isWord, flag: "--device", commas: Version{5, 0, 0}},
	{name: "AddHost", fits: isLine, flag: "--add-host", commas: always, since: Version{5, 3, 0}},
	{name: "ContainerName", fits: isName},
	{name: "HealthCmd", fits: isLine, flag: "--health-cmd"},
	{name: "HealthInterval", fits: isLine, flag: "--health-interval"},
	{name: "HealthRetries", fits: isLine, flag: "--health-retries"},
	{name: "HealthStartPeriod", fits: isLine, flag: "--health-start-period"},
	{name: "HealthTimeout", fits: isLine, flag: "--health-timeout"},
	{name: "HostName", fits: isLine, flag: "--hostname"},
	{name: "Image", fits: isImage},
	{name: "LogDriver", fits: isLine, flag: "--log-driver"},
	{name: "LogOpt", fits: isWord, flag: "--log-opt", commas: Version{5, 0, 0}, since: Version{5, 2, 0}},
	{name: "Network", fits: isNetwork, flag: "--network"},
	{name: "NetworkAlias", fits: isLine, flag: "--network-alias", commas: always, since: Version{5, 2, 0}},
	{name: "NoNewPrivileges", fits: isBool},
	{name: "Notify", fits: isHealthy, flag: "--sdnotify", since: Version{5, 0, 0}},
	{name: "PublishPort", fits: isLine, flag: "--publish", commas: always, since: Version{5, 3, 0}}, // older: takes ports apart
	{name: "Pull", fits: isLine, flag: "--pull"},
	{name: "StopTimeout", fits: isLine, flag: "--stop-timeout", since: Version{5, 0, 0}},
	{name: "Ulimit", fits: isLine, flag: "--ulimit", commas: always, since: Version{5, 0, 0}}, // older: the last one only
}

// isLine is for the keys that Quadlet takes as one text, without blanks around it and, depending on its version,
// without quotes at its ends. Quadlet passes the text as a word of its own, so that a lone semicolon would end the command.
func isLine(value string) bool {
	return value != "" && value != ";" && value == strings.TrimSpace(value) &&
		value[0] != '"' && value[len(value)-1] != '"' && value[len(value)-1] != '\\' &&
		strings.IndexFunc(value, unicode.IsControl) < 0
}

// isWord is for the keys that Quadlet splits at blanks. It lower-cases capabilities and takes a device with a leading
// minus for one that may be missing.
func isWord(value string) bool {
	special := func(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune(`"'\`, r) }
	return value != "" && value != ";" && value[0] != '-' && strings.IndexFunc(value, special) < 0
}

// isName is what Podman takes for a container's name (define.NameRegex).
func isName(value string) bool {
	special := func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("_.-", r))
	}
	return value != "" && !strings.ContainsRune("_.-", rune(value[0])) && strings.IndexFunc(value, special) < 0
}

// isImage excludes what Podman would take for a flag.
func isImage(value string) bool { return isLine(value) && value[0] != '-' }

// namesQuadletImage tells whether Quadlet takes the name of an image for that of a Quadlet file.
func namesQuadletImage(value string) bool {
	return strings.HasSuffix(value, ".image") || strings.HasSuffix(value, ".build")
}

// isNetwork excludes what Quadlet takes for the name of another Quadlet file.
func isNetwork(value string) bool {
	name, _, _ := strings.Cut(value, ":")
	return isLine(value) && !strings.HasSuffix(name, ".network") && !strings.HasSuffix(name, ".container")
}

func isBool(value string) bool { return value == "true" || value == "false" }

// isHealthy holds for the one value that Quadlet and Podman's flag have in common.
func isHealthy(value string) bool { return value == "healthy" }
