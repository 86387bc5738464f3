package management

import (
	"errors"
	"fmt"
	"math"

	"github.com/Azure/go-amqp"
)

// Error is a router's refusal.
type Error struct {
	Code        int    // 400, 404, 500 or 501, as in HTTP
	Description string // in the router's words
}

func (e *Error) Error() string {
	return fmt.Sprintf("the router refused it: %s (%d)", e.Description, e.Code)
}

// check returns an *Error for an answer that is a refusal, and another error for one that is none at all.
func check(answer *amqp.Message) error {
	code, ok := integer(answer.ApplicationProperties["statusCode"])
	if !ok {
		return errors.New("the router's answer makes no sense: it has no statusCode")
	}
	if code >= 200 && code < 300 {
		return nil
	}
	description, _ := answer.ApplicationProperties["statusDescription"].(string)
	if description == "" {
		description = "it does not say why"
	}
	return &Error{code, description}
}

// integer returns any of AMQP's types of integers as an int.
func integer(value any) (int, bool) {
	switch v := value.(type) {
	case int8:
		return int(v), true
	case int16:
		return int(v), true
	case int32:
		return int(v), true
	case int64:
		return int(v), true
	case uint8:
		return int(v), true
	case uint16:
		return int(v), true
	case uint32:
		return int(v), true
	case uint64:
		return int(v), v <= math.MaxInt
	}
	return 0, false
}

// native returns integers as int, symbols as strings and the keys of maps as strings, also in lists and maps.
func native(value any) any {
	if i, ok := integer(value); ok {
		return i
	}
	switch v := value.(type) {
	case amqp.Symbol:
		return string(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = native(v[i])
		}
		return list
	case map[string]any:
		natives := make(map[string]any, len(v))
		for key, value := range v {
			natives[key] = native(value)
		}
		return natives
	case map[any]any:
		natives := make(map[string]any, len(v))
		for key, value := range v {
			natives[fmt.Sprint(key)] = native(value)
		}
		return natives
	}
	return value
}
