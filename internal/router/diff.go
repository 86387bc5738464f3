package router

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Operation is what a Request asks for, in the words of the management protocol.
type Operation string

const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// Request is one management request. Its entity has the name that the running router knows it by and the attributes to send: all
// for Create, for Update only those that change, none for Delete. Ports are strings, as the router's schema has them.
type Request struct {
	Operation Operation
	Entity    Entity
}

// String says in words what is asked for: "create tcpListener listener/backend".
func (r Request) String() string {
	return strings.ToLower(string(r.Operation)) + " " + r.Entity.Type + " " + cmp.Or(r.Entity.Name, strconv.Quote(key(r.Entity).name))
}

// What refers to others comes before them here, and after them where things are made.
var (
	deleteOrder = []string{"listenerAddress", "tcpConnector", "tcpListener", "connector", "listener", "address", "sslProfile", "proxyProfile"}
	createOrder = []string{"proxyProfile", "sslProfile", "address", "listener", "connector", "tcpConnector", "tcpListener", "listenerAddress", "log"}
)

// Diff returns what to ask of a running router for it to be as wanted, in an order that it takes and without one request too many;
// nothing where it is as wanted already. Have is what it reports for Types, under either name of a type. Rotate names the profiles
// whose files have other contents than when the router read them.
//
// Left alone: the router and site entities and the local listener, and what another program made for itself. A TLS profile that
// such an entity uses stays too. Where NeedsRestart names the router's mode, the router refuses what is only for the other one.
func Diff(want, have []Entity, rotate []string) []Request {
	d := diff{have: live(have), wanted: map[identity]Entity{}}
	had := map[identity]Entity{}
	for _, h := range d.have {
		had[key(h)] = h
	}
	for _, w := range live(want) {
		d.wanted[key(w)] = w
		if h, ok := had[key(w)]; ok {
			d.change(w, h, slices.Contains(rotate, w.Name))
		} else {
			d.create(w)
		}
	}
	d.clear()
	d.reattach()
	slices.SortStableFunc(d.deletes, inOrder(deleteOrder))
	slices.SortStableFunc(d.changes, inOrder(createOrder))
	return slices.Concat(d.deletes, d.changes)
}

type diff struct {
	wanted           map[identity]Entity
	have             []Entity
	deletes, changes []Request
	replaced         []string // tcpListeners that go away for a moment
}

// live returns the entities that can change while a router runs, under the types that a file has, in order.
func live(entities []Entity) []Entity {
	var out []Entity
	for _, e := range entities {
		e.Type = fileType(e.Type)
		if slices.Contains(createOrder, e.Type) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, Compare)
	return out
}

// identity is what makes an entity of one list the same as one of another.
type identity struct{ kind, name string }

// key is by name but for addresses and logs: the router makes up the name of an address, and a file has none for a log.
func key(e Entity) identity {
	name := e.Name
	switch e.Type {
	case "address":
		name, _ = e.Get("prefix").(string)
	case "log":
		name, _ = e.Get("module").(string)
	}
	return identity{e.Type, name}
}

// change asks for what takes the least. An Update is possible for few attributes (skrouter.json). One of a proxyProfile leaves
// the router with a pointer to freed memory (agent.py: ProxyProfileEntity), so it is replaced; connectors find it by its name.
func (d *diff) change(want, have Entity, rotated bool) {
	changes := differing(want, have)
	switch {
	case want.Type == "listener" && want.Name == localListener:
	case want.Type == "sslProfile" && (rotated || len(changes) > 0):
		d.update(have, append(changes, Attribute{"ordinal", ordinal(have) + 1}))
	case len(changes) == 0 && !(rotated && want.Type == "proxyProfile"):
	case want.Type == "log", want.Type == "tcpListener" && len(changes) == 1 && changes[0].Name == "observer":
		d.update(have, changes)
	default:
		d.replace(want, have)
	}
}

func (d *diff) create(e Entity) {
	if e.Type == "log" { // there is one for each module from the start
		d.update(e, []Attribute{{"enable", e.Get("enable")}})
		return
	}
	e.Attributes = slices.Clone(e.Attributes)
	for i, a := range e.Attributes {
		if port, ok := a.Value.(int); ok && a.Name == "port" {
			e.Attributes[i].Value = strconv.Itoa(port)
		}
	}
	d.changes = append(d.changes, Request{Create, e})
}

func (d *diff) update(e Entity, attributes []Attribute) {
	d.changes = append(d.changes, Request{Update, Entity{e.Type, e.Name, attributes}})
}

func (d *diff) delete(e Entity) {
	if e.Type == "log" {
		d.change(Entity{e.Type, e.Name, defaultLog(e)}, e, false)
		return
	}
	d.deletes = append(d.deletes, Request{Delete, Entity{Type: e.Type, Name: e.Name}})
}

func (d *diff) replace(want, have Entity) {
	d.delete(have)
	d.create(want)
	if want.Type == "tcpListener" {
		d.replaced = append(d.replaced, want.Name)
	}
}

// defaultLog is what the router logs of a module by itself.
func defaultLog(e Entity) []Attribute {
	module := e.Get("module")
	if module == "DEFAULT" {
		return []Attribute{{"module", module}, {"enable", "info+"}}
	}
	return []Attribute{{"module", module}}
}

// clear deletes what is not wanted, but no profile that something which stays uses.
func (d *diff) clear() {
	inUse := map[identity]bool{}
	use := func(e Entity) {
		for _, kind := range []string{"sslProfile", "proxyProfile"} {
			name, _ := e.Get(kind).(string)
			inUse[identity{kind, name}] = true
		}
	}
	for _, w := range d.wanted {
		use(w)
	}
	var unwanted []Entity
	for _, h := range d.have {
		_, wanted := d.wanted[key(h)]
		switch {
		case foreign(h) && (!wanted || h.Name == localListener):
			use(h)
		case !wanted:
			unwanted = append(unwanted, h)
		}
	}
	for _, h := range unwanted {
		if !inUse[key(h)] {
			d.delete(h)
		}
	}
}

// foreign tells whether an entity is none of ours to change: the mesh that routers of one site make among themselves, listeners
// of the router's image (upstream, internal/qdr: ConnectorsDifference, IsNotProtectedListener), and the one we talk through.
func foreign(e Entity) bool {
	switch e.Type {
	case "connector":
		return strings.HasPrefix(e.Name, "auto-mesh")
	case "listener":
		return slices.Contains([]string{"@9090", "amqp", "amqps", localListener}, e.Name)
	}
	return false
}

// reattach replaces the listenerAddresses of tcpListeners that are replaced: the router deletes no listener that has some.
func (d *diff) reattach() {
	for _, h := range d.have {
		listener, _ := h.Get("listener").(string)
		if h.Type != "listenerAddress" || !slices.Contains(d.replaced, listener) {
			continue
		}
		if w, ok := d.wanted[key(h)]; ok && len(differing(w, h)) == 0 {
			d.replace(w, h)
		}
	}
}

func inOrder(order []string) func(a, b Request) int {
	return func(a, b Request) int {
		return cmp.Compare(slices.Index(order, a.Entity.Type), slices.Index(order, b.Entity.Type))
	}
}
