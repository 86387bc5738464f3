// Package descriptor reads container descriptors: JSON files in the format of Eclipse Kanto's deployment feature
// (types.Container of eclipse-kanto/container-management). tree.go turns bytes into a tree with positions, conform.go holds
// it against the keys and types of schema.go, parse.go applies the rules of one file, each in the file of its subject,
// and set.go those of all files together.
package descriptor

import (
	"net/netip"
	"time"
)

// Container is one valid descriptor in normalised form: defaults are filled in, sizes are bytes, and what means the same is the same.
type Container struct {
	Source      string     // path of the file
	Name        string     // container_name; also the unit's name without .service
	NameAt      Position   // for findings about the whole set
	PortsAt     []Position // of each of Ports
	Image       string     // fully qualified reference, as written
	DecryptKeys []DecryptKey

	HostName   string // empty in host network mode
	DomainName string // empty unless written
	Mounts     []Mount
	MountsAt   []Position // of the source of each of Mounts
	Hooks      []Hook
	Env        []EnvVar // one entry a name: the last one written wins, at the place of the first
	Cmd        []string
	OpenStdin  bool
	TTY        bool

	Network      string // "bridge" or "host"
	Privileged   bool
	Runtime      string // "" for the host's default, or "kata", "runsc"
	Devices      []Device
	Hosts        []Host
	HostsAt      []Position // of each of Hosts
	Capabilities []string   // extra ones, upper case with CAP_
	Ports        []Port
	Restart      Restart
	Memory       Memory
	Log          Log

	Health     *Health
	After      []string   // names of other descriptors
	AfterAt    []Position // of each of After
	Requires   []string   // names of other descriptors
	RequiresAt []Position // of each of Requires
	AutoStart  bool
	Pull       string // "missing", "always", "newer" or "never"

	SourceText  []byte // the file as it was read
	SecretLines []int  // lines of it that hold a password or the like and must not be shown, ascending
}

// Position is a place in a file, both from 1, the column in bytes.
type Position struct{ Line, Column int }

// DecryptKey is a private key for an encrypted image. Password is secret and may be empty.
type DecryptKey struct{ Path, Password string }

// Mount is a recursive bind mount; Propagation is one of Linux's six modes.
type Mount struct{ Source, Destination, Propagation string }

// Hook is an OCI hook; Stage is "prestart", "poststart" or "poststop".
type Hook struct {
	Path    string
	Args    []string
	Env     []string
	Timeout int // seconds; 0 for none
	Stage   string
}

// EnvVar sets a variable, or removes one of the image's.
type EnvVar struct {
	Name  string
	Value string
	Unset bool
}

// Device gives a host device to the container; Permissions is of the letters r, w and m.
type Device struct{ HostPath, ContainerPath, Permissions string }

// HostKind says how a Host's address is found.
type HostKind int

const (
	HostAddress   HostKind = iota // Value is an IP address
	HostGateway                   // the host, as seen from the container
	HostInterface                 // first IPv4 address of the host's interface Value, looked up at start
	HostContainer                 // the container whose host name is Value, looked up at start
)

// Host is a line for the container's /etc/hosts.
type Host struct {
	Name  string
	Kind  HostKind
	Value string
}

// Port publishes ContainerPort on the first free host port of HostPort..HostPortEnd.
type Port struct {
	Proto         string // "tcp", "udp" or "sctp"
	ContainerPort uint16
	HostIP        netip.Addr
	HostPort      uint16
	HostPortEnd   uint16 // = HostPort for a single port
}

// Restart is the restart policy.
type Restart struct {
	Policy     string        // "no", "always", "unless-stopped", "on-failure"
	MaxRetries int           // on-failure only; 0 for endless
	MaxDelay   time.Duration // upper bound of the growing delay; 0 for the default (1 min)
}

// Memory holds limits in bytes; 0 is no limit, Swap -1 is unlimited swap.
type Memory struct{ Limit, Reservation, Swap int64 }

// Log says where the container's output goes; sizes in bytes.
type Log struct {
	Driver   string // "json-file" or "none"
	MaxFiles int
	MaxSize  int64
	RootDir  string // absolute, or empty for the engine's own place
}

// Health is the extension sitelet.health: the start job ends when the check passes.
type Health struct {
	Command     []string // argv, or one element that a shell runs when Shell is set
	Shell       bool
	Interval    time.Duration
	Timeout     time.Duration
	StartPeriod time.Duration
	Retries     int
}
