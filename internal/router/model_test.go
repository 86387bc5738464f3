package router

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A running router, as far as management goes: a model of what was seen of skupper-router and of what its schema says.
type model struct {
	entities []running
	made     int
}

type running struct {
	Entity     // of the file's type, with all attributes that the router knows
	born   int // tells an entity from one of its name that was made later
}

// kind is what the router's schema says of a type: each attribute that it takes, with its default, and which of them an UPDATE
// may change. A default of nil is none. A proxyProfile must not be updated, whatever the schema says.
type kind struct {
	attributes []Attribute
	update     []string
}

var kinds = map[string]kind{
	"router": {[]Attribute{{"id", nil}, {"mode", "standalone"}, {"helloMaxAgeSeconds", 3}, {"metadata", nil}, {"workerThreads", 4},
		{"dataConnectionCount", "auto"}}, nil},
	"site": {[]Attribute{{"location", nil}, {"provider", nil}, {"version", nil}, {"platform", nil}, {"namespace", nil}}, nil},
	"sslProfile": {[]Attribute{{"ciphers", nil}, {"protocols", nil}, {"caCertFile", nil}, {"certFile", nil}, {"privateKeyFile", nil},
		{"ordinal", nil}, {"oldestValidOrdinal", nil}},
		[]string{"ciphers", "protocols", "caCertFile", "certFile", "privateKeyFile", "ordinal", "oldestValidOrdinal"}},
	"proxyProfile": {[]Attribute{{"host", nil}, {"port", nil}, {"username", nil}, {"password", nil}}, nil},
	"listener": {[]Attribute{{"host", ""}, {"port", "amqp"}, {"role", "normal"}, {"cost", 1}, {"sslProfile", nil}, {"saslMechanisms", nil},
		{"authenticatePeer", false}, {"maxFrameSize", 16384}, {"healthz", true}, {"http", false}, {"idleTimeoutSeconds", 16}}, nil},
	"connector": {[]Attribute{{"host", "127.0.0.1"}, {"port", "amqp"}, {"role", "normal"}, {"cost", 1}, {"sslProfile", nil},
		{"proxyProfile", nil}, {"verifyHostname", true}, {"maxFrameSize", 16384}, {"allowRedirect", true}}, nil},
	"address": {[]Attribute{{"prefix", nil}, {"pattern", nil}, {"distribution", "balanced"}, {"priority", nil}}, nil},
	"tcpListener": {[]Attribute{{"address", nil}, {"host", ""}, {"port", nil}, {"backlog", 0}, {"multiAddressStrategy", "none"},
		{"siteId", nil}, {"sslProfile", nil}, {"authenticatePeer", false}, {"observer", "auto"}}, []string{"observer"}},
	"tcpConnector": {[]Attribute{{"address", nil}, {"host", "127.0.0.1"}, {"port", nil}, {"siteId", nil}, {"processId", nil},
		{"sslProfile", nil}, {"verifyHostname", true}}, nil},
	"listenerAddress": {[]Attribute{{"address", nil}, {"value", nil}, {"listener", nil}}, nil},
	"log": {[]Attribute{{"module", nil}, {"enable", nil}, {"includeTimestamp", nil}, {"includeSource", nil}, {"outputFile", nil}},
		[]string{"enable", "includeTimestamp", "includeSource", "outputFile"}},
}

