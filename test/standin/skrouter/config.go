package skrouter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// section is one entity of a configuration file.
type section struct {
	kind       string
	attributes map[string]any
}

// parse reads a configuration file, a list of lists of a type and attributes. Lines that begin with # are comments.
func parse(configuration []byte) ([]section, error) {
	lines := bytes.Split(configuration, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			lines[i] = nil
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(bytes.Join(lines, []byte("\n"))))
	decoder.UseNumber()
	var raw [][]any
	if err := decoder.Decode(&raw); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("there is more than one JSON value")
	}
	var sections []section
	for i, pair := range raw {
		if len(pair) != 2 {
			return nil, fmt.Errorf("entity %d is no list of a type and attributes", i)
		}
		kind, isText := pair[0].(string)
		attributes, isMap := pair[1].(map[string]any)
		if !isText || !isMap {
			return nil, fmt.Errorf("entity %d is no list of a type and attributes", i)
		}
		if kind == "address" {
			kind = "router.config.address"
		}
		for name, value := range attributes {
			attributes[name] = fromJSON(value)
		}
		sections = append(sections, section{kind, attributes})
	}
	return sections, nil
}

func fromJSON(value any) any {
	number, ok := value.(json.Number)
	if !ok {
		return value
	}
	if i, err := number.Int64(); err == nil {
		return i
	}
	f, _ := number.Float64()
	return f
}

// checkSite refuses a configuration that is for another site than the environment says; skrouterd would run, and report as
// another site than its metadata say.
func checkSite(sections []section, id string) error {
	for _, s := range sections {
		text, ok := s.attributes["metadata"].(string)
		if s.kind != "router" || !ok || id == "" {
			continue
		}
		var metadata struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(text), &metadata); err != nil {
			return fmt.Errorf("the router's metadata are no JSON: %w", err)
		}
		if metadata.ID != id {
			return fmt.Errorf("SKUPPER_SITE_ID is %s, but the router's metadata are of site %s", id, metadata.ID)
		}
	}
	return nil
}

// The order in which skrouterd takes the entities of its configuration (config.py: configure_dispatch); what is not named comes
// between.
var (
	firstKinds = []string{"log", "router", "network", "policy", "sslProfile", "router.config.address"}
	lastKinds  = []string{"connector", "listener", "tcpListener", "tcpConnector", "listenerAddress"}
)

// configure makes the entities of a configuration file, and those that a router has anyway.
func (r *Router) configure(sections []section) error {
	for _, k := range kinds {
		if k.single && !has(sections, k.name) {
			sections = append(sections, section{k.name, map[string]any{}})
		}
	}
	if err := validate(sections); err != nil {
		return refuse(statusInternal, "Exception: Cannot load configuration file: %v", err)
	}
	if err := checkID(sections); err != nil {
		return err
	}
	for _, s := range inOrder(withLogs(sections)) {
		if s.kind == "router.config.address" {
			r.configureAddress(s.attributes)
			continue
		}
		if _, err := r.create(kindOf(s.kind), s.attributes); err != nil {
			return err
		}
	}
	for _, module := range modules {
		r.create(kindOf("logStats"), map[string]any{"name": module, "debugCount": int64(0), "infoCount": int64(0), "warningCount": int64(0),
			"errorCount": int64(0), "criticalCount": int64(0)})
	}
	r.the("router").attributes["hostName"] = "localhost"
	r.reconcile()
	return nil
}

func has(sections []section, kind string) bool {
	for _, s := range sections {
		if s.kind == kind {
			return true
		}
	}
	return false
}

// validate is what skrouterd does before it makes anything: each entity fits the schema, and all fit together.
func validate(sections []section) error {
	var mode string
	names := make(map[string]section)
	seen := make(map[string]bool)
	for _, s := range sections {
		k := kindOf(s.kind)
		if k == nil || k.name == "logStats" || k.core && k.name != "router.config.address" || k.name == "router.node" {
			return refuse(statusBadRequest, "No such entity type '%s%s'", prefix, s.kind)
		}
		attributes := make(map[string]any)
		for name, value := range s.attributes {
			attributes[name] = value
		}
		if err := k.complete(attributes); err != nil {
			return err
		}
		if k.single && seen[k.name] {
			return refuse(statusBadRequest, "Adding %s singleton %v when it already exists", k.full(), attributes)
		}
		seen[k.name] = true
		if name, ok := attributes["name"].(string); ok {
			if other, taken := names[name]; taken {
				return refuse(statusBadRequest, "adding %s %v duplicates unique attribute 'name' from existing %s %v", k.full(), attributes,
					other.kind, other.attributes)
			}
			names[name] = s
		}
		if k.name == "router" {
			mode = attributes["mode"].(string)
		}
	}
	for _, s := range sections {
		e := &entity{kind: kindOf(s.kind), attributes: s.attributes}
		if s.kind == "listener" || s.kind == "connector" {
			if err := checkRole(e, mode); err != nil {
				return err
			}
		}
		if err := checkPort(e); err != nil {
			return err
		}
	}
	return nil
}

// checkPort refuses ports that are none. skrouterd takes them, in the file as in a request, and cuts them down to 16 bits; in a
// file that a test has made, they are a mistake.
func checkPort(e *entity) *refusal {
	value := e.attributes["port"]
	if e.kind.attribute("port") == nil || value == nil || value == "amqp" || value == "amqps" {
		return nil
	}
	if port, err := strconv.Atoi(plain(value)); err != nil || port < 1 || port > 65535 {
		return refuse(statusBadRequest, "%s: the port %s is none", e.kind.full(), quoted(value))
	}
	return nil
}

// checkID refuses the ids that a router cannot have.
func checkID(sections []section) error {
	for _, s := range sections {
		if s.kind != "router" {
			continue
		}
		id, _ := s.attributes["id"].(string)
		for _, c := range id {
			if unicode.IsSpace(c) || unicode.IsControl(c) {
				return refuse(statusInternal, "AttributeError: Router id attribute containing character '%c' in id '%s' is disallowed.", c, id)
			}
		}
		if strings.ContainsAny(id, "|$") {
			return refuse(statusInternal, "Exception: Router ID %q contains at least one illegal character", id)
		}
	}
	return nil
}

// withLogs adds the modules that are logged without being named.
func withLogs(sections []section) []section {
	for i, s := range sections {
		if s.kind == "log" && s.attributes["module"] == "DEFAULT" {
			sections[i].attributes = logDefaults(s.attributes)
		}
	}
	for _, module := range modules {
		named := false
		for _, s := range sections {
			named = named || s.kind == "log" && s.attributes["module"] == module
		}
		if !named {
			attributes := map[string]any{"module": module}
			if module == "DEFAULT" {
				attributes = logDefaults(attributes)
			}
			sections = append(sections, section{"log", attributes})
		}
	}
	return sections
}

func logDefaults(attributes map[string]any) map[string]any {
	all := map[string]any{"module": "DEFAULT", "enable": "info+", "includeTimestamp": true, "includeSource": false, "outputFile": "stderr"}
	for name, value := range attributes {
		all[name] = value
	}
	return all
}

func inOrder(sections []section) []section {
	var first, middle, last []section
	pick := func(kinds []string, to *[]section) {
		for _, kind := range kinds {
			for _, s := range sections {
				if s.kind == kind {
					*to = append(*to, s)
				}
			}
		}
	}
	pick(firstKinds, &first)
	pick(lastKinds, &last)
	for _, s := range sections {
		if !contains(firstKinds, s.kind) && !contains(lastKinds, s.kind) {
			middle = append(middle, s)
		}
	}
	return append(append(first, middle...), last...)
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}
