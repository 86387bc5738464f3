package management

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/sitelet/sitelet/internal/router"
)

// Failure is a request that was not done. Its Err is an *Error if the router refused it.
type Failure struct {
	Request router.Request
	Err     error
}

// Do sends requests in order, without waiting for one before the next, and returns an error for each, nil for those that the
// router has done. A tcpListener that is created may still not listen: see its operStatus.
func (c *Client) Do(ctx context.Context, requests []router.Request) []error {
	messages := make([]*amqp.Message, len(requests))
	for i, request := range requests {
		messages[i] = message(request)
	}
	return c.exchange(ctx, messages, func(_ int, answer *amqp.Message) error { return check(answer) })
}

// Apply does requests in order, and returns those that failed. The others are done all the same: what needs something that failed
// is refused by the router itself.
func Apply(ctx context.Context, c *Client, requests []router.Request) []Failure {
	i := lastRelease(requests)
	failures := c.release(ctx, requests[:i])
	return append(failures, c.apply(ctx, requests[i:])...)
}

// lastRelease returns how many requests there are up to the last that deletes a tcpListener after a listenerAddress, 0 if none does.
func lastRelease(requests []router.Request) int {
	last, released := 0, false
	for i, r := range requests {
		if r.Operation == router.Delete {
			released = released || r.Entity.Type == "listenerAddress"
			if released && r.Entity.Type == "tcpListener" {
				last = i + 1
			}
		}
	}
	return last
}

// How often, and after how long each time, the router is asked again to delete a listener.
const (
	releases     = 20
	releasePause = 25 * time.Millisecond
)

// release deletes listeners that had listenerAddresses. The router says that an address is deleted before it is, and refuses to
// delete the listener until then (skupper-router, adaptor_listener.c: qd_adaptor_listener_close), for some milliseconds.
func (c *Client) release(ctx context.Context, requests []router.Request) []Failure {
	failures := c.apply(ctx, requests)
	for range releases {
		again, rest := partition(failures, func(f Failure) bool {
			var refused *Error
			return f.Request.Operation == router.Delete && f.Request.Entity.Type == "tcpListener" && errors.As(f.Err, &refused) && refused.Code == 500
		})
		if len(again) == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return failures
		case <-time.After(releasePause):
		}
		failures = append(rest, c.apply(ctx, requestsOf(again))...)
	}
	return failures
}

func partition(failures []Failure, match func(Failure) bool) (matching, rest []Failure) {
	for _, f := range failures {
		if match(f) {
			matching = append(matching, f)
		} else {
			rest = append(rest, f)
		}
	}
	return matching, rest
}

func requestsOf(failures []Failure) []router.Request {
	requests := make([]router.Request, len(failures))
	for i, f := range failures {
		requests[i] = f.Request
	}
	return requests
}

// apply does requests at once.
//
// A router that cannot do an UPDATE reports the new values from then on, though it goes on with the old ones (skupper-router,
// agent.py: EntityAdapter.update). They are put back, so that a comparison finds the difference again.
func (c *Client) apply(ctx context.Context, requests []router.Request) []Failure {
	if len(requests) == 0 {
		return nil
	}
	before := make([]*router.Entity, len(requests))
	var messages []*amqp.Message
	var owners []int // the request that a message is for
	for i, request := range requests {
		if request.Operation == router.Update {
			messages, owners = append(messages, read(request.Entity)), append(owners, i)
		}
		messages, owners = append(messages, message(request)), append(owners, i)
	}
	last := func(m int) bool { return m+1 == len(owners) || owners[m+1] != owners[m] }
	results := c.exchange(ctx, messages, func(m int, answer *amqp.Message) error {
		if err := check(answer); err != nil || last(m) {
			return err
		}
		before[owners[m]] = entity(requests[owners[m]].Entity.Type, answer.Value)
		return nil
	})
	var failures []Failure
	var undo []router.Request
	for m, err := range results {
		if err == nil || !last(m) {
			continue
		}
		request := requests[owners[m]]
		failures = append(failures, Failure{request, err})
		var refused *Error
		if old := before[owners[m]]; old != nil && errors.As(err, &refused) {
			undo = append(undo, reverse(request, *old))
		}
	}
	if len(undo) > 0 {
		c.Do(ctx, undo) // the router may refuse this too: what it reports is put back all the same
	}
	return failures
}

// reverse returns the Update that has an entity report its old values.
func reverse(request router.Request, old router.Entity) router.Request {
	back := router.Request{Operation: router.Update, Entity: router.Entity{Type: old.Type, Name: request.Entity.Name}}
	for _, a := range request.Entity.Attributes {
		back.Entity.Attributes = append(back.Entity.Attributes, router.Attribute{Name: a.Name, Value: old.Get(a.Name)})
	}
	return back
}

// entity reads the body of an answer to READ; nil if it is none.
func entity(kind string, body any) *router.Entity {
	attributes, ok := native(body).(map[string]any)
	if !ok {
		return nil
	}
	e := &router.Entity{Type: kind}
	for name, value := range attributes {
		addAttribute(e, name, value)
	}
	return e
}

func read(e router.Entity) *amqp.Message {
	return &amqp.Message{ApplicationProperties: properties("READ", e), Value: map[string]any{}}
}

// message returns the message for a request. In a body, a port is a string, and other numbers are integers: the router takes
// a float for nothing. It has come to grief over null in a CREATE, where it means nothing anyway.
func message(request router.Request) *amqp.Message {
	body := make(map[string]any)
	for _, a := range request.Entity.Attributes {
		number, isNumber := a.Value.(int)
		switch {
		case a.Value == nil && request.Operation == router.Create:
		case isNumber && a.Name == "port":
			body[a.Name] = strconv.Itoa(number)
		case isNumber:
			body[a.Name] = int64(number)
		default:
			body[a.Name] = a.Value
		}
	}
	return &amqp.Message{ApplicationProperties: properties(string(request.Operation), request.Entity), Value: body}
}

// properties says what is asked for. An address needs a name of ours: without one, it could not be deleted again.
func properties(operation string, e router.Entity) map[string]any {
	name := e.Name
	if prefix, ok := e.Get("prefix").(string); ok && name == "" && e.Type == "address" {
		name = "address/" + prefix
	}
	p := map[string]any{"operation": operation, "type": router.ManagementType(e.Type)}
	if name != "" {
		p["name"] = name
	}
	return p
}
