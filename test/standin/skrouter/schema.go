// Package skrouter stands in for skrouterd, the router of Skupper, in tests and demonstrations. It reads the same configuration
// file, refuses what skrouterd refuses, answers the same management requests in the same words, and forwards TCP connections,
// by the facts seen on skrouterd of skupper-router e2ec51a4. It is no AMQP router, and it links only to others of its kind.
package skrouter

import "strings"

// prefix is that of the full names of types.
const prefix = "io.skupper.router."

// kind is a type of entity.
type kind struct {
	name       string // without the prefix
	operations []string
	attributes []attribute
	single     bool // there is one, always
	core       bool // the router's core answers for it, not the management agent
}

// attribute is one attribute of a kind.
type attribute struct {
	name    string
	kind    attributeKind
	values  []string // of an enumeration
	missing any      // what stands where there is none; nil: nothing
	use     use
}

type attributeKind int

const (
	text attributeKind = iota
	integer
	boolean
	enumeration
)

// use says who sets an attribute.
type use int

const (
	reported  use = iota // the router
	settable             // whoever creates the entity
	updatable            // and UPDATE, too
	required             // whoever creates the entity, always
)

func (k *kind) full() string { return prefix + k.name }

// class is what refusals call the kind.
func (k *kind) class() string {
	name := strings.TrimPrefix(k.name, "router.config.")
	return strings.ToUpper(name[:1]) + name[1:] + "Entity"
}

func (k *kind) attribute(name string) *attribute {
	for i := range k.attributes {
		if k.attributes[i].name == name {
			return &k.attributes[i]
		}
	}
	return nil
}

// kindOf returns the kind of that name, with or without the prefix, or nil.
func kindOf(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name || kinds[i].full() == name {
			return &kinds[i]
		}
	}
	return nil
}

var (
	roles   = []string{"normal", "inter-router", "route-container", "edge", "inter-edge", "inter-network"}
	strip   = []string{"in", "out", "both", "no"}
	spreads = []string{"multicast", "closest", "balanced", "unavailable"}
	modules = strings.Fields("ROUTER ROUTER_CORE ROUTER_HELLO ROUTER_LS ROUTER_MA MESSAGE SERVER AGENT CONTAINER ERROR POLICY HTTP " +
		"CONN_MGR PYTHON PROTOCOL TCP_ADAPTOR HTTP_ADAPTOR FLOW_LOG ADDRESS_WATCH HTTP1_OBSERVER HTTP2_OBSERVER HTTP2_DECODER DEFAULT")
)

// all have what a kind has, and what every kind has.
func all(attributes ...attribute) []attribute {
	return append(attributes,
		attribute{name: "name", use: settable},
		attribute{name: "identity"},
		attribute{name: "type", use: settable})
}

func texts(u use, names string) []attribute {
	var attributes []attribute
	for _, name := range strings.Fields(names) {
		attributes = append(attributes, attribute{name: name, use: u})
	}
	return attributes
}

func integers(u use, names string) []attribute {
	attributes := texts(u, names)
	for i := range attributes {
		attributes[i].kind = integer
	}
	return attributes
}

func join(lists ...[]attribute) []attribute {
	var joined []attribute
	for _, list := range lists {
		joined = append(joined, list...)
	}
	return all(joined...)
}

func one(a attribute) []attribute { return []attribute{a} }

// traffic is what the adaptor for TCP reports.
var traffic = integers(reported, "connectionsOpened connectionsClosed bytesIn bytesOut")

