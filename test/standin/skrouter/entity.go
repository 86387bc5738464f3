package skrouter

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// entity is one entity of the router.
type entity struct {
	kind *kind

	// attributes are what was set, or stands for what was not; a string, an int64, a bool, or in answers a list or map. Absent and
	// nil are one thing.
	attributes map[string]any

	run runner // what the entity makes the router do; nil for nothing
}

// runner is the running side of an entity. The router's mutex is held when it is called.
type runner interface {
	report(attributes map[string]any) // sets what only the router knows
	stop()
}

// refusal is why a request, or a configuration, is not taken.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// Statuses of the answers to requests.
const (
	statusOK             = 200
	statusCreated        = 201
	statusNoContent      = 204
	statusBadRequest     = 400
	statusNotFound       = 404
	statusInternal       = 500
	statusNotImplemented = 501
)

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func (e *entity) text(name string) string {
	s, _ := e.attributes[name].(string)
	return s
}

func (e *entity) integer(name string) int64 {
	i, _ := e.attributes[name].(int64)
	return i
}

func (e *entity) truth(name string) bool {
	b, _ := e.attributes[name].(bool)
	return b
}

// frozen returns a copy for a runner, which may look at it without the router's mutex.
func (e *entity) frozen() *entity { return &entity{kind: e.kind, attributes: maps.Clone(e.attributes)} }

// refresh brings the attributes up to date.
func (e *entity) refresh() {
	if e.run != nil {
		e.run.report(e.attributes)
	}
}

// String is the entity as refusals show it.
func (e *entity) String() string {
	var words []string
	for _, a := range e.kind.attributes {
		if value := e.attributes[a.name]; value != nil {
			words = append(words, a.name+"="+plain(value))
		}
	}
	slices.Sort(words)
	return e.kind.class() + "(" + strings.Join(words, ", ") + ")"
}

// plain and quoted show a value as Python, which the router's agent is written in, does.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	}
	return fmt.Sprint(value)
}

func quoted(value any) string {
	if s, ok := value.(string); ok {
		return "'" + s + "'"
	}
	return plain(value)
}

func quotedAll(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = quoted(word)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// complete puts in what is missing and brings all values to their types, as the schema says.
func (k *kind) complete(attributes map[string]any) *refusal {
	for i := range k.attributes {
		a := &k.attributes[i]
		if attributes[a.name] != nil {
			continue
		}
		delete(attributes, a.name)
		if a.missing != nil {
			attributes[a.name] = a.missing
		} else if a.use == required {
			return refuse(statusBadRequest, "%s: Missing required attribute '%s'", k.full(), a.name)
		}
	}
	for _, name := range sortedKeys(attributes) {
		a := k.attribute(name)
		if a == nil {
			return refuse(statusBadRequest, "%s: Unknown attribute '%s' for '%s'", k.full(), name, k.full())
		}
		value, err := a.convert(attributes[name])
		if err != "" {
			return refuse(statusBadRequest, "%s: %s", k.full(), err)
		}
		attributes[name] = value
	}
	return nil
}

func sortedKeys(attributes map[string]any) []string {
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// convert returns a value as the attribute's type, or what is wrong with it.
func (a *attribute) convert(value any) (converted any, wrong string) {
	switch a.kind {
	case integer:
		return a.toInteger(value)
	case boolean:
		return toBoolean(value)
	case enumeration:
		return a.toEnumeration(value)
	}
	if _, isText := value.(string); isText || a.use == reported {
		return value, ""
	}
	return plain(value), ""
}

func (a *attribute) toInteger(value any) (any, string) {
	switch v := value.(type) {
	case int64:
		return v, ""
	case bool:
		if v {
			return int64(1), ""
		}
		return int64(0), ""
	case float64:
		return int64(math.Trunc(v)), ""
	case string:
		if i, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return i, ""
		}
		return nil, fmt.Sprintf("invalid literal for int() with base 10: '%s'", v)
	}
	return nil, fmt.Sprintf("int() argument must be a number, not %T", value)
}

func toBoolean(value any) (any, string) {
	switch v := value.(type) {
	case bool:
		return v, ""
	case int64:
		return v != 0, ""
	case string:
		switch strings.ToLower(v) {
		case "yes", "true", "on":
			return true, ""
		case "no", "false", "off":
			return false, ""
		}
		return nil, fmt.Sprintf("Invalid Boolean value ''%s''", v)
	}
	return true, ""
}

func (a *attribute) toEnumeration(value any) (any, string) {
	if s, ok := value.(string); ok && slices.Contains(a.values, s) {
		return s, ""
	}
	if i, wrong := a.toInteger(value); wrong == "" && i.(int64) >= 0 && i.(int64) < int64(len(a.values)) {
		return a.values[i.(int64)], ""
	}
	return nil, fmt.Sprintf("Invalid value for enum%s: %s", quotedAll(a.values), quoted(value))
}
