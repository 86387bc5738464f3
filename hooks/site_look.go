package hooks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sitelet/sitelet/internal/management"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
)

// SiteState is what a site's router says of itself, and what is wrong with the resources.
type SiteState struct {
	Namespace  string           `json:"namespace"`
	Site       string           `json:"site"`
	Router     string           `json:"router"` // its id; empty until it is deployed
	Answers    bool             `json:"answers"`
	Why        string           `json:"why,omitempty"` // where it does not
	Links      []LinkState      `json:"links"`
	Listeners  []ListenerState  `json:"listeners"`
	Connectors []ConnectorState `json:"connectors"`
	Problems   []string         `json:"problems"`
}

// LinkState is a link to another site.
type LinkState struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Peer    string `json:"peer"` // host and port
	Cost    int    `json:"cost"`
	Up      bool   `json:"up"`
	Message string `json:"message,omitempty"`
}

// ListenerState is a Listener or a MultiKeyListener.
type ListenerState struct {
	Name       string `json:"name"`
	RoutingKey string `json:"routingKey"`
	Address    string `json:"address"`
	Matched    bool   `json:"matched"`
	Message    string `json:"message,omitempty"`
	Open       int    `json:"connectionsOpen"`
	BytesIn    int    `json:"bytesIn"`
	BytesOut   int    `json:"bytesOut"`
}

// ConnectorState is a Connector.
type ConnectorState struct {
	Name       string `json:"name"`
	RoutingKey string `json:"routingKey"`
	Address    string `json:"address"`
	Open       int    `json:"connectionsOpen"`
	BytesIn    int    `json:"bytesIn"`
	BytesOut   int    `json:"bytesOut"`
}

// lookTime is how long a router may take to say how it is.
const lookTime = 3 * time.Second

// AskSite asks the router of a namespace how it is, and has what it says of each resource be read in runtime/resources too. A router
// that does not answer is no error.
func (h Hooks) AskSite(ctx context.Context, namespace string) (SiteState, error) {
	s, err := h.lookAtSite(namespace)
	if err != nil {
		return SiteState{}, err
	}
	reportTokens(&s)
	return h.askRouter(ctx, s), nil
}

// unasked is what is known of a site without its router, and why that was not asked.
func unasked(s Site, why string) SiteState {
	state := SiteState{Namespace: s.Namespace, Why: why, Links: []LinkState{}, Listeners: []ListenerState{}, Connectors: []ConnectorState{}, Problems: []string{}}
	for _, d := range s.Resources.Findings() {
		state.Problems = append(state.Problems, d.String())
	}
	if s.record.Router != nil {
		state.Site = s.record.Router.Name
	}
	if s.known {
		state.Router = s.record.RouterID()
	}
	return state
}

func (h Hooks) askRouter(ctx context.Context, s Site) SiteState {
	if s.record.Router == nil {
		return unasked(s, "there is no Site")
	}
	state := unasked(s, "")
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	client, err := h.dialRouter(ctx, s)
	if err != nil {
		state.Why = err.Error()
		return state
	}
	defer client.Close()
	have, err := management.Snapshot(ctx, client)
	if err != nil {
		state.Why = err.Error()
		return state
	}
	state.Answers = true
	o := observed{entities: have}
	state.fill(s.Resources, &o)
	h.keepStates(s.Namespace, o)
	return state
}

// keepStates writes what a router says into runtime/resources, unless it has yet to take something up: then it cannot say how that is,
// and the reload will. Who may not write there only looks.
func (h Hooks) keepStates(namespace string, o observed) {
	unlock, ok := h.tryLock("site-" + namespace)
	if !ok {
		return
	}
	defer unlock()
	if s, err := h.lookAtSite(namespace); err == nil && s.Entities != nil && len(h.liveChanges(s)) == 0 {
		_ = h.writeResources(s, &o)
	}
}

func (state *SiteState) fill(set *site.Resources, o *observed) {
	for _, l := range set.Links {
		if e := o.entity("connector", l.Name); e != nil {
			message, _ := e.Get("connectionMsg").(string)
			state.Links = append(state.Links, LinkState{l.Name, text(e, "role"), text(e, "host") + ":" + text(e, "port"), number(e, "cost"),
				e.Get("connectionStatus") == "SUCCESS", message})
		}
	}
	add := func(kind, name, key string) {
		e := o.entity("tcpListener", kind+"/"+name)
		if e == nil {
			return
		}
		why, _ := isShut(*e)
		state.Listeners = append(state.Listeners, ListenerState{name, key, text(e, "host") + ":" + text(e, "port"), e.Get("operStatus") == "up", why,
			open(e), number(e, "bytesIn"), number(e, "bytesOut")})
	}
	for _, l := range set.Listeners {
		add("listener", l.Name, l.RoutingKey)
	}
	for _, l := range set.MultiKeyListeners {
		add("multiAddress", l.Name, "")
	}
	for _, c := range set.Connectors {
		if e := o.entity("tcpConnector", "connector/"+c.Name+"@"+c.Host); e != nil {
			// The router counts the connector itself as one (seen on skupper-router e2ec51a4).
			state.Connectors = append(state.Connectors, ConnectorState{c.Name, c.RoutingKey, text(e, "host") + ":" + text(e, "port"),
				max(0, open(e)-1), number(e, "bytesIn"), number(e, "bytesOut")})
		}
	}
	slices.SortFunc(state.Listeners, func(a, b ListenerState) int { return strings.Compare(a.Name, b.Name) })
}

func text(e *router.Entity, name string) string {
	s, _ := e.Get(name).(string)
	return s
}

func number(e *router.Entity, name string) int {
	n, _ := e.Get(name).(int)
	return n
}

func open(e *router.Entity) int {
	return number(e, "connectionsOpened") - number(e, "connectionsClosed")
}
