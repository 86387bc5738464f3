package site

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitelet/sitelet/internal/diag"
)

// The types of conditions (pkg/apis/skupper/v2alpha1/types.go).
const (
	Configured  = "Configured"  // what the resource asks for is in the router's configuration
	Ready       = "Ready"       // follows from the others
	Running     = "Running"     // a Site's router runs
	Resolved    = "Resolved"    // where links are taken is known
	Matched     = "Matched"     // a Listener or Connector has its counterpart in the network
	Operational = "Operational" // a Link is up, or a MultiKeyListener has somewhere to go
	Redeemed    = "Redeemed"    // an AccessToken has brought its Link
)

// conditionOrder is that of upstream's documents.
var conditionOrder = []string{Configured, Ready, Running, Resolved, Matched, Operational, Redeemed}

// Condition is one side of a resource's state.
type Condition struct {
	Type    string
	True    bool
	Reason  string // "Ready", "Pending" or "Error"; empty stands for Ready where True, else Pending
	Message string // empty stands for OK where True, else for the reason
	Since   time.Time
}

// Failed returns a condition that is not so, for an error.
func Failed(condition, message string) Condition {
	return Condition{Type: condition, Reason: "Error", Message: message}
}

// Status is what is known of a resource while it runs. Fields that its kind has not are passed over.
type Status struct {
	// Conditions are those known; Ready is worked out, and so is Configured where it is not given: by the resource's Problems.
	Conditions []Condition
	Before     []Condition // of the document that is replaced, as OldConditions gives them; unchanged ones keep their Since
	Now        time.Time   // Since of those that changed

	UID        string     // Site: its id, which upstream keeps as metadata.uid
	Endpoints  []Endpoint // Site, RouterAccess
	Expiration time.Time  // Certificate
}

// statusRule is what a kind's status is made of: the conditions that make it Ready, and whether that is a condition of its own.
type statusRule struct {
	kind     string
	required []string
	ready    bool
}

// statusRules follow the methods of each kind in upstream's types.go and multikeylistener_types.go.
var statusRules = []statusRule{
	{"AccessToken", []string{Redeemed}, false},
	{"Certificate", []string{Configured}, true},
	{"Connector", []string{Configured, Matched}, true},
	{"Link", []string{Configured, Operational}, true},
	{"Listener", []string{Configured, Matched}, true},
	{"MultiKeyListener", []string{Configured, Operational}, false},
	{"RouterAccess", []string{Configured, Resolved}, true},
	{"Site", []string{Configured, Running}, true},
}

// WithStatus returns the document of runtime/resources/KIND-NAME.yaml as upstream's tools read it: the resource with its namespace
// and status. Of what holds secrets, or may, only what open names is in it: nobody reads the rest there.
func (r *Resource) WithStatus(s Status) []byte {
	var b bytes.Buffer
	b.Write(r.shown(s.UID))
	status := r.status(s)
	if len(status.members) > 0 {
		status.key = "status"
		status.emitMember(&b, 0)
	}
	return b.Bytes()
}

// shown returns the document without secrets, and a Site's with its id.
func (r *Resource) shown(uid string) []byte {
	keys, spec := open(r.Kind)
	if keys == nil && (r.Kind != "Site" || uid == "") {
		return r.Document
	}
	root, _, bad := chunk{data: r.Document, high: len(r.Document)}.parse()
	if bad != nil || root == nil {
		return nil
	}
	keep := func(n *node, keys []string) {
		if n != nil {
			n.members = slices.DeleteFunc(n.members, func(m *node) bool { return !slices.Contains(keys, m.key) })
		}
	}
	if keys != nil {
		keep(root, keys)
		keep(root.lookup("spec"), spec)
	} else if metadata := root.get("metadata"); metadata != nil {
		metadata.members = slices.DeleteFunc(metadata.members, func(m *node) bool { return m.key == "uid" })
		metadata.set("uid", uid)
	}
	return root.document(root.get("metadata").get("namespace").str())
}

