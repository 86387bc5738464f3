package router

import (
	"slices"
	"strings"

	"github.com/sitelet/sitelet/internal/site"
)

// modules are those that the router's schema lets a log entity name.
var modules = []string{"ROUTER", "ROUTER_CORE", "ROUTER_HELLO", "ROUTER_LS", "ROUTER_MA", "MESSAGE", "SERVER", "AGENT", "CONTAINER",
	"ERROR", "POLICY", "HTTP", "CONN_MGR", "PYTHON", "PROTOCOL", "TCP_ADAPTOR", "HTTP_ADAPTOR", "FLOW_LOG", "ADDRESS_WATCH",
	"HTTP1_OBSERVER", "HTTP2_OBSERVER", "HTTP2_DECODER", "DEFAULT"}

// levels are the router's own; trace and notice, which Skupper still takes, are gone from it: it would not start with notice.
var levels = []string{"debug", "info", "warning", "error", "critical"}

// defaultLevel is upstream's, for a module that is noisy otherwise.
var defaultLevel = Entity{Type: "log", Name: "log/ROUTER_CORE", Attributes: []Attribute{{"module", "ROUTER_CORE"}, {"enable", "error+"}}}

// logs adds the site's log levels, each "LEVEL" or "MODULE:LEVEL"; of two for one module, the last counts. A level enables those
// above it too, with or without its plus sign (upstream, internal/qdr: SetLogLevel). What the router does not know is left out.
func (c *config) logs(s *site.Site) {
	named := []string{}
	for _, text := range slices.Backward(s.LogLevels) {
		e, ok := logLevel(text)
		if ok && !slices.Contains(named, e.Name) {
			named = append(named, e.Name)
			c.add(e)
		}
	}
	if !slices.Contains(named, defaultLevel.Name) {
		c.add(defaultLevel)
	}
}

func logLevel(text string) (e Entity, ok bool) {
	module, level, found := strings.Cut(text, ":")
	if !found {
		module, level = "DEFAULT", text
	}
	level = strings.TrimSuffix(level, "+")
	switch level {
	case "trace":
		level = "debug"
	case "notice":
		level = "info"
	}
	return Entity{Type: "log", Name: "log/" + module, Attributes: []Attribute{{"module", module}, {"enable", level + "+"}}},
		slices.Contains(modules, module) && slices.Contains(levels, level)
}
