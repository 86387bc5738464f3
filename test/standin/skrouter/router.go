package skrouter

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Router is a router that runs.
type Router struct {
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	log      io.Writer
	faults   string    // path of a file; see faults.go
	started  time.Time // when
	mu       sync.Mutex
	entities []*entity
	numbers  map[string]int64 // the last one of each sequence of identities

	connections []*connection // in the order in which they came
	neighbours  []*neighbour
	securities  []*security
	leaving     map[string]int // by listener, how many of its addresses are being deleted
	agent       chan func()    // what it is to do
	lastSlow    chan struct{}  // closed when the last request that a fault holds back is done; nil: there was none
	live        bool           // the configuration is read
	begun       bool           // a connector or a listener is made: skrouterd can do without each that comes later
	pending     bool           // a look at the listeners is due
}

// Options are what a router takes from its surroundings. The zero value is fine.
type Options struct {
	SiteID string    // what SKUPPER_SITE_ID says; empty: it says nothing
	Faults string    // path of a file of faults; empty: none
	Log    io.Writer // nil: nothing is logged
}

// Start runs a router with the configuration file's contents. The error is that which skrouterd would end with.
func Start(configuration []byte, options Options) (*Router, error) {
	r := &Router{log: options.Log, faults: options.Faults, started: time.Now(), numbers: make(map[string]int64), leaving: make(map[string]int),
		agent: make(chan func(), 4096)}
	if r.log == nil {
		r.log = io.Discard
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	sections, err := parse(configuration)
	if err != nil {
		return nil, refuse(statusInternal, "Python: Exception: Cannot load configuration file: %v", err)
	}
	if err := checkSite(sections, options.SiteID); err != nil {
		return nil, err
	}
	r.goes(r.runAgent)
	r.mu.Lock()
	err = r.configure(sections)
	r.live = true
	r.mu.Unlock()
	if err != nil {
		r.Close()
		return nil, refuse(statusInternal, "Python: %v", err)
	}
	return r, nil
}

// Close stops the router and all that it does.
func (r *Router) Close() {
	r.cancel()
	r.mu.Lock()
	for _, e := range r.entities {
		if e.run != nil {
			e.run.stop()
		}
	}
	for _, c := range r.connections {
		c.close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

func (r *Router) printf(format string, args ...any) {
	fmt.Fprintf(r.log, time.Now().UTC().Format("2006-01-02 15:04:05.000000 -0700 ")+format+"\n", args...)
}

// goes runs f apart, until it ends; Close waits for it.
func (r *Router) goes(f func()) { r.running.Go(f) }

// number returns the next number of a sequence of identities.
func (r *Router) number(sequence string, first int64) int64 {
	n, ok := r.numbers[sequence]
	if !ok {
		n = first - 1
	}
	r.numbers[sequence] = n + 1
	return n + 1
}

// find returns the entity of a kind and name, or nil.
func (r *Router) find(kind, name string) *entity {
	for _, e := range r.entities {
		if e.kind.name == kind && e.text("name") == name {
			return e
		}
	}
	return nil
}

// the returns the one entity of a kind of which there is one.
func (r *Router) the(kind string) *entity {
	for _, e := range r.entities {
		if e.kind.name == kind {
			return e
		}
	}
	return &entity{kind: kindOf(kind), attributes: map[string]any{}}
}

func (r *Router) id() string { return r.the("router").text("id") }

// create makes an entity of attributes that the schema's rules have not been applied to.
func (r *Router) create(k *kind, attributes map[string]any) (*entity, *refusal) {
	e := &entity{kind: k, attributes: attributes}
	if err := r.identify(e); err != nil {
		return nil, err
	}
	if err := k.complete(e.attributes); err != nil {
		return nil, err
	}
	if err := r.checkNew(e); err != nil {
		return nil, err
	}
	if err := r.start(e); err != nil {
		return nil, err
	}
	r.entities = append(r.entities, e)
	e.refresh()
	r.changed()
	return e, nil
}

// identify gives an entity its identity, and a name if it has none.
func (r *Router) identify(e *entity) *refusal {
	if e.attributes["identity"] != nil {
		return refuse(statusBadRequest, "'identity' attribute cannot be specified %v", e.attributes)
	}
	get := func(name string) string {
		if value := e.attributes[name]; value != nil {
			return plain(value)
		}
		if a := e.kind.attribute(name); a != nil && a.missing != nil {
			return plain(a.missing)
		}
		return "None"
	}
	var identity string
	switch e.kind.name {
	case "listener", "connector", "tcpListener", "tcpConnector":
		identity = get("host") + ":" + get("port")
		if e.attributes["name"] != nil {
			identity += ":" + get("name")
		}
	case "listenerAddress":
		identity = get("listener") + ":" + get("address")
		if e.attributes["name"] != nil {
			identity += ":" + get("name")
		}
	case "router", "site", "router.node":
		identity = get("id")
	case "log":
		identity = get("module")
	case "logStats", "sslProfile", "proxyProfile":
		identity = get("name")
	default:
		identity = fmt.Sprint(r.number(e.kind.name, 0))
	}
	e.attributes["identity"] = strings.TrimPrefix(e.kind.name, "router.config.") + "/" + identity
	if e.attributes["name"] == nil {
		e.attributes["name"] = e.attributes["identity"]
	}
	e.attributes["type"] = e.kind.full()
	return nil
}

// checkNew refuses what cannot be beside the entities that there are.
func (r *Router) checkNew(e *entity) *refusal {
	for _, unique := range []string{"name", "identity"} {
		for _, other := range r.entities {
			if other.attributes[unique] == e.attributes[unique] {
				other.refresh()
				return refuse(statusBadRequest, "adding %s duplicates unique attribute '%s' from existing %s", e, unique, other)
			}
		}
	}
	if e.kind.name == "listener" || e.kind.name == "connector" {
		return checkRole(e, r.the("router").text("mode"))
	}
	return nil
}

// checkRole refuses what a router of that mode cannot do (skupper-router, qdrouter.py).
func checkRole(e *entity, mode string) *refusal {
	role := e.text("role")
	switch {
	case mode == "standalone" && (role == "inter-router" || role == "edge"):
		return refuse(statusBadRequest, "role='standalone' not allowed to connect to or accept connections from other routers.")
	case mode != "interior" && role == "inter-router":
		return refuse(statusBadRequest, "role='inter-router' only allowed with router mode='interior' for %s", e)
	case mode == "edge" && role == "edge" && e.kind.name == "listener":
		return refuse(statusBadRequest, "role='edge' only allowed with router mode='interior' for %s", e)
	}
	return nil
}

// start has the entity do what it is for.
func (r *Router) start(e *entity) *refusal {
	switch e.kind.name {
	case "listener":
		required := !r.begun
		r.begun = true
		return r.startListener(e, required)
	case "connector":
		r.begun = true
		return r.startConnector(e)
	case "tcpListener":
		return r.startTCPListener(e)
	case "tcpConnector":
		return r.startTCPConnector(e)
	case "listenerAddress":
		return r.startListenerAddress(e)
	case "sslProfile":
		return checkOrdinals(e)
	case "log":
		return checkLevel(e)
	}
	return nil
}

func (r *Router) remove(e *entity) {
	for i, other := range r.entities {
		if other == e {
			r.entities = append(r.entities[:i:i], r.entities[i+1:]...)
			break
		}
	}
	if e.run != nil {
		e.run.stop()
	}
	if e.kind.name == "listenerAddress" {
		r.leave(e.text("listener"))
	}
	r.changed()
}

// checkLevel refuses what is no list of log levels.
func checkLevel(e *entity) *refusal {
	if e.text("enable") == "" || e.text("enable") == "default" {
		return nil
	}
	const levels = "none, debug, info, warning, error, critical"
	for _, word := range strings.Split(e.text("enable"), ",") {
		word = strings.TrimSpace(word)
		known := strings.Contains(", "+levels+", ", ", "+strings.TrimSuffix(word, "+")+", ")
		if !known || word == "" {
			return refuse(statusInternal, "CError: Configuration: '%s' is not a valid log level. Should be one of {%s}.", word, levels)
		}
	}
	return nil
}
