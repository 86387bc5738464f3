package skrouter

import (
	"fmt"
	"slices"
)

// Addresses are the core's to answer for, with fewer words than the agent has (agent_config_address.c).

// configureAddress makes an address of the configuration file. Of two with one prefix, skrouterd only logs the second.
func (r *Router) configureAddress(attributes map[string]any) {
	if attributes["name"] == nil {
		attributes["name"] = fmt.Sprintf("address/%d", r.number("address", 0))
	}
	if _, err := r.createAddress(attributes); err != nil {
		r.printf("AGENT (error) Error performing CREATE of io.skupper.router.router.config.address: %s", err.text)
	}
}

// createAddress ignores what it does not know, and takes a distribution that is none for balanced.
func (r *Router) createAddress(attributes map[string]any) (*entity, *refusal) {
	k := kindOf("router.config.address")
	for name := range attributes {
		if k.attribute(name) == nil {
			delete(attributes, name)
		}
	}
	if s, ok := attributes["distribution"].(string); !ok || !slices.Contains(spreads, s) {
		delete(attributes, "distribution")
	}
	for _, e := range r.entities {
		if e.kind != k {
			continue
		}
		if name := attributes["name"]; name != nil && e.attributes["name"] == name {
			return nil, refuse(statusBadRequest, "Name conflicts with an existing entity")
		}
		if e.attributes["prefix"] == attributes["prefix"] && e.attributes["pattern"] == attributes["pattern"] {
			return nil, refuse(statusBadRequest, "Already exists")
		}
	}
	if attributes["prefix"] == nil && attributes["pattern"] == nil {
		return nil, refuse(statusBadRequest, "Either a 'prefix' or 'pattern' attribute must be provided")
	}
	if err := k.complete(attributes); err != nil {
		return nil, err
	}
	attributes["identity"] = fmt.Sprint(r.number("core", 1))
	attributes["type"] = k.full()
	e := &entity{kind: k, attributes: attributes}
	r.entities = append(r.entities, e)
	return e, nil
}
