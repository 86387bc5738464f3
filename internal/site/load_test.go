package site

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/source"
)

const listenerText = "apiVersion: skupper.io/v2alpha1\nkind: Listener\nmetadata: {name: %s}\nspec: {host: h, port: %d, routingKey: k}\n"

func listener(name string, port int) string { return fmt.Sprintf(listenerText, name, port) }

func names(rs *Resources) string {
	var list []string
	for _, l := range rs.Listeners {
		list = append(list, l.Name)
	}
	return strings.Join(list, " ")
}

// unseen ends what is said of a document that is no YAML.
const unseen = " Nothing else of this document was looked at."

// TestDocuments wants the Listeners in want to be found in a file, and the findings.
func TestDocuments(t *testing.T) {
	json := strings.NewReplacer("NAME", "j").Replace(`{"apiVersion": "skupper.io/v2alpha1", "kind": "Listener",
	"metadata": {"name": "NAME"}, "spec": {"host": "h", "port": 1, "routingKey": "\u006b"}}`)
	for _, c := range []struct{ name, text, want, found string }{
		{"one", listener("a", 1), "a", ""},
		{"several", "---\n" + listener("b", 2) + "---\n" + listener("a", 1) + "...\n---\n" + listener("c", 3) + "---\n", "a b c", ""},
		{"comments", "# x\n---\n# y\n---\n\n--- # z\n" + listener("a", 1) + "# w\n", "a", ""},
		{"directive", "%YAML 1.2\n---\n" + listener("a", 1), "a", ""},
		{"byte order mark", "\ufeff" + listener("a", 1), "a", ""},
		{"CRLF", strings.ReplaceAll(listener("a", 1)+"---\n"+listener("b", 2), "\n", "\r\n"), "a b", ""},
		{"JSON", json, "j", ""},
		{"null", "null\n---\n~\n---\n", "", ""},
		{"a word", "hello", "", "f.yaml:1:1: is a string and not a resource. Write apiVersion, kind and metadata; move other files elsewhere."},
		{"list", "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n" + indent(listener("b", 2)) + indent(listener("a", 1)), "a b", ""},
		{"list of none", "apiVersion: v1\nkind: List\nitems: []\n", "", ""},
		{"list without items", "apiVersion: v1\nkind: List\n", "", "f.yaml:1:1: items: is missing. Write a list of resources."},
		{"list within a list", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n" +
			"  - {apiVersion: skupper.io/v2alpha1, kind: Listener, metadata: {name: a}, spec: {host: h, port: 1, routingKey: k}}\n", "a", ""},
		{"bad item", "apiVersion: v1\nkind: List\nitems:\n- 5\n" + indent(listener("a", 1)), "a", "f.yaml:4:3: is a whole number and not a resource. Write apiVersion, kind and metadata; move other files elsewhere."},
		{"syntax error between", listener("a", 1) + "---\nkind: [\n---\n" + listener("b", 2), "a b", "f.yaml:6:7: is not YAML: sequence end token ']' not found. Check the indentation, quotes and brackets in this line and before it." + unseen},
		{"lines of an old Macintosh", strings.ReplaceAll(listener("a", 1)+"---\n"+listener("b", 1), "\n", "\r"), "", "f.yaml:1:122: holds a second document that does not begin like one. Write --- at the start of a line of its own before it." + unseen},
		{"tab", listener("a", 1) + "---\nkind: x\nmetadata:\n\tname: x\n", "a", "f.yaml:8:1: a tab cannot indent YAML. Use blanks." + unseen},
		{"control character", listener("a", 1) + "---\nkind: \x01\n", "a", "f.yaml:6:7: holds a byte or character that no YAML may hold. Save it as UTF-8, and write control characters as escapes in double quotes." + unseen},
		{"not UTF-8", "a: \xff", "", "f.yaml:1:4: holds a byte or character that no YAML may hold. Save it as UTF-8, and write control characters as escapes in double quotes." + unseen},
		{"no blank after a colon", "kind:x\n", "", "f.yaml:1:1: is a string and not a resource. Write apiVersion, kind and metadata; move other files elsewhere."},
		{"no blank after the second colon", "kind: x\nspec:x\n", "", "f.yaml:2:1: is not YAML: non-map value is specified. Write KEY: VALUE, with a blank after the colon, or indent this line if it belongs to the one before." + unseen},
		{"indented too far", "kind: x\n  spec: x\n", "", "f.yaml:1:7: is not YAML: mapping value is not allowed in this context. Indent this line and the next one as the other keys are, and put a text that holds a colon and a blank in quotes." + unseen},
		{"unknown kind", strings.Replace(listener("a", 1), "Listener", "Listner", 1), "", `f.yaml:2:7: kind: the kind "Listner" is not known. Did you mean Listener?`},
		{"other kind", strings.Replace(listener("a", 1), "Listener", "Deployment", 1), "", `f.yaml:2:7: kind: the kind "Deployment" is not known. Move it elsewhere; the kinds here are ` + strings.Join(kindNames, ", ") + " and List."},
		{"no kind", "apiVersion: v1\nmetadata: {name: x}", "", "f.yaml:1:1: kind: is missing. " + kindHint},
		{"kind in upper case", strings.Replace(listener("a", 1), "kind", "Kind", 1), "", "f.yaml:2:1: Kind: is not a field. Did you mean kind?"},
		{"misspelt version", strings.Replace(listener("a", 1), "apiVersion", "apiVerson", 1), "", "f.yaml:1:1: apiVerson: is not a field. Did you mean apiVersion?"},
		{"no name", strings.Replace(listener("a", 1), "{name: a}", "{}", 1), "", "f.yaml:3:11: metadata: is empty. Write metadata: and name: below it."},
		{"empty name", strings.Replace(listener("a", 1), "{name: a}", "{name: ''}", 1), "", "f.yaml:3:18: metadata.name: is empty. Write a name such as f."},
		{"number as name", listener("0", 1) + "---\n" + listener("12", 1), "", "f.yaml:3:18: metadata.name: must be a string, not a whole number. Put it in quotes.\n" +
			"f.yaml:8:18: metadata.name: must be a string, not a whole number. Put it in quotes."},
		{"name that is a path", listener("../../etc/x", 1), "", `f.yaml:3:18: metadata.name: "../../etc/x" is not a name. Write letters and digits, with -, . and _ between them.`},
		{"misspelt name", strings.Replace(listener("a", 1), "{name", "{nmae", 1), "", "f.yaml:3:12: metadata.nmae: is not a field. Did you mean name?"},
		{"v1alpha1", strings.Replace(listener("a", 1), "v2alpha1", "v1alpha1", 1), "", "f.yaml:1:13: apiVersion: skupper.io/v1alpha1 is of a Skupper that is not supported. Write apiVersion: skupper.io/v2alpha1."},
		{"other version", strings.Replace(listener("a", 1), "skupper.io/v2alpha1", "v1", 1), "", `f.yaml:1:13: apiVersion: must be skupper.io/v2alpha1 for this kind, not "v1". Write apiVersion: skupper.io/v2alpha1.`},
		{"no version", strings.Replace(listener("a", 1), "apiVersion", "# apiVersion", 1), "", "f.yaml:2:1: apiVersion: is missing. Write apiVersion: skupper.io/v2alpha1."},
		{"own namespace", strings.Replace(listener("a", 1), "name: a", "name: a, namespace: ns1", 1), "a", ""},
		{"other namespace", strings.Replace(listener("a", 1), "name: a", "name: a, namespace: ns2", 1), "", `f.yaml:3:32: metadata.namespace: belongs to namespace "ns2", this directory is ns1's. Move the file, or remove the namespace.`},
		{"kubectl's metadata", strings.Replace(listener("a", 1), "name: a", "name: a, labels: {x: y}, annotations: {a: b}, creationTimestamp: null, uid: u, resourceVersion: '1', generation: 2, "+
			"managedFields: [{manager: kubectl}], ownerReferences: [], finalizers: [], selfLink: x", 1) + "status: {status: Ready, conditions: [{type: Ready}]}\n", "a", ""},
	} {
		rs := parse(c.text, Env{})
		if got := names(rs); got != c.want {
			t.Errorf("%s: listeners %q, want %q", c.name, got, c.want)
		}
		if got := findings(rs); got != c.found {
			t.Errorf("%s:\n got: %s\nwant: %s", c.name, got, c.found)
		}
		if rs.Site == nil || rs.SiteErr {
			t.Errorf("%s: the site is lost", c.name)
		}
	}
}

