package pki

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// End is when a certificate of a site ends.
type End struct {
	Name string // of its directory, below the namespace's runtime directory: issuers/NAME or certs/NAME
	At   time.Time
}

// Ends lists when the certificates end that dir, a namespace's runtime directory, holds, by name. The error is about those that cannot
// be read; the others are listed all the same.
func Ends(dir string) ([]End, error) {
	var ends []End
	var errs []error
	s := store{dir: dir}
	for _, parent := range []string{certs, issuers} {
		entries, err := os.ReadDir(filepath.Join(dir, parent))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("listing certificates: %w", err))
		}
		for _, e := range entries {
			c, err := s.read(parent, e.Name())
			if err == nil && e.Name() != staged && len(c.Cert)+len(c.CA) > 0 {
				if _, end, ok := c.age(); ok {
					ends = append(ends, End{parent + "/" + e.Name(), end})
				} else {
					err = errors.New("holds no certificate that can be read")
				}
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", filepath.Join(dir, parent, e.Name()), err))
			}
		}
	}
	return ends, errors.Join(errs...)
}

// EndOf is when the certificate ends that dir has for a name, a CA's or another one, as in Ends; zero if there is none that can be read.
func EndOf(dir, name string, authority bool) time.Time {
	parent := certs
	if authority {
		parent = issuers
	}
	c, err := store{dir: dir}.read(parent, name)
	if err != nil {
		return time.Time{}
	}
	_, end, _ := c.age()
	return end
}
