package pki

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
				var end time.Time
				if end, err = c.end(); err == nil {
					ends = append(ends, End{parent + "/" + e.Name(), end})
				}
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", filepath.Join(dir, parent, e.Name()), err))
			}
		}
	}
	return ends, errors.Join(errs...)
}

// end is when the first certificate of the chain ends, or, where others are only trusted, the last of those.
func (b Bundle) end() (time.Time, error) {
	order := func(x, y *x509.Certificate) int { return x.NotAfter.Compare(y.NotAfter) }
	if len(b.Cert) > 0 {
		chain, err := parseCertificates(b.Cert)
		if err != nil {
			return time.Time{}, fmt.Errorf("tls.crt %w", err)
		}
		return slices.MinFunc(chain, order).NotAfter, nil
	}
	authorities, err := parseCertificates(b.CA)
	if err != nil {
		return time.Time{}, fmt.Errorf("ca.crt %w", err)
	}
	return slices.MaxFunc(authorities, order).NotAfter, nil
}
