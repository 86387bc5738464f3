package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// parseCertificates reads the certificates of a PEM text, at least one. Text outside the blocks is explanation and is skipped
// (RFC 7468, section 2); a block that cannot be read, or of another kind, is an error.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	err := eachBlock(data, func(block *pem.Block) error {
		if block.Type != "CERTIFICATE" {
			return errors.New("holds a block of type " + quote(block.Type) + " where only certificates belong")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return errors.New("holds a certificate that cannot be read (" + reason(err) + ")")
		}
		certs = append(certs, cert)
		return nil
	})
	if err == nil && certs == nil {
		err = errors.New("holds no certificate in PEM form")
	}
	return certs, err
}

// parseKey reads the one private key of a PEM text: PKCS#1, PKCS#8 or SEC 1; RSA, elliptic curve or Ed25519.
func parseKey(data []byte) (crypto.Signer, error) {
	var key crypto.Signer
	err := eachBlock(data, func(block *pem.Block) error {
		if block.Type == "EC PARAMETERS" {
			return nil
		}
		if key != nil {
			return errors.New("holds more than one private key")
		}
		parsed, err := parseKeyBlock(block)
		key = parsed
		return err
	})
	if err == nil && key == nil {
		err = errors.New("holds no private key in PEM form")
	}
	if err != nil {
		return nil, err
	}
	return key, nil
}

func parseKeyBlock(block *pem.Block) (crypto.Signer, error) {
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, errEncrypted
	default:
		return nil, errors.New("holds a block of type " + quote(block.Type) + " where only a private key belongs")
	}
	if err != nil {
		return nil, errors.New("holds a private key that cannot be read (" + reason(err) + ")")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, nil
	case *ecdsa.PrivateKey:
		return key, nil
	case ed25519.PrivateKey:
		return key, nil
	}
	return nil, errors.New("holds a private key that is neither RSA nor elliptic curve nor Ed25519")
}

var errEncrypted = errors.New("is encrypted, and the router cannot ask for its pass phrase")

// eachBlock calls f for each PEM block. A block that encoding/pem skips as damaged would be read differently by the router's
// OpenSSL, so the number of blocks must be that of BEGIN lines.
func eachBlock(data []byte, f func(*pem.Block) error) error {
	begins := bytes.Count(data, []byte("-----BEGIN "))
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		begins--
		if block.Headers["DEK-Info"] != "" {
			return errEncrypted
		}
		if len(block.Headers) > 0 {
			return errors.New("holds a block with headers")
		}
		if err := f(block); err != nil {
			return err
		}
		data = rest
	}
	if begins != 0 {
		return errors.New("holds a damaged PEM block")
	}
	return nil
}

// encodeCertificates is the inverse of parseCertificates, without any text between the blocks.
func encodeCertificates(certs ...*x509.Certificate) []byte {
	var b bytes.Buffer
	for _, cert := range certs {
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}) // a Buffer takes all
	}
	return b.Bytes()
}

// cleanKey returns the blocks of a key's text alone; parseKey has taken it.
func cleanKey(data []byte) []byte {
	var b bytes.Buffer
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "EC PARAMETERS" {
			pem.Encode(&b, block)
		}
	}
	return b.Bytes()
}

// fits tells whether a private key belongs to a certificate.
func fits(key crypto.Signer, cert *x509.Certificate) bool {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(cert.PublicKey)
}
