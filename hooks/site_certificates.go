package hooks

import "github.com/sitelet/sitelet/internal/pki"

// Certificates tells the age of the certificates that a site uses, those of its CAs first.
func (s Site) Certificates() []pki.Age { return pki.Ages(s.given, s.wants) }