// indent makes a document an item of a list.
func indent(text string) string {
	return "- " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// TestBombs gives the parser what would take it minutes or all memory.
func TestBombs(t *testing.T) {
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		laughs += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), c-1)
	}
	wide := &strings.Builder{}
	for i := range 20000 {
		fmt.Fprintf(wide, "k%d: x\n", i)
	}
	for name, text := range map[string]string{
		"billion laughs": laughs + "k: *j\n",
		"self":           "a: &a [*a]\n",
		"flow":           strings.Repeat("[", 100000),
		"sequence":       strings.Repeat("- ", 100000),
		"keys":           strings.Repeat("? ", 100000),
		"tags":           "a: " + strings.Repeat("!x ", 100000),
		"wide":           wide.String(),
		"indented": func() string {
			var b strings.Builder
			for i := range 1000 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(),
		"many words": "a: [" + strings.Repeat("x,", 100000) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			rs := parse(text+"\n---\n"+listener("a", 1), Env{})
			if got := names(rs); got != "a" || !rs.Problems.HasErrors() {
				t.Errorf("listeners %q, %d findings", got, len(rs.Problems))
			}
			if n := len(rs.Findings()); n > 2*maxFindings {
				t.Errorf("%d findings", n)
			}
		})
	}
}

// TestTwice has two resources of one kind and name, in files, and a third.
func TestTwice(t *testing.T) {
	rs := Parse("ns1", []source.File{{Path: "b.yaml", Data: []byte(listener("a", 1))}, {Path: "a.yaml", Data: []byte(listener("a", 1) + "---\n" + listener("b", 2))},
		{Path: "c.yaml", Data: []byte(listener("a", 1))}}, Env{})
	want := `a.yaml:3:18: metadata.name: there is another Listener "a" in b.yaml:3:18. Remove one of them.
b.yaml:3:18: metadata.name: there is another Listener "a" in a.yaml:3:18. Remove one of them.
c.yaml:3:18: metadata.name: there is another Listener "a" in a.yaml:3:18. Remove one of them.`
	if got := findings(rs); got != want || names(rs) != "b" {
		t.Errorf("listeners %q\n%s", names(rs), got)
	}
}

