package hooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/sitelet/sitelet/internal/management"
	"github.com/sitelet/sitelet/internal/router"
)

// For what the router says of a tcpListener in the same cases.
var (
	errTaken   = errors.New("address already in use: stop what listens there, or take another port")
	errNowhere = errors.New("cannot assign requested address: write one that this host has as bindHost, or none for all that it has")
)

// withoutTaken leaves out listeners for links that cannot be opened, as somebody else has the port: a router can crash over such a request
// (seen on skupper-router e2ec51a4), where for a tcpListener it reports a state. Have is what the router has: ports of what it is
// to let go of are its own, under whatever name.
func withoutTaken(requests []router.Request, have []router.Entity) (rest []router.Request, failures []management.Failure) {
	freed := map[string]bool{}
	o := observed{entities: have}
	for _, r := range requests {
		if e := o.entity(r.Entity.Type, r.Entity.Name); r.Operation == router.Delete && e != nil && (e.Type == "listener" || e.Type == "tcpListener" && e.Get("operStatus") == "up") {
			freed[text(e, "port")] = true
		}
		if r.Operation == router.Create && r.Entity.Type == "listener" && !freed[text(&r.Entity, "port")] {
			if err := tryOut(r.Entity); err != nil {
				failures = append(failures, management.Failure{Request: r, Err: err})
				continue
			}
		}
		rest = append(rest, r)
	}
	return rest, failures
}

// tryOut returns why a listener cannot be opened now, nil if it can.
func tryOut(listener router.Entity) error {
	host, _ := listener.Get("host").(string)
	port := fmt.Sprint(listener.Get("port"))
	network := "tcp"
	if addr, err := netip.ParseAddr(host); err == nil && addr.Unmap().Is4() {
		network = "tcp4"
	} else if err == nil {
		network = "tcp6"
	}
	l, err := net.Listen(network, net.JoinHostPort(host, port))
	switch {
	case err == nil:
		return l.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		return errTaken
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return errNowhere
	}
	return err
}

// isShut tells whether a router could not open a listener, and why.
func isShut(e router.Entity) (why string, shut bool) {
	why, _ = e.Get("connectionMsg").(string)
	return why, e.Type == "tcpListener" && why != "" && e.Get("operStatus") != "up"
}

// withoutShut returns what a router has with the listeners changed that it could not open, of which it says so or that are named: it
// tries only when one is made, so that they must be made again.
func withoutShut(have []router.Entity, named []string) []router.Entity {
	var all []router.Entity
	for _, e := range have {
		if _, shut := isShut(e); shut || e.Type == "listener" && slices.Contains(named, e.Name) {
			e.Attributes = []router.Attribute{{Name: "host", Value: "\x00"}}
		}
		all = append(all, e)
	}
	return all
}

// shutAtStart names the listeners for links that a router which is about to start will not be able to open: afterwards it has them, and
// says nothing of it.
func shutAtStart(entities []router.Entity) (names []string) {
	for _, e := range entities {
		if e.Type == "listener" && e.Get("role") != "normal" && tryOut(e) != nil {
			names = append(names, e.Name)
		}
	}
	return names
}

// shut returns the listeners that a router could not open as failures of the requests that made them, which it has said yes to.
func shut(have []router.Entity) []management.Failure {
	var failures []management.Failure
	for _, e := range have {
		if why, is := isShut(e); is {
			request := router.Request{Operation: router.Create, Entity: router.Entity{Type: e.Type, Name: e.Name}}
			failures = append(failures, management.Failure{Request: request, Err: errors.New(why)})
		}
	}
	return failures
}

const (
	// looks is how often a router is asked what it has after a change, and between how long it is left alone: whether a listener
	// could be opened shows after some milliseconds.
	looks   = 4
	between = 30 * time.Millisecond
)

// settled returns what a router has once it knows which of the listeners that were asked for it could open, or has had its time.
func settled(ctx context.Context, client *management.Client, requests []router.Request) (have []router.Entity, err error) {
	for range looks {
		if have, err = management.Snapshot(ctx, client); err != nil || !opening(have, requests) {
			return have, err
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return have, ctx.Err()
		}
	}
	return have, nil
}

func opening(have []router.Entity, requests []router.Request) bool {
	o := observed{entities: have}
	for _, r := range requests {
		if r.Operation != router.Create || r.Entity.Type != "tcpListener" {
			continue
		}
		if e := o.entity(r.Entity.Type, r.Entity.Name); e != nil && e.Get("operStatus") != "up" {
			if _, shut := isShut(*e); !shut {
				return true
			}
		}
	}
	return false
}