// kinds are the kinds that a Skupper site's configuration, a change to it or a question about it can name
// (skupper-router, python/skupper_router/management/skrouter.json).
var kinds = []kind{
	{name: "router", single: true, operations: []string{"READ"}, attributes: all(
		attribute{name: "id", use: settable},
		attribute{name: "vanId", use: settable},
		attribute{name: "mode", kind: enumeration, values: []string{"standalone", "interior", "edge"}, missing: "standalone", use: settable},
		attribute{name: "area", missing: "0"},
		attribute{name: "version"},
		attribute{name: "hostName"},
		attribute{name: "helloIntervalSeconds", kind: integer, missing: int64(1), use: settable},
		attribute{name: "helloMaxAgeSeconds", kind: integer, missing: int64(3), use: settable},
		attribute{name: "raIntervalSeconds", kind: integer, missing: int64(30), use: settable},
		attribute{name: "raIntervalFluxSeconds", kind: integer, missing: int64(4), use: settable},
		attribute{name: "remoteLsMaxAgeSeconds", kind: integer, missing: int64(60), use: settable},
		attribute{name: "unreachableHoldoffSeconds", kind: integer, missing: int64(1), use: settable},
		attribute{name: "workerThreads", kind: integer, missing: int64(4), use: settable},
		attribute{name: "debugDumpFile", use: settable},
		attribute{name: "saslConfigDir", use: settable},
		attribute{name: "saslConfigName", missing: "skrouterd", use: settable},
		attribute{name: "timestampsInUTC", kind: boolean, use: settable},
		attribute{name: "timestampFormat", use: settable},
		attribute{name: "defaultDistribution", kind: enumeration, values: spreads, missing: "balanced", use: settable},
		attribute{name: "metadata", use: settable},
		attribute{name: "dataConnectionCount", missing: "auto", use: settable},
		attribute{name: "dropTcpConnections", kind: boolean, missing: true, use: settable})},
	{name: "network", single: true, operations: []string{"UPDATE", "READ"}, attributes: all(
		attribute{name: "networkId", use: updatable},
		attribute{name: "tenantId", use: settable})},
	{name: "site", operations: []string{"READ"}, attributes: all(texts(settable, "location provider version platform namespace")...)},
	{name: "sslProfile", operations: []string{"CREATE", "UPDATE", "DELETE", "READ"}, attributes: join(
		texts(updatable, "ciphers protocols caCertFile certFile privateKeyFile password"),
		texts(settable, "uidFormat uidNameMappingFile"),
		integers(updatable, "ordinal oldestValidOrdinal"))},
	{name: "proxyProfile", operations: []string{"CREATE", "UPDATE", "DELETE", "READ"}, attributes: all(texts(updatable, "host port username password")...)},
	{name: "listener", operations: []string{"CREATE", "DELETE", "READ"}, attributes: all(
		attribute{name: "host", missing: "", use: settable},
		attribute{name: "port", missing: "amqp", use: settable},
		attribute{name: "socketAddressFamily", kind: enumeration, values: []string{"IPv4", "IPv6"}, use: settable},
		attribute{name: "role", kind: enumeration, values: roles, missing: "normal", use: settable},
		attribute{name: "cost", kind: integer, missing: int64(1), use: settable},
		attribute{name: "sslProfile", use: settable},
		attribute{name: "saslMechanisms", use: settable},
		attribute{name: "authenticatePeer", kind: boolean, missing: false, use: settable},
		attribute{name: "requireEncryption", kind: boolean, missing: false, use: settable},
		attribute{name: "requireSsl", kind: boolean, missing: false, use: settable},
		attribute{name: "maxFrameSize", kind: integer, missing: int64(16384), use: settable},
		attribute{name: "maxSessions", kind: integer, missing: int64(32768), use: settable},
		attribute{name: "maxSessionFrames", kind: integer, use: settable},
		attribute{name: "idleTimeoutSeconds", kind: integer, missing: int64(16), use: settable},
		attribute{name: "initialHandshakeTimeoutSeconds", kind: integer, missing: int64(0), use: settable},
		attribute{name: "stripAnnotations", kind: enumeration, values: strip, missing: "both", use: settable},
		attribute{name: "linkCapacity", kind: integer, use: settable},
		attribute{name: "healthz", kind: boolean, missing: true, use: settable},
		attribute{name: "metrics", kind: boolean, missing: true, use: settable},
		attribute{name: "websockets", kind: boolean, missing: true, use: settable},
		attribute{name: "http", kind: boolean, missing: false, use: settable},
		attribute{name: "httpRootDir", use: settable},
		attribute{name: "messageLoggingComponents", missing: "none", use: settable})},
	{name: "connector", operations: []string{"CREATE", "DELETE", "READ"}, attributes: all(
		attribute{name: "host", missing: "127.0.0.1", use: settable},
		attribute{name: "port", missing: "amqp", use: settable},
		attribute{name: "socketAddressFamily", kind: enumeration, values: []string{"IPv4", "IPv6"}, use: settable},
		attribute{name: "role", kind: enumeration, values: roles, missing: "normal", use: settable},
		attribute{name: "cost", kind: integer, missing: int64(1), use: settable},
		attribute{name: "sslProfile", use: settable},
		attribute{name: "proxyProfile", use: settable},
		attribute{name: "saslMechanisms", use: settable},
		attribute{name: "allowRedirect", kind: boolean, missing: true, use: settable},
		attribute{name: "maxFrameSize", kind: integer, missing: int64(16384), use: settable},
		attribute{name: "maxSessions", kind: integer, missing: int64(32768), use: settable},
		attribute{name: "maxSessionFrames", kind: integer, use: settable},
		attribute{name: "idleTimeoutSeconds", kind: integer, missing: int64(16), use: settable},
		attribute{name: "stripAnnotations", kind: enumeration, values: strip, missing: "both", use: settable},
		attribute{name: "linkCapacity", kind: integer, use: settable},
		attribute{name: "verifyHostname", kind: boolean, missing: true, use: settable},
		attribute{name: "saslUsername", use: settable},
		attribute{name: "saslPassword", use: settable},
		attribute{name: "messageLoggingComponents", missing: "none", use: settable},
		attribute{name: "failoverUrls"},
		attribute{name: "connectionStatus"},
		attribute{name: "connectionMsg"})},
	{name: "tcpListener", operations: []string{"CREATE", "UPDATE", "DELETE", "READ"}, attributes: join(
		one(attribute{name: "address", use: settable}),
		one(attribute{name: "host", missing: "", use: settable}),
		one(attribute{name: "backlog", kind: integer, missing: int64(0), use: settable}),
		one(attribute{name: "port", use: settable}),
		one(attribute{name: "multiAddressStrategy", kind: enumeration, values: []string{"none", "priority", "weighted"}, missing: "none", use: settable}),
		one(attribute{name: "siteId", use: settable}),
		traffic,
		one(attribute{name: "sslProfile", use: settable}),
		one(attribute{name: "authenticatePeer", kind: boolean, missing: false, use: settable}),
		one(attribute{name: "operStatus", kind: enumeration, values: []string{"up", "down"}}),
		one(attribute{name: "connectionMsg"}),
		one(attribute{name: "observer", kind: enumeration, values: []string{"none", "auto", "http1", "http2"}, missing: "auto", use: updatable}))},
	{name: "tcpConnector", operations: []string{"CREATE", "DELETE", "READ"}, attributes: join(
		one(attribute{name: "address", use: settable}),
		one(attribute{name: "host", missing: "127.0.0.1", use: settable}),
		one(attribute{name: "port", use: settable}),
		texts(settable, "siteId processId"),
		traffic,
		one(attribute{name: "sslProfile", use: settable}),
		one(attribute{name: "verifyHostname", kind: boolean, missing: true, use: settable}))},
	{name: "listenerAddress", operations: []string{"CREATE", "DELETE", "READ"}, attributes: all(
		attribute{name: "address", use: required},
		attribute{name: "value", kind: integer, use: required},
		attribute{name: "listener", use: required},
		attribute{name: "connectionsOpened", kind: integer})},
	{name: "log", operations: []string{"UPDATE", "READ"}, attributes: all(
		attribute{name: "module", kind: enumeration, values: modules, use: required},
		attribute{name: "enable", use: updatable},
		attribute{name: "includeTimestamp", kind: boolean, use: updatable},
		attribute{name: "includeSource", kind: boolean, use: updatable},
		attribute{name: "outputFile", use: updatable})},
	{name: "logStats", operations: []string{"READ"}, attributes: all(integers(reported, "debugCount infoCount warningCount errorCount criticalCount")...)},
	{name: "router.config.address", core: true, operations: []string{"CREATE", "DELETE", "READ"}, attributes: all(
		attribute{name: "prefix", use: settable},
		attribute{name: "pattern", use: settable},
		attribute{name: "distribution", kind: enumeration, values: spreads, missing: "balanced", use: settable},
		attribute{name: "priority", kind: integer, missing: int64(-1), use: settable})},
	{name: "router.node", operations: []string{"READ"}, attributes: join(
		texts(reported, "id"), integers(reported, "protocolVersion instance"), texts(reported, "linkState nextHop validOrigins address"),
		integers(reported, "routerLink cost lastTopoChange index"))},
	{name: "router.link", core: true, operations: []string{"READ"}, attributes: join(
		texts(reported, "operStatus linkName linkType linkDir owningAddr"), integers(reported, "capacity undeliveredCount unsettledCount deliveryCount"),
		texts(reported, "connectionId"))},
	{name: "connection", core: true, operations: []string{"READ"}, attributes: join(
		texts(reported, "adminStatus operStatus protocol container"), one(attribute{name: "opened", kind: boolean}),
		texts(reported, "host localSocket dir role"), one(attribute{name: "isAuthenticated", kind: boolean}), one(attribute{name: "isEncrypted", kind: boolean}),
		texts(reported, "sasl user"), one(attribute{name: "ssl", kind: boolean}), texts(reported, "sslProto sslCipher"),
		integers(reported, "sslSsf uptimeSeconds"), texts(reported, "properties"), integers(reported, "lastDlvSeconds tlsOrdinal"))},
	{name: "policy", single: true, operations: []string{"READ"}, attributes: all(
		attribute{name: "enableVhostPolicy", kind: boolean, missing: false, use: settable})},
}
