package skrouter

import (
	"strings"

	"github.com/sitelet/sitelet/test/standin/amqp"
)

// answer is what a request is answered with. Without one, body is nil.
type answer struct {
	status int
	body   any
}

// handle does what is asked for. A nil answer is none: the core never answers UPDATE.
func (r *Router) handle(q request) (*answer, *refusal) {
	k := kindOf(q.kind)
	if k != nil && !strings.HasPrefix(q.kind, prefix) && q.kind != "" {
		k = nil
	}
	if k != nil && k.core {
		return r.handleCore(k, q)
	}
	operation := strings.ToUpper(q.operation)
	switch operation {
	case "CREATE":
		return r.handleCreate(k, q)
	case "QUERY":
		if q.kind != "" && k == nil {
			return nil, noSuchType(q.kind)
		}
		return r.query(k, q.names)
	}
	e, err := r.target(k, q)
	if err != nil {
		return nil, err
	}
	if !contains(e.kind.operations, operation) {
		return nil, notImplemented(operation, e.kind)
	}
	switch operation {
	case "UPDATE":
		return r.handleUpdate(e, q.body)
	case "DELETE":
		if err := r.checkDelete(e); err != nil {
			return nil, err
		}
		r.remove(e)
		return &answer{statusNoContent, amqp.Map{}}, nil
	}
	return &answer{statusOK, e.toMap()}, nil
}

func noSuchType(name string) *refusal {
	if name != "org.apache.qpid.dispatch" && !strings.Contains(name, ".") {
		name = prefix + name
	}
	return refuse(statusBadRequest, "No such entity type '%s'", name)
}

func notImplemented(operation string, k *kind) *refusal {
	return refuse(statusNotImplemented, "Operation '%s' not implemented for '%s' %s", operation, k.full(), quotedAll(k.operations))
}

func (r *Router) handleCreate(k *kind, q request) (*answer, *refusal) {
	if q.name != nil {
		if old := q.body["name"]; old != nil && old != q.name {
			return nil, refuse(statusBadRequest, "Conflicting values for 'name'")
		}
		q.body["name"] = q.name
	}
	if q.kind == "" {
		return nil, refuse(statusBadRequest, "No 'type' attribute in %v", q.body)
	}
	if k == nil {
		return nil, noSuchType(q.kind)
	}
	if !contains(k.operations, "CREATE") {
		return nil, notImplemented("CREATE", k)
	}
	for _, name := range sortedKeys(q.body) {
		a := k.attribute(name)
		if a == nil {
			return nil, refuse(statusBadRequest, "Unknown attribute '%s' for '%s'", name, k.full())
		}
		if a.use == reported {
			return nil, refuse(statusBadRequest, "Cannot set attribute '%s' in CREATE", name)
		}
	}
	e, err := r.create(k, q.body)
	if err != nil {
		return nil, err
	}
	return &answer{statusCreated, e.toMap()}, nil
}

// handleUpdate changes an entity. Values that fit the schema stay even if the router then fails to take them up: a trap for those
// who compare what is reported with what they want.
func (r *Router) handleUpdate(e *entity, body map[string]any) (*answer, *refusal) {
	for _, name := range sortedKeys(body) {
		a := e.kind.attribute(name)
		if a == nil {
			return nil, refuse(statusBadRequest, "Unknown attribute '%s' for '%s'", name, e.kind.full())
		}
		if a.use != updatable && body[name] != e.attributes[name] {
			return nil, refuse(statusBadRequest, "Cannot update attribute '%s' in UPDATE", name)
		}
	}
	attributes := make(map[string]any)
	for name, value := range e.attributes {
		attributes[name] = value
	}
	for name, value := range body {
		attributes[name] = value
	}
	if err := e.kind.complete(attributes); err != nil {
		return nil, err
	}
	e.attributes = attributes
	if err := r.update(e); err != nil {
		return nil, err
	}
	return &answer{statusOK, e.toMap()}, nil
}

func (r *Router) update(e *entity) *refusal {
	switch e.kind.name {
	case "sslProfile":
		return r.updateProfile(e)
	case "log":
		return checkLevel(e)
	}
	return nil
}

func (r *Router) checkDelete(e *entity) *refusal {
	if e.kind.name != "tcpListener" {
		return nil
	}
	used := r.leaving[e.text("name")] > 0
	for _, other := range r.entities {
		used = used || other.kind.name == "listenerAddress" && other.text("listener") == e.text("name")
	}
	if used {
		return refuse(statusInternal, "CError: Value: listenerAddress entities exist for  multi-address listener %s", e.text("name"))
	}
	return nil
}

// target finds the entity that a request is for.
func (r *Router) target(k *kind, q request) (*entity, *refusal) {
	if q.kind != "" && k == nil {
		return nil, noSuchType(q.kind)
	}
	key, value := "name", q.name
	if value == nil {
		key, value = "identity", q.identity
	}
	if value == nil {
		return nil, refuse(statusBadRequest, "%s: No name or identity provided", q.kind)
	}
	r.report()
	for _, e := range r.entities {
		if e.kind.core || e.attributes[key] != value {
			continue
		}
		if k != nil && e.kind != k {
			return nil, refuse(statusBadRequest, "Entity type '%s' does not extend requested type '%s'", e.kind.full(), k.full())
		}
		return e, nil
	}
	return nil, refuse(statusNotFound, "No entity with %s=%s", key, plain(value))
}