// TestSiteErr tells when what runs must be left as it is.
func TestSiteErr(t *testing.T) {
	site := func(name, spec string) string {
		return "apiVersion: skupper.io/v2alpha1\nkind: Site\nmetadata: {name: " + name + "}\n" + spec + "---\n"
	}
	for _, c := range []struct {
		name, text string
		env        Env
		site, err  bool
	}{
		{"nothing", "", Env{}, false, false},
		{"no site", listener("a", 1), Env{}, false, false},
		{"site", site("a", ""), Env{}, true, false},
		{"two", site("a", "") + site("b", ""), Env{}, false, true},
		{"one twice", site("a", "") + site("a", ""), Env{}, false, true},
		{"a good one and a bad one", site("a", "") + site("B", ""), Env{}, false, true},
		{"field", site("a", "spec: {egde: true}\n"), Env{}, false, true},
		{"version", strings.Replace(site("a", ""), "v2", "v1", 1), Env{}, false, true},
		{"kind", strings.Replace(site("a", ""), "Site", "Stie", 1), Env{}, false, true},
		{"name", site("a/b", ""), Env{}, false, true},
		{"syntax", strings.Replace(site("a", ""), "}", "", 1), Env{}, false, true},
		{"syntax elsewhere", site("a", "") + "a: [", Env{}, true, false},
		{"other kind only", strings.Replace(site("a", ""), "Site", "Deployment", 1), Env{}, false, false},
		{"unread", "", Env{Unread: diag.List{{File: "x.yaml", Message: "cannot be read"}}}, false, true},
		{"not read by name", "", Env{Unread: diag.List{{File: "x.YAML", Message: "is not read", Severity: diag.Warning}}}, false, false},
	} {
		rs := Parse("ns1", []source.File{{Path: "f.yaml", Data: []byte(c.text)}}, c.env)
		if (rs.Site != nil) != c.site || rs.SiteErr != c.err {
			t.Errorf("%s: site %v, error %t", c.name, rs.Site, rs.SiteErr)
		}
	}
}

func TestQuarantine(t *testing.T) {
	rs := parse(listener("a", 1)+"---\n"+listener("b", 2), Env{})
	a := rs.Listeners[0].Resource
	d := a.At("spec.routingKey")
	d.Severity, d.Message = diag.Warning, "is odd"
	if rs.Quarantine(a, d); names(rs) != "a b" {
		t.Error("a warning left it out")
	}
	d.Severity, d.Message = diag.Error, "is bad"
	rs.Quarantine(a, d)
	if names(rs) != "b" || !a.Quarantined() || findings(rs) != "f.yaml:4:38: warning: spec.routingKey: is odd.\nf.yaml:4:38: spec.routingKey: is bad." {
		t.Errorf("left %q\n%s", names(rs), findings(rs))
	}
	if rs.Quarantine(rs.Site.Resource, diag.Diagnostic{Message: "is bad"}); rs.Site != nil || !rs.SiteErr {
		t.Error("the site is still used")
	}
}

