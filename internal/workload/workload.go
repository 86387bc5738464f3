// Package workload describes what sitelet runs, apart from where it was written down: one service and its one container.
package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Input is one normalised value that decides what runs. Two workloads with equal inputs are the same workload.
type Input struct {
	Field  string // path in the source document, e.g. config.env[PATH]
	Value  string // canonical: defaults filled in, sizes in bytes, times in Go's duration form
	Live   bool   `json:",omitempty"` // can change while the workload runs; otherwise only a new container takes it up
	Secret bool   `json:",omitempty"` // Value must not be shown
}

// Digest is a lower-case hexadecimal SHA-256, shortened to 24 characters (96 bits): it goes into labels and file names.
type Digest string

// Generation digests the create inputs, Revision the live ones. inputs must be in their canonical order.
func Generation(inputs []Input) Digest { return digest(inputs, false) }

// Revision digests the live inputs. inputs must be in their canonical order.
func Revision(inputs []Input) Digest { return digest(inputs, true) }

func digest(inputs []Input, live bool) Digest {
	text := make([]byte, 0, 1024)
	for _, in := range inputs {
		if in.Live == live {
			// Lengths in front keep ("a", "bc") and ("ab", "c") apart.
			text = appendCounted(appendCounted(text, in.Field), in.Value)
		}
	}
	sum := sha256.Sum256(text)
	return Digest(hex.EncodeToString(sum[:12]))
}

func appendCounted(text []byte, s string) []byte {
	text = strconv.AppendInt(text, int64(len(s)), 10)
	return append(append(text, ':'), s...)
}
