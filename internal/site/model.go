// Package site reads and checks the resources of a Skupper site: the kinds of skupper.io/v2alpha1 as they are used outside
// Kubernetes, and Secrets.
package site

import (
	"net/netip"

	"github.com/sitelet/sitelet/internal/diag"
)

// Resources is what the files of one namespace come to. Each slice is sorted by name and holds only what can be used; what is
// wrong with the rest is in All.
type Resources struct {
	Namespace string
	Site      *Site // nil: there is none, or SiteErr says why it must not be used

	// SiteErr is set where the whole site hangs on a mistake: two Sites, or an impossible one. What runs must be left as it is.
	SiteErr bool

	Listeners         []Listener
	Connectors        []Connector
	MultiKeyListeners []MultiKeyListener
	Links             []Link
	RouterAccesses    []RouterAccess
	AccessTokens      []AccessToken
	Certificates      []Certificate
	Secrets           []Secret

	All []*Resource // every document that has a kind and a name, by kind and name, good or bad

	Problems diag.List // what belongs to no resource, such as syntax errors

	fallbacks int
}

// Resource is one document, whatever its kind.
type Resource struct {
	Kind, Name string
	File       string // as a user would name it
	Line       int    // of metadata.name, from 1
	Column     int    // in bytes, from 1
	Document   []byte // the document as YAML of its own, keys sorted, with the namespace and without a status
	Problems   diag.List

	root       *node // the document's tree; nil for a resource that Parse did not make
	generation int64 // metadata.generation
	last       *Last // its last good version; nil: none, or it could not be used
	kept       bool  // it has errors, and yet something of it is used: see keep.go
}

// Quarantined tells whether the resource is left out for an error.
func (r *Resource) Quarantined() bool { return r.Problems.HasErrors() && !r.kept }

// Site is a kind Site.
type Site struct {
	*Resource
	LinkAccess string // empty or "none": no links are accepted on ports of their own; empty on an edge site
	Edge       bool
	LogLevels  []string // of settings.router-logging
}

// TakesLinks tells whether linkAccess asks for a RouterAccess; outside Kubernetes any other value than none does.
func (s *Site) TakesLinks() bool { return s.LinkAccess != "" && s.LinkAccess != "none" }

// Listener is a kind Listener.
type Listener struct {
	*Resource
	RoutingKey     string
	Host           string
	Port           uint16
	TLSCredentials string
	Observer       string // as written; empty stands for auto
}

// Connector is a kind Connector.
type Connector struct {
	*Resource
	RoutingKey     string
	Host           string
	Port           uint16
	TLSCredentials string
	UseClientCert  bool
	VerifyHostname bool
}

// MultiKeyListener is a kind MultiKeyListener.
type MultiKeyListener struct {
	*Resource
	Host              string
	Port              uint16
	Strategy          string     // "priority" or "weighted"
	Keys              []KeyValue // in the order of the document for priority, sorted by key for weighted
	TLSCredentials    string
	RequireClientCert bool
	Observer          string
}

// KeyValue is a routing key of a MultiKeyListener with the value that the router wants for it: weights as they are, and for
// priority n-1 for the first of n keys down to 0.
type KeyValue struct {
	Key   string
	Value int
}

// Link is a kind Link.
type Link struct {
	*Resource
	Endpoints      []Endpoint
	TLSCredentials string
	Cost           int    // from 1
	Proxy          string // Secret, or directory of input/proxies, that says how to reach a proxy; empty: none
}

// Endpoint is where a router takes links.
type Endpoint struct {
	Name  string // "inter-router" or "edge"
	Host  string
	Port  string
	Group string
}

// RouterAccess is a kind RouterAccess.
type RouterAccess struct {
	*Resource
	Roles          []Role
	BindHost       string   // empty: all addresses
	Names          []string // subjectAlternativeNames
	TLSCredentials string   // the name of the resource where the document has none
	Issuer         string   // empty: skupper-site-ca
	Given          bool     // generateTlsCredentials is false: the certificate is the user's
}

// Role is one listener of a RouterAccess.
type Role struct {
	Name string // "inter-router" or "edge"
	Port uint16 // 0: to be allocated
}

// AccessToken is a kind AccessToken.
type AccessToken struct {
	*Resource
	URL  string // with scheme https
	Code string
	CA   string // PEM
	Cost int    // linkCost; 0: as the links say
}

// Certificate is a kind Certificate.
type Certificate struct {
	*Resource
	CA                      string
	Subject                 string
	Hosts                   []string
	Client, Server, Signing bool
}

// Secret is a core v1 Secret; stringData is folded into Data.
type Secret struct {
	*Resource
	Type string
	Data []Item // sorted by key
}

// Item is an entry of a Secret.
type Item struct {
	Key   string
	Value []byte
}

// Get returns the value of a key, nil where there is none.
func (s *Secret) Get(key string) []byte {
	for _, item := range s.Data {
		if item.Key == key {
			return item.Value
		}
	}
	return nil
}

// Socket is a TCP port that somebody listens on, or is to.
type Socket struct {
	Addr  netip.Addr // invalid: all addresses
	Host  string     // where Addr is not known: a name
	Port  uint16
	Owner string // in words, such as `the RouterAccess "go-east" of namespace "east"`
}
