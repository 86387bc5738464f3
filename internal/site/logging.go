package site

import (
	"slices"
	"strings"
)

// The modules and levels of the router's log, as upstream takes them (internal/qdr/router_logging.go).
var (
	logModules = []string{"DEFAULT", "ROUTER", "ROUTER_CORE", "ROUTER_HELLO", "ROUTER_LS", "ROUTER_MA", "MESSAGE", "SERVER", "AGENT", "AUTHSERVICE",
		"CONTAINER", "ERROR", "POLICY", "HTTP", "CONN_MGR", "PYTHON", "PROTOCOL", "TCP_ADAPTOR", "HTTP_ADAPTOR"}
	// oldModules are those of them that the router has given up.
	oldModules = []string{"AUTHSERVICE"}
	logLevels  = []string{"trace", "debug", "info", "notice", "warning", "error", "critical"}
)

// logging reads router-logging, such as "info+,ROUTER_CORE:debug": levels, each after the module it is for or for all of them.
func (n *node) logging() (levels []string) {
	if n.str() == "" {
		return nil
	}
	for item := range strings.SplitSeq(n.str(), ",") {
		item = strings.TrimSpace(item)
		module, level, ok := strings.Cut(item, ":")
		if !ok {
			module, level = "DEFAULT", item
		}
		if !slices.Contains(logModules, module) {
			n.fail(quote(module)+" is not a module of the router's log", nearestHint(module, logModules))
		} else if slices.Contains(oldModules, module) {
			n.warn(quote(module)+" is not a module of the router's log any more", "Take it out, it has no effect.")
		}
		if plain := strings.TrimSuffix(level, "+"); !slices.Contains(logLevels, plain) {
			n.fail(quote(level)+" is not a level of the router's log", nearestHint(plain, logLevels))
		}
		levels = append(levels, item)
	}
	return levels
}
