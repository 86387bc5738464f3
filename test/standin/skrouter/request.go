package skrouter

import (
	"fmt"
	"math"
	"strings"

	"github.com/sitelet/sitelet/test/standin/amqp"
)

// request is a management request.
type request struct {
	operation  string
	kind       string // property type, or for QUERY entityType
	name       any
	identity   any
	properties amqp.Map
	body       map[string]any
	names      []string // attributeNames of a QUERY
}

func readRequest(m *amqp.Message) (request, *refusal) {
	q := request{properties: m.Application, body: make(map[string]any)}
	q.operation, _ = m.Application.Get("operation").(string)
	if q.operation == "" {
		return q, refuse(statusBadRequest, "No 'operation' property: %v", m.Application)
	}
	q.kind, _ = m.Application.Get("type").(string)
	if strings.EqualFold(q.operation, "QUERY") {
		q.kind, _ = m.Application.Get("entityType").(string)
	}
	q.name, q.identity = fromAMQP(m.Application.Get("name")), fromAMQP(m.Application.Get("identity"))
	body, ok := m.Body.(amqp.Map)
	if !ok && m.Body != nil {
		return q, refuse(statusBadRequest, "Bad request body: %v", m.Body)
	}
	for _, pair := range body {
		key, _ := pair.Key.(string)
		q.body[key] = fromAMQP(pair.Value)
	}
	if names, ok := body.Get("attributeNames").(amqp.List); ok {
		for _, name := range names {
			text, _ := name.(string)
			q.names = append(q.names, text)
		}
	}
	return q, nil
}

// fromAMQP returns numbers as int64, and symbols as strings.
func fromAMQP(value any) any {
	switch v := value.(type) {
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return int64(v)
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case float32, float64: // the agent cannot read them, and takes them for nothing
		return nil
	case amqp.Symbol:
		return string(v)
	case nil, int64, bool, string:
		return v
	}
	return fmt.Sprint(value) // no attribute here is a list or a map
}

// toAMQP sends small numbers as the agent does.
func toAMQP(value any) any {
	if i, ok := value.(int64); ok && i >= math.MinInt32 && i <= math.MaxInt32 {
		return int32(i)
	}
	return value
}
