// Package router says what a Skupper router is to be configured with, as the entities of its management schema, and what must be
// asked of a running router to get there. It talks to nobody.
package router

import (
	"cmp"
	"slices"
	"strings"
)

// Entity is one entity of a router's configuration, the way its configuration file has it.
type Entity struct {
	Type string // as in the file: "tcpListener", "address"

	// Name is what the running router knows the entity by. The file has it for all but router, address and log; the router calls
	// a log entity "log/MODULE", and makes up a name for an address.
	Name       string
	Attributes []Attribute // without the name, in the order in which upstream writes them
}

// Attribute is one attribute of an Entity. Value is a string, an int or a bool; in a Request, nil takes the attribute away.
type Attribute struct {
	Name  string
	Value any
}

// Get returns the value of an attribute, nil where the entity has none.
func (e Entity) Get(name string) any {
	for _, a := range e.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// Equal tells whether two entities are the same, attribute for attribute and in order. Whether a router takes them as the same is
// for Diff to say.
func (e Entity) Equal(other Entity) bool {
	return e.Type == other.Type && e.Name == other.Name && slices.Equal(e.Attributes, other.Attributes)
}

// Compare orders entities as a configuration file has them: by the group of their type, then by name. The local listener is the first
// one: a router ends if it cannot open that, and does without any other (skupper-router, connection_manager.c: first_start).
func Compare(a, b Entity) int {
	return cmp.Or(cmp.Compare(group(a.Type), group(b.Type)), strings.Compare(a.Type, b.Type), rank(a)-rank(b), strings.Compare(a.Name, b.Name))
}

func rank(e Entity) int {
	if e.Type == "listener" && e.Name == localListener {
		return 0
	}
	return 1
}

// types is in the order in which upstream writes the groups (internal/qdr/qdr.go: MarshalRouterConfig).
var types = []string{"router", "sslProfile", "proxyProfile", "connector", "listener", "address", "tcpConnector", "tcpListener",
	"listenerAddress", "log", "site"}

// group is the place of a type in a configuration file; types that we do not know come last.
func group(t string) int {
	if i := slices.Index(types, t); i >= 0 {
		return i
	}
	return len(types)
}

// text appends a string attribute, which a file leaves out where it is empty.
func (e *Entity) text(name, value string) {
	if value != "" {
		e.set(name, value)
	}
}

func (e *Entity) set(name string, value any) {
	e.Attributes = append(e.Attributes, Attribute{name, value})
}

// Expand returns the entities with base where they have BaseVariable: what the router in a container, which knows nothing of
// the variable, reports and must be told.
func Expand(entities []Entity, base string) []Entity {
	expanded := slices.Clone(entities)
	for i, e := range expanded {
		expanded[i].Attributes = slices.Clone(e.Attributes)
		for j, a := range expanded[i].Attributes {
			if text, ok := a.Value.(string); ok {
				expanded[i].Attributes[j].Value = strings.Replace(text, BaseVariable, base, 1)
			}
		}
	}
	return expanded
}