func (e *entity) toMap() amqp.Map {
	e.refresh()
	m := amqp.Map{}
	for _, a := range e.kind.attributes {
		if value := e.attributes[a.name]; value != nil {
			m = append(m, amqp.Pair{Key: a.name, Value: toAMQP(value)})
		}
	}
	return m
}

// query answers a QUERY for a kind; nil stands for all.
func (r *Router) query(k *kind, names []string) (*answer, *refusal) {
	known := r.namesOf(k)
	for _, name := range names {
		if !contains(known, name) {
			return nil, refuse(statusNotFound, "Unknown attributes %s for type %s.", quotedAll([]string{name}), k.full())
		}
	}
	if len(names) == 0 {
		names = known
	}
	columns := amqp.List{}
	for _, name := range names {
		columns = append(columns, name)
	}
	r.report()
	results := amqp.List{}
	for _, e := range r.entities {
		if k != nil && e.kind != k || k == nil && e.kind.core {
			continue
		}
		e.refresh()
		row := amqp.List{}
		for _, name := range names {
			row = append(row, toAMQP(e.attributes[name]))
		}
		results = append(results, row)
	}
	return &answer{statusOK, amqp.Map{{Key: "attributeNames", Value: columns}, {Key: "results", Value: results}}}, nil
}

func (r *Router) namesOf(k *kind) []string {
	var names []string
	for i := range kinds {
		if k != nil && k != &kinds[i] {
			continue
		}
		for _, a := range kinds[i].attributes {
			if !contains(names, a.name) {
				names = append(names, a.name)
			}
		}
	}
	return names
}

// handleCore answers for what the core knows.
func (r *Router) handleCore(k *kind, q request) (*answer, *refusal) {
	operation := strings.ToUpper(q.operation)
	if operation == "QUERY" {
		return r.query(k, q.names)
	}
	if operation == "UPDATE" && k.name == "router.config.address" {
		return nil, nil
	}
	if operation == "CREATE" && k.name == "router.config.address" {
		if q.name != nil {
			q.body["name"] = q.name
		}
		e, err := r.createAddress(q.body)
		if err != nil {
			return nil, err
		}
		return &answer{statusCreated, e.toMap()}, nil
	}
	if !contains(k.operations, operation) && k.name != "router.config.address" {
		return nil, notImplemented(operation, k)
	}
	r.report()
	for _, e := range r.entities {
		if e.kind != k || e.attributes["name"] != q.name && (q.identity == nil || e.attributes["identity"] != q.identity) {
			continue
		}
		if operation == "DELETE" {
			r.remove(e)
			return &answer{statusNoContent, amqp.Map{}}, nil
		}
		return &answer{statusOK, e.toMap()}, nil
	}
	return nil, refuse(statusNotFound, "Not Found")
}

var statusTexts = map[int]string{statusOK: "OK", statusCreated: "Created", statusNoContent: "No Content"}

// reply answers a request that came as a message.
func (r *Router) reply(m *amqp.Message, status int, description string, body any, core bool) *amqp.Message {
	id := m.CorrelationID
	// The agent knows one type of number only.
	if n, ok := id.(uint64); ok && !core {
		id = toAMQP(int64(n))
	}
	return &amqp.Message{To: m.ReplyTo, CorrelationID: id, Body: body, Application: amqp.Map{
		{Key: "statusCode", Value: int32(status)}, {Key: "statusDescription", Value: description}}}
}

// receive takes a message that was sent to the management node. The core answers at once; the agent does one request after the
// other, for all clients, so that what the core answers comes before what was asked of the agent earlier.
func (r *Router) receive(m *amqp.Message, from *amqp.Connection) {
	if m.To != "$management" || m.ReplyTo == "" {
		return
	}
	q, err := readRequest(m)
	k := kindOf(q.kind)
	answer := func() { r.answer(q, err, k != nil && k.core, m, from) }
	do := func() {
		if r.faulty(q, m, from, answer) {
			return
		}
		answer()
	}
	if k != nil && k.core {
		do()
		return
	}
	select {
	case r.agent <- do:
	case <-r.ctx.Done():
	}
}

// runAgent does what the agent is asked for.
func (r *Router) runAgent() {
	for {
		select {
		case do := <-r.agent:
			do()
		case <-r.ctx.Done():
			return
		}
	}
}

// answer answers a request; wrong is what was wrong with the message.
func (r *Router) answer(q request, wrong *refusal, core bool, m *amqp.Message, from *amqp.Connection) {
	var a *answer
	err := wrong
	if err == nil {
		r.mu.Lock()
		a, err = r.handle(q)
		r.mu.Unlock()
	}
	switch {
	case err != nil && core && q.operation == "CREATE":
		from.Send(r.reply(m, err.status, err.text, nil, core))
	case err != nil:
		from.Send(r.reply(m, err.status, err.text, amqp.Map{}, core))
	case a != nil:
		from.Send(r.reply(m, a.status, statusTexts[a.status], a.body, core))
	}
}
