package management

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/go-amqp"

	"github.com/sitelet/sitelet/internal/router"
)

// Snapshot returns what a router runs with: its entities of all types that router.Config makes, as it reports them, with defaults,
// statistics and states, without what is null. Values are string, int, bool, []any or map[string]any.
func Snapshot(ctx context.Context, c *Client) ([]router.Entity, error) {
	return query(ctx, c, router.Types()...)
}

// query returns the entities of some types, such as "tcpListener", "address" or "router.node".
func query(ctx context.Context, c *Client, kinds ...string) ([]router.Entity, error) {
	requests := make([]*amqp.Message, len(kinds))
	for i, kind := range kinds {
		requests[i] = &amqp.Message{
			ApplicationProperties: map[string]any{"operation": "QUERY", "type": "org.amqp.management", "entityType": router.ManagementType(kind)},
			Value:                 map[string]any{"attributeNames": []any{}},
		}
	}
	found := make([][]router.Entity, len(kinds))
	failed := c.exchange(ctx, requests, func(i int, answer *amqp.Message) (err error) {
		if err = check(answer); err == nil {
			found[i], err = rows(kinds[i], answer.Value)
		}
		return err
	})
	var entities []router.Entity
	for i, kind := range kinds {
		if failed[i] != nil {
			return nil, fmt.Errorf("the router's entities of type %s are not known: %w", kind, failed[i])
		}
		entities = append(entities, found[i]...)
	}
	return entities, nil
}

var errRows = errors.New("the router's answer makes no sense: it is no table of names and rows")

// rows reads the body of an answer to QUERY.
func rows(kind string, body any) ([]router.Entity, error) {
	table, _ := native(body).(map[string]any)
	names, hasNames := table["attributeNames"].([]any)
	results, hasResults := table["results"].([]any)
	if !hasNames || !hasResults {
		return nil, errRows
	}
	entities := make([]router.Entity, len(results))
	for i, result := range results {
		row, ok := result.([]any)
		if !ok || len(row) != len(names) {
			return nil, errRows
		}
		entities[i].Type = kind
		for j, value := range row {
			name, ok := names[j].(string)
			if !ok {
				return nil, errRows
			}
			addAttribute(&entities[i], name, value)
		}
	}
	return entities, nil
}

func addAttribute(e *router.Entity, name string, value any) {
	switch {
	case value == nil || name == "type":
	case name == "name":
		e.Name, _ = value.(string)
	default:
		e.Attributes = append(e.Attributes, router.Attribute{Name: name, Value: value})
	}
}