// start returns a router that was started with a configuration, or why it would not start.
func start(config []Entity) (*model, error) {
	m := &model{}
	for _, e := range config {
		if err := m.create(e); err != nil {
			return nil, err
		}
	}
	for _, module := range modules {
		if m.find("log/"+module) == nil {
			e := Entity{"log", "log/" + module, []Attribute{{"module", module}}}
			if module == "DEFAULT" {
				e.set("enable", "info+")
			}
			if err := m.create(e); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func (m *model) clone() *model {
	c := &model{slices.Clone(m.entities), m.made}
	for i, e := range c.entities {
		c.entities[i].Attributes = slices.Clone(e.Attributes)
	}
	return c
}

func (m *model) find(name string) *running {
	i := slices.IndexFunc(m.entities, func(e running) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &m.entities[i]
}

func (m *model) askAll(requests []Request) error {
	for _, r := range requests {
		if err := m.ask(r); err != nil {
			return err
		}
	}
	return nil
}

// ask does what a request asks for, or says why not.
func (m *model) ask(r Request) error {
	if r.Operation == Create {
		if r.Entity.Type == "log" || r.Entity.Type == "router" || r.Entity.Type == "site" {
			return fmt.Errorf("%s: not implemented", r)
		}
		return m.create(r.Entity)
	}
	e := m.find(r.Entity.Name)
	if e == nil || e.Type != r.Entity.Type {
		return fmt.Errorf("%s: no such entity", r)
	}
	if r.Operation == Delete {
		return m.delete(*e)
	}
	return m.update(e, r)
}

func (m *model) update(e *running, r Request) error {
	for _, a := range r.Entity.Attributes {
		i := slices.IndexFunc(e.Attributes, func(b Attribute) bool { return b.Name == a.Name })
		switch {
		case !slices.Contains(kinds[e.Type].update, a.Name):
			return fmt.Errorf("%s: cannot update attribute %s", r, a.Name)
		case a.Name == "ordinal" && a.Value.(int) < 1:
			return fmt.Errorf("%s: ordinal %v", r, a.Value)
		case a.Value == nil && i >= 0:
			e.Attributes = slices.Delete(e.Attributes, i, i+1)
		case i >= 0:
			e.Attributes[i].Value = a.Value
		case a.Value != nil:
			e.set(a.Name, a.Value)
		}
	}
	for _, user := range m.entities {
		if user.Type != "sslProfile" && user.Get("sslProfile") == e.Name {
			if err := m.usable(user.Entity); err != nil {
				return fmt.Errorf("%s: %w", r, err)
			}
		}
	}
	return nil
}

func (m *model) delete(e running) error {
	for _, user := range m.entities {
		switch {
		case user.Get("listener") == e.Name:
			return fmt.Errorf("listenerAddress entities exist for %s", e.Name)
		case user.Get(e.Type) == e.Name && strings.HasSuffix(e.Type, "Profile") && e.Type != "proxyProfile":
			return fmt.Errorf("%s is deleted while %s uses it", e.Name, user.Name) // the router lets it happen; we must not
		}
	}
	m.entities = slices.DeleteFunc(m.entities, func(other running) bool { return other.born == e.born })
	return nil
}

func (m *model) create(e Entity) error {
	attributes := []Attribute{}
	for _, known := range kinds[e.Type].attributes {
		value := e.Get(known.Name)
		if value == nil {
			value = known.Value
		}
		if known.Name == "port" {
			value = fmt.Sprint(value)
		}
		if value != nil {
			attributes = append(attributes, Attribute{known.Name, value})
		}
	}
	for _, a := range e.Attributes {
		if !slices.ContainsFunc(kinds[e.Type].attributes, func(k Attribute) bool { return k.Name == a.Name }) {
			return fmt.Errorf("unknown attribute %s for %s", a.Name, e.Type)
		}
	}
	m.made++
	e.Attributes = attributes
	if e.Name == "" {
		e.Name = fmt.Sprintf("%s/%d", e.Type, m.made)
	}
	if other := m.find(e.Name); other != nil {
		return fmt.Errorf("%s %s duplicates the name of a %s", e.Type, e.Name, other.Type)
	}
	if err := m.usable(e); err != nil {
		return err
	}
	m.entities = append(m.entities, running{e, m.made})
	return nil
}

// usable is what the router finds out when an entity comes to use another.
func (m *model) usable(e Entity) error {
	if name, ok := e.Get("sslProfile").(string); ok {
		p := m.find(name)
		if p == nil || p.Type != "sslProfile" {
			return fmt.Errorf("sslProfile %s of %s not found", name, e.Name)
		}
		has := func(file string) bool { return p.Get(file) != nil }
		listens := e.Type == "listener" || e.Type == "tcpListener"
		switch {
		case listens && !has("certFile"):
			return fmt.Errorf("%s: listener requires a certificate", e.Name)
		case (!listens || e.Get("authenticatePeer") == true) && !has("caCertFile"):
			return fmt.Errorf("%s requires a CA", e.Name)
		case has("certFile") && !has("privateKeyFile"):
			return fmt.Errorf("%s: missing private key file", e.Name)
		}
	}
	if name, ok := e.Get("proxyProfile").(string); ok {
		if p := m.find(name); p == nil || p.Type != "proxyProfile" {
			return fmt.Errorf("proxyProfile %s not found", name)
		}
	}
	if name, ok := e.Get("listener").(string); ok {
		if l := m.find(name); l == nil || l.Type != "tcpListener" {
			return fmt.Errorf("listener for new address does not exist: %s", name)
		}
	}
	role := e.Get("role")
	links := role == "inter-router" || role == "edge" && e.Type == "listener"
	for _, router := range m.entities {
		if router.Type == "router" && router.Get("mode") != "interior" && links {
			return fmt.Errorf("role %s of %s is only allowed with mode interior", role, e.Name)
		}
	}
	if cost, ok := e.Get("cost").(int); ok && cost < 1 {
		return fmt.Errorf("invalid cost (%d)", cost)
	}
	if levels, ok := e.Get("enable").(string); ok && e.Type == "log" {
		if level := strings.TrimSuffix(levels, "+"); level != "default" && !slices.Contains(levelsOfRouter, level) {
			return fmt.Errorf("%q is not a valid log level", levels)
		}
	}
	return nil
}

var levelsOfRouter = []string{"none", "debug", "info", "warning", "error", "critical"}

// report is what a query of all types comes to.
func (m *model) report() []Entity {
	var out []Entity
	for _, e := range m.entities {
		e.Type = ManagementType(e.Type)
		e.Attributes = append(slices.Clone(e.Attributes), Attribute{"identity", "made/" + e.Name})
		if strings.HasSuffix(e.Type, "tcpListener") {
			e.Attributes = append(e.Attributes, Attribute{"operStatus", "up"}, Attribute{"connectionsOpened", 7})
		}
		out = append(out, e.Entity)
	}
	return append(out, Entity{"io.skupper.router.connection", "connection/1", nil})
}

// state is what matters of a router of what can change while it runs, apart from when its parts were made.
func (m *model) state() map[string]string {
	state := map[string]string{}
	for _, e := range m.entities {
		if e.Type == "router" || e.Type == "site" {
			continue
		}
		attributes := map[string]any{}
		for _, a := range e.Attributes {
			if a.Name != "ordinal" && !(a.Name == "enable" && a.Value == "default") {
				attributes[a.Name] = a.Value
			}
		}
		name := e.Name
		if e.Type == "address" {
			name = fmt.Sprint(e.Get("prefix"))
		}
		state[e.Type+" "+name] = fmt.Sprint(slices.Sorted(maps.Keys(attributes)), attributes)
	}
	return state
}
