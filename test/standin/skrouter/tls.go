package skrouter

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"sync/atomic"
)

// security is how an entity uses a TLS profile. What it has read stays in use when the profile is deleted.
type security struct {
	profile    string
	server     bool
	verifyPeer bool // for a server: a client must have a certificate; for a client: the server's name must be right
	raw        bool // for TCP connections rather than AMQP, which skrouterd has other words for

	config  atomic.Pointer[tls.Config]
	ordinal atomic.Int64
}

// secure returns how an entity is to use the profile that it names, nil if it names none.
func (r *Router) secure(e *entity, s *security) (*security, *refusal) {
	s.profile = e.text("sslProfile")
	if s.profile == "" {
		return nil, nil
	}
	profile := r.find("sslProfile", s.profile)
	if profile == nil {
		return nil, refuse(statusInternal, "CError: Not found: sslProfile '%s' not found", s.profile)
	}
	if err := s.load(profile); err != nil {
		return nil, err
	}
	r.securities = append(r.securities, s)
	return s, nil
}

func (r *Router) forget(s *security) {
	for i, other := range r.securities {
		if other == s {
			r.securities = append(r.securities[:i:i], r.securities[i+1:]...)
			return
		}
	}
}

// load reads the files of a profile (skupper-router, tls.c: _validate_config; tls_amqp.c, tls_raw.c).
func (s *security) load(profile *entity) *refusal {
	misconfigured := func(format string, args ...any) *refusal {
		return refuse(statusInternal, "CError: Configuration: "+format, args...)
	}
	ca, cert, key := profile.text("caCertFile"), profile.text("certFile"), profile.text("privateKeyFile")
	switch {
	case s.server && cert == "":
		return misconfigured("Listener requires a self-identifying certificate (sslProfile: %s)", s.profile)
	case s.server && s.verifyPeer && ca == "":
		return misconfigured("Listener requires a CA for peer authentication (sslProfile: %s)", s.profile)
	case !s.server && ca == "":
		return misconfigured("Connector requires a CA certificate (sslProfile: %s)", s.profile)
	case cert != "" && key == "":
		return misconfigured("Missing Private Keyfile (sslProfile: %s)", s.profile)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pool := x509.NewCertPool()
		pem, err := os.ReadFile(ca)
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			if s.raw {
				return misconfigured("Failed to configure TLS caCertFile %s for sslProfile '%s': (-1)", ca, s.profile)
			}
			return misconfigured("Failed to configure TLS caCertFile '%s' from sslProfile '%s'", ca, s.profile)
		}
		config.RootCAs, config.ClientCAs = pool, pool
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			if s.raw {
				return misconfigured("Failed to set TLS certFile '%s' for sslProfile '%s': (-4)", cert, s.profile)
			}
			return misconfigured("Failed to configure TLS certFile '%s' from sslProfile '%s'", cert, s.profile)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	s.check(config)
	s.config.Store(config)
	s.ordinal.Store(profile.integer("ordinal"))
	return nil
}

// check says how the peer is checked.
func (s *security) check(config *tls.Config) {
	if s.server {
		if s.verifyPeer {
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
		return
	}
	if s.verifyPeer {
		return
	}
	config.InsecureSkipVerify = true
	config.VerifyConnection = func(state tls.ConnectionState) error {
		options := x509.VerifyOptions{Roots: config.RootCAs, Intermediates: x509.NewCertPool()}
		for _, certificate := range state.PeerCertificates[1:] {
			options.Intermediates.AddCert(certificate)
		}
		_, err := state.PeerCertificates[0].Verify(options)
		return err
	}
}

func checkOrdinals(profile *entity) *refusal {
	ordinal, oldest := profile.integer("ordinal"), profile.integer("oldestValidOrdinal")
	if ordinal < 0 || oldest < 0 {
		return refuse(statusInternal, "CError: Configuration: Negative ordinal field values are invalid (sslProfile '%s')", profile.text("name"))
	}
	if ordinal < oldest {
		return refuse(statusInternal, "CError: Configuration: ordinal must be >= oldestValidOrdinal (sslProfile '%s')", profile.text("name"))
	}
	return nil
}

// updateProfile has all that use a profile read its files again, and lets go of connections that are too old.
func (r *Router) updateProfile(profile *entity) *refusal {
	if err := checkOrdinals(profile); err != nil {
		return err
	}
	for _, s := range r.securities {
		if s.profile == profile.text("name") {
			if err := s.load(profile); err != nil {
				return err
			}
		}
	}
	for _, c := range r.connections {
		if c.profile == profile.text("name") && c.ordinal < profile.integer("oldestValidOrdinal") {
			c.close()
		}
	}
	return nil
}