// status makes the tree of the status.
func (r *Resource) status(s Status) *node {
	i := slices.IndexFunc(statusRules, func(rule statusRule) bool { return rule.kind == r.Kind })
	if i < 0 {
		return r.idleStatus()
	}
	rule := statusRules[i]
	conditions := r.conditions(rule, s)
	ready := readiness(conditions, r.required(rule))
	if rule.ready {
		conditions = append(conditions, ready)
	}
	if r.Kind == "Certificate" {
		conditions = slices.DeleteFunc(conditions, func(c Condition) bool { return c.Type != Ready })
	}
	settle(conditions, s)
	status := &node{kind: objectKind}
	setList(status, "conditions", conditions, func(c Condition) *node { return c.node(r.generation) })
	status.set("status", ready.Reason)
	status.set("message", ready.Message)
	r.details(status, s, conditions)
	return status
}

// idleStatus is for kinds without effect: what is to be said about them.
func (r *Resource) idleStatus() *node {
	status := &node{kind: objectKind}
	if r.Problems.HasErrors() {
		status.set("status", "Error")
		status.set("message", r.trouble())
	} else if len(r.Problems) > 0 {
		status.set("message", r.Problems[0].Message)
	}
	return status
}

// required returns the conditions that make the resource ready.
func (r *Resource) required(rule statusRule) []string {
	if access := r.linkAccess(); access == "" || access == "none" {
		return rule.required
	}
	return append(slices.Clone(rule.required), Resolved)
}

// linkAccess returns what a Site asks for and can have.
func (r *Resource) linkAccess() string {
	if r.Kind != "Site" || r.root == nil || r.root.get("spec").get("edge").flag() {
		return ""
	}
	return r.root.get("spec").get("linkAccess").str()
}

// conditions returns those given, complete, with the first of the kind as the resource's problems have it.
func (r *Resource) conditions(rule statusRule, s Status) []Condition {
	conditions := slices.DeleteFunc(slices.Clone(s.Conditions), func(c Condition) bool { return c.Type == Ready })
	first := rule.required[0]
	switch {
	case r.Problems.HasErrors():
		conditions = slices.DeleteFunc(conditions, func(c Condition) bool { return c.Type == first })
		conditions = append(conditions, Failed(first, r.trouble()))
	case first == Configured && !slices.ContainsFunc(conditions, func(c Condition) bool { return c.Type == Configured }):
		conditions = append(conditions, Condition{Type: Configured, True: true})
	}
	for i := range conditions {
		conditions[i].complete()
	}
	return conditions
}

func (c *Condition) complete() {
	if c.True {
		c.Reason, c.Message = cmp.Or(c.Reason, "Ready"), cmp.Or(c.Message, "OK")
		return
	}
	c.Reason = cmp.Or(c.Reason, "Pending")
	c.Message = cmp.Or(c.Message, c.Reason)
}

// trouble returns the errors of a resource in a sentence.
func (r *Resource) trouble() string {
	errs := slices.DeleteFunc(slices.Clone(r.Problems), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	errs.Sort()
	if len(errs) == 1 {
		return errs[0].String()
	}
	return fmt.Sprintf("%s And %d more.", errs[0].String(), len(errs)-1)
}

// readiness is upstream's readyState: the first condition that is not so, or not known, is the reason.
func readiness(conditions []Condition, required []string) Condition {
	for _, name := range required {
		i := slices.IndexFunc(conditions, func(c Condition) bool { return c.Type == name })
		switch {
		case i < 0:
			return Condition{Type: Ready, Reason: "Pending", Message: "Not " + name}
		case !conditions[i].True:
			return Condition{Type: Ready, Reason: conditions[i].Reason, Message: conditions[i].Message}
		}
	}
	return Condition{Type: Ready, True: true, Reason: "Ready", Message: "OK"}
}

// settle puts conditions into order, and gives each the time of its last change.
func settle(conditions []Condition, s Status) {
	slices.SortStableFunc(conditions, func(a, b Condition) int {
		return cmp.Or(cmp.Compare(slices.Index(conditionOrder, a.Type), slices.Index(conditionOrder, b.Type)), strings.Compare(a.Type, b.Type))
	})
	for i := range conditions {
		c := &conditions[i]
		c.Since = s.Now
		for _, old := range s.Before {
			if old.Type == c.Type && old.True == c.True && !old.Since.IsZero() {
				c.Since = old.Since
			}
		}
	}
}
