package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
)

// Site is what is kept of a namespace for ever, so that no reload and no restored backup moves it.
type Site struct {
	Version   int
	Namespace string
	ID        string // UUID of the site
	Suffix    string // of the router's id, after the site's name
	Platform  string // that the site has started with
	Ports     []Port
	Hosts     []string `json:",omitempty"` // names and addresses of the host that linkAccess stands for
	Tokens    []Token  `json:",omitempty"`
	Router    *Router  `json:",omitempty"` // what is to run; nil where there is no Site
	Stopped   bool     `json:",omitempty"` // because its Site was deleted, not by an operator
}

// LocalPort is the name of the port of a router's own endpoint.
const LocalPort = "local"

// Port is one that was allocated. Its name is LocalPort, or ACCESS/ROLE for a RouterAccess.
type Port struct {
	Name string
	Port uint16
}

// Token is an AccessToken that was redeemed, or is to be.
type Token struct {
	Name     string
	Digest   string // of what makes it this token
	Document []byte `json:",omitempty"` // the Secret and the Links that it was redeemed for, as YAML
	Failure  string `json:",omitempty"` // why it was not redeemed the last time
	Tries    int    `json:",omitempty"`
	Next     time.Time
}

// Router is what only another process or container takes up: the create inputs of a site's workload.
type Router struct {
	Source  string // path of the file with the Site
	Name    string // of the Site
	Edge    bool
	Image   string // empty for platform linux
	Release string // version of sitelet that the router reports; it changes only when something else does
	User    string // UID:GID that the container runs as
	KeepID  bool   // the container is a user's, who is to be himself in it
	Home    string // directory of the namespace, as the host has it
}

// RouterID returns the router's id, which is the name of its site entity too.
func (s Site) RouterID() string { return s.Router.Name + "-" + s.Suffix }

// Port returns an allocated port; 0 where there is none.
func (s Site) Port(name string) uint16 {
	for _, p := range s.Ports {
		if p.Name == name {
			return p.Port
		}
	}
	return 0
}

func (s Store) siteDir() string { return filepath.Join(s.Dir, "sites") }

func (s Store) sitePath(namespace string) string { return filepath.Join(s.siteDir(), namespace+suffix) }

// Sites lists the namespaces in lexical order.
func (s Store) Sites() ([]string, error) {
	return namesIn(s.siteDir())
}

// ReadSite returns what is kept of a namespace; the error wraps fs.ErrNotExist when that is nothing.
func (s Store) ReadSite(namespace string) (Site, error) {
	data, err := os.ReadFile(s.sitePath(namespace))
	if err != nil {
		return Site{Namespace: namespace}, fmt.Errorf("reading the state of the site %s: %w", namespace, err)
	}
	var site Site
	if err := json.Unmarshal(data, &site); err != nil || site.Version != version || site.Namespace != namespace {
		return Site{Namespace: namespace}, fmt.Errorf("the state file %s is damaged; restore it from a backup, or remove it to have the site start anew under another id", s.sitePath(namespace))
	}
	return site, nil
}

// WriteSite replaces what is kept of a namespace if that differs. One at a time may do so.
func (s Store) WriteSite(site Site) error {
	site.Version = version
	data, err := json.MarshalIndent(site, "", "\t")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := os.ReadFile(s.sitePath(site.Namespace)); err == nil && slices.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(s.siteDir(), 0o700); err != nil {
		return fmt.Errorf("writing the state of the site %s: %w", site.Namespace, err)
	}
	s.SweepSite(site.Namespace)
	if err := renameio.WriteFile(s.sitePath(site.Namespace), data, 0o600, renameio.WithTempDir(s.siteDir()), renameio.WithStaticPermissions(0o600)); err != nil {
		return fmt.Errorf("writing the state of the site %s: %w", site.Namespace, err)
	}
	return nil
}

// RemoveSite forgets a namespace.
func (s Store) RemoveSite(namespace string) error {
	if err := os.Remove(s.sitePath(namespace)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the state of the site %s: %w", namespace, err)
	}
	return nil
}

// Token returns the entry of a token, which is made if there is none. It stays for good: the token's file may go and come back.
func (s *Site) Token(name, digest string) *Token {
	for i := range s.Tokens {
		if s.Tokens[i].Name == name && s.Tokens[i].Digest == digest {
			return &s.Tokens[i]
		}
	}
	s.Tokens = append(s.Tokens, Token{Name: name, Digest: digest})
	return &s.Tokens[len(s.Tokens)-1]
}

// Redeemed returns what a token was redeemed for; where it was not, what the last one of its name was, of which it takes the place.
func (s *Site) Redeemed(name, digest string) []byte {
	if t := s.Token(name, digest); t.Document != nil {
		return t.Document
	}
	for i := len(s.Tokens) - 1; i >= 0; i-- {
		if t := s.Tokens[i]; t.Name == name && t.Document != nil {
			return t.Document
		}
	}
	return nil
}
