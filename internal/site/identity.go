package site

import (
	"path"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/spelling"
)

var kindHint = "Write kind: and one of " + oneOf(kindNames) + "."

// identify finds out which resource r is, holds it against the shape of its kind, and fills in all but Problems that come later.
// Kind or Name stay empty where they cannot be told.
func (r *Resource) identify(namespace string) {
	root := r.root
	root.faults()
	if root.lookup("kind") == nil {
		root.misspelt("kind")
	}
	kind := root.require("kind", kindHint)
	if kind != nil {
		kind.expectWord()
	}
	rule := findKind(kind.str())
	if rule == nil {
		r.readName()
		r.unknownKind(kind, namespace)
		return
	}
	r.Kind = rule.name
	if root.lookup("apiVersion") == nil {
		root.misspelt("apiVersion")
	}
	r.checkVersion(rule.version)
	if rule.shape != nil {
		root.conform(rule.shape)
	} else {
		kind.warn(rule.name+" has no effect outside Kubernetes", idleHint)
		if metadata := root.get("metadata"); metadata != nil {
			metadata.conformTo(&field{form: objectForm, of: &metadataShape})
		}
	}
	if r.readName(); r.Name != "" {
		r.checkName(rule)
		r.checkNamespace(namespace)
		r.generation, _ = strconv.ParseInt(root.get("metadata").get("generation").number(), 10, 64)
		r.Document = root.document(namespace)
	}
}

// unknownKind reports a kind that is none of ours. It still names a resource if it looks like a kind.
func (r *Resource) unknownKind(kind *node, namespace string) {
	if kind == nil || kind.bad {
		return
	}
	hint := "Move it elsewhere; the kinds here are " + strings.Join(kindNames, ", ") + " and List."
	if meant, ok := spelling.Nearest(kind.text, kindNames); ok {
		hint = "Did you mean " + meant + "?"
	}
	kind.fail("the kind "+quote(kind.text)+" is not known", hint)
	if label(kind.text) && len(kind.text) <= maxName && !strings.Contains(kind.text, "-") {
		r.Kind, r.Document = kind.text, r.root.document(namespace)
	}
}

// checkVersion wants version as apiVersion.
func (r *Resource) checkVersion(version string) {
	hint := "Write apiVersion: " + version + "."
	got := r.root.require("apiVersion", hint)
	switch {
	case got == nil || got.kind == textKind && got.text == version:
	case got.str() == "skupper.io/v1alpha1":
		got.fail("skupper.io/v1alpha1 is of a Skupper that is not supported", hint)
	default:
		got.fail("must be "+version+" for this kind, not "+quote(got.text), hint)
	}
}

// readName fills in the name if it can be told and can be that of a file.
func (r *Resource) readName() {
	metadata := r.root.require("metadata", "Write metadata: and name: below it.")
	if metadata == nil || !metadata.expect(metadata.kind == objectKind, "an object") {
		return
	}
	name := metadata.get("name")
	if name.empty() {
		metadata.require("name", "Write a name such as "+r.suggestName()+".")
		return
	}
	name.expectWord()
	if name.bad {
		return
	}
	if p := fileProblem(name.text); p.message != "" {
		name.fail(p.message, p.hint)
		return
	}
	r.Name = name.text
	r.Line, r.Column = position(r.root.home.chunk.data, name.at)
}

// suggestName proposes the name of the file.
func (r *Resource) suggestName() string {
	name := strings.ToLower(path.Base(r.File))
	name = strings.TrimSuffix(name, path.Ext(name))
	if labelProblem(name).message != "" {
		return "my-site"
	}
	return name
}

func (r *Resource) checkName(rule *kindRule) {
	if rule.label {
		r.root.get("metadata").get("name").check(labelProblem)
	}
}

// checkNamespace refuses a resource that is for another namespace than its directory.
func (r *Resource) checkNamespace(namespace string) {
	if n := r.root.get("metadata").get("namespace"); n.str() != "" && n.str() != namespace {
		n.fail("belongs to namespace "+quote(n.str())+", this directory is "+namespace+"'s", "Move the file, or remove the namespace.")
	}
}

// spec returns what describes the resource, and reports that it is missing.
func (r *Resource) spec(hint string) *node {
	spec := r.root.lookup("spec")
	if spec == nil || spec.kind == nullKind && !spec.bad {
		r.root.missing("spec", hint)
	}
	if !spec.usable() {
		// What is missing in it is no news.
		return &node{bad: true, kind: objectKind, home: &home{chunk: r.root.home.chunk, resource: &Resource{}}}
	}
	return spec
}

// At returns a finding about a field of the resource, such as spec.roles[0].port, with the place of the field, or of the innermost
// object around it that there is; message and hint are to be filled in.
func (r *Resource) At(field string) diag.Diagnostic {
	d := diag.Diagnostic{File: r.File, Line: r.Line, Column: r.Column}
	if r.root != nil {
		n := r.root.find(field)
		d = r.root.home.place(n.at)
	}
	d.Field = field
	return d
}

// number returns a number as it is written.
func (n *node) number() string {
	if n == nil || n.kind != integerKind {
		return ""
	}
	return n.text
}
