// Package workload describes what sitelet runs, apart from where it was written down: one service and its one container.
package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
)

// Input is one normalised value that decides what runs. Two workloads with equal inputs are the same workload.
type Input struct {
	Field  string // path in the source document, e.g. config.env[PATH]
	Value  string // canonical: defaults filled in, sizes in bytes, times in Go's duration form
	Live   bool   // can change while the workload runs; otherwise only a new container takes it up
	Secret bool   // Value must not be shown
}

// Digest is a lower-case hexadecimal SHA-256, shortened to 24 characters (96 bits): it goes into labels and file names.
type Digest string

// Generation digests the create inputs, Revision the live ones. inputs must be in their canonical order.
func Generation(inputs []Input) Digest { return digest(inputs, false) }

// Revision digests the live inputs. inputs must be in their canonical order.
func Revision(inputs []Input) Digest { return digest(inputs, true) }

func digest(inputs []Input, live bool) Digest {
	h := sha256.New()
	for _, in := range inputs {
		if in.Live == live {
			// Lengths in front keep ("a", "bc") and ("ab", "c") apart.
			io.WriteString(h, strconv.Itoa(len(in.Field))+":"+in.Field+strconv.Itoa(len(in.Value))+":"+in.Value)
		}
	}
	return Digest(hex.EncodeToString(h.Sum(nil))[:24])
}