func TestAt(t *testing.T) {
	rs := parse(resourceText("RouterAccess", "spec:\n  roles:\n  - name: edge\n  bindHost: h"), Env{})
	for field, want := range map[string]string{"spec.roles[0].name": "6:11", "spec.roles[0].port": "6:5", "spec.roles[9]": "6:3", "spec.bindHost": "7:13",
		"spec.nothing.at.all": "5:3", "metadata.name": "3:18", "": "1:1", "spec[0]": "5:3", "spec.roles[x": "6:3"} {
		d := rs.RouterAccesses[0].At(field)
		if got := fmt.Sprintf("%d:%d", d.Line, d.Column); got != want || d.File != "f.yaml" || d.Field != field {
			t.Errorf("%s: %v, want %s", field, d, want)
		}
	}
	made := Resource{Kind: "RouterAccess", Name: "made", File: "x", Line: 2, Column: 3}
	if d := made.At("spec.roles"); d.File != "x" || d.Line != 2 || d.Field != "spec.roles" {
		t.Errorf("%v", d)
	}
}

// TestSecretLines wants no finding in a line with a secret to show the line.
func TestSecretLines(t *testing.T) {
	const secret = "aHVudGVyMg=="
	for _, text := range []string{
		"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: " + secret + ", b: '!'}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata:\n  a: " + secret + "\n  a: " + secret + "\n",
		"{apiVersion: v1, kind: Secrt, metadata: {name: x}, data: {a: " + secret + "}}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {a: [" + secret + "]}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: " + secret + "\n",
		"apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {name: x}\nspec: {url: x, code: " + secret + ", ca: y}\n",
		"apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {name: x}\nspec: {url: x, ca: y, cdoe: z,\n code: " + secret + ", wibble: z}\n",
		"{apiVersion: v1, kind: List, items: [{kind: Listner, apiVersion: v1, metadata: {name: a}}, {kind: Secret, apiVersion: v1, metadata: {name: b}, data: {a: " + secret + "}}]}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: x, annotations: {kubectl.kubernetes.io/last-applied-configuration: " + secret + "}, nmae: x}\n",
		"x: &s " + secret + "\napiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: *s}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nDate: {a: " + secret + "}\n",
		"apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {name: x}\nspec: {url: x, ca: y, cdoe: " + secret + "}\n",
		"{apiVersion: v1, kind: secret, metadata: {name: x}, Data: {a: " + secret + "}}\n",
		"apiVersion: v1\nkind: secret\nmetadata: {name: x}\ndata: {a: " + secret + "\n",
		"apiVersion: v1\nmetadata: {name: x}\nData: {password: " + secret + "\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nx: \"-----BEGIN PRIVATE KEY----- " + secret + "\"\nx: 1\n",
	} {
		rs := parse(text, Env{})
		list := rs.Findings()
		if !list.HasErrors() {
			t.Errorf("no error in %s", text)
		}
		var b strings.Builder
		if err := diag.Print(&b, list, func(string) []byte { return []byte(text) }, false); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), secret) {
			t.Errorf("shown: %s", b.String())
		}
	}
	rs := parse("apiVersion: v1\nkind: Secret\nmetadata: {nmae: x}\ndata: {a: "+secret+"}\n", Env{})
	if list := rs.Findings(); list[0].Secret {
		t.Error("a line without a secret is not shown")
	}
}

// A file that is something else, such as a log, takes no longer than one that is large.
func TestMaxDocuments(t *testing.T) {
	for n, want := range map[int]int{maxDocuments: maxDocuments, maxDocuments + 1: 1, 150000: 1} {
		if list := parse(strings.Repeat("--- a\n", n), Env{}).Findings(); len(list) != want || want == 1 && !strings.Contains(list[0].Message, "documents") {
			t.Errorf("%d documents: %d findings, the first is %v", n, len(list), list[0])
		}
	}
}

func TestMaxFindings(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "  x%d: 1\n", i)
	}
	rs := parse(resourceText("Listener", "spec:\n"+b.String()), Env{})
	list := rs.Findings()
	if len(list) != maxFindings+1 || !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return strings.HasSuffix(d.Message, "more findings are left out") }) {
		t.Errorf("%d findings", len(list))
	}
}
