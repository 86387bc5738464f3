// Package docs tests what the documents say against the code.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/descriptor"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

func TestDescriptorsAreValid(t *testing.T) {
	pages, err := filepath.Glob("../man/*.5")
	if err != nil {
		t.Fatal(err)
	}
	markdown, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, page := range append(append(pages, markdown...), "../README.md") {
		text := read(t, page)
		for _, block := range regexp.MustCompile("(?s)(?:```json\n|\\.Bd -literal -offset indent\n)(\\{.*?)(?:```|\\.Ed)").FindAllStringSubmatch(text, -1) {
			examples++
			if _, found := descriptor.Parse(descriptor.File{Path: page, Data: []byte(block[1])}); len(found) > 0 {
				t.Errorf("%s: %v in\n%s", page, found, block[1])
			}
		}
	}
	if examples < 2 {
		t.Errorf("found %d examples, want that of README.md and that of sitelet-container.5 at least", examples)
	}
}

// Of each page, the resources are one site's, or part of one.
func TestResourcesAreValid(t *testing.T) {
	for _, page := range []string{"sites.md", "../README.md", "../man/sitelet-site.5"} {
		blocks := regexp.MustCompile("(?s)(?:```yaml\n|\\.Bd -literal -offset indent\n)(apiVersion.*?)(?:```|\\.Ed)").FindAllStringSubmatch(read(t, page), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no example", page)
		}
		for _, block := range blocks {
			r := site.Parse("east", []source.File{{Path: page, Data: []byte(block[1])}}, site.Env{})
			r.CheckPorts(nil)
			if found := r.Findings(); len(found) > 0 {
				t.Errorf("%s: %v in\n%s", page, found, block[1])
			}
		}
	}
}

// Every field that a resource may have, and every kind, is in the manual; those without effect have a star.
func TestManualHasEveryField(t *testing.T) {
	manual := read(t, "../man/sitelet-site.5")
	kinds := read(t, "../internal/site/kinds.go")
	_, shapes, _ := strings.Cut(kinds, "siteShape = shape{")
	fields := regexp.MustCompile(`\{name: "(\w+)".*\}`).FindAllStringSubmatch(shapes, -1)
	if len(fields) < 50 {
		t.Fatalf("found only %d fields", len(fields))
	}
	for _, field := range fields {
		entry := regexp.MustCompile(`(?m)^\..*\bIc (?:.*[ .])?` + field[1] + `\b`)
		if strings.Contains(field[0], "idle: true") {
			entry = regexp.MustCompile(`(?m)^\.It .*\b` + field[1] + ` Ns \*`)
		}
		if !entry.MatchString(manual) {
			t.Errorf("sitelet-site.5 has no entry for %s", field[0])
		}
	}
	for _, kind := range regexp.MustCompile(`(?m)^\t\{"(\w+)", \w+Version`).FindAllStringSubmatch(kinds, -1) {
		if !regexp.MustCompile(`(?m)^\.(?:Ss|Ic) .*\b` + kind[1] + `\b`).MatchString(manual) {
			t.Errorf("sitelet-site.5 has no section for %s", kind[1])
		}
	}
}

// Every key of the schema has an entry in the manual, by itself or with the objects around it.
func TestManualHasEveryKey(t *testing.T) {
	manual := read(t, "../man/sitelet-container.5")
	var entries []string
	for line := range strings.Lines(manual) {
		if strings.HasPrefix(line, ".It Ic ") || strings.HasPrefix(line, ".Ic ") {
			entries = append(entries, strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '.' || r == '\n' })...)
		}
	}
	keys := schemaKeys(t)
	if len(keys) < 60 {
		t.Fatalf("found only %d keys in the schema", len(keys))
	}
	for _, key := range keys {
		if !slices.Contains(entries, key) {
			t.Errorf("sitelet-container.5 has no entry for %s", key)
		}
	}
}

// schemaKeys reads the names of keys out of the schema's source, where they stand first or as name.
func schemaKeys(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/descriptor/schema.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	ast.Inspect(file, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok || list.Type != nil || len(list.Elts) == 0 {
			return true
		}
		first := list.Elts[0]
		if pair, ok := first.(*ast.KeyValueExpr); ok {
			first = pair.Value
		}
		if name, ok := first.(*ast.BasicLit); ok {
			key, err := strconv.Unquote(name.Value)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		return true
	})
	return keys
}

func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../CHANGELOG.md") {
		for _, link := range regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]+))?\)`).FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if link[2] != "" && !slices.Contains(anchors(t, target), link[2]) {
				t.Errorf("%s: %s has no section %s", page, target, link[2])
			}
		}
	}
}

// anchors returns what links to the sections of a page end in, as GitHub has it.
func anchors(t *testing.T, page string) []string {
	t.Helper()
	var all []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(read(t, page), -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

func TestReadmeLeadsToEveryDocument(t *testing.T) {
	readme := read(t, "../README.md")
	for _, pattern := range []string{"../docs/*.md", "../man/*.[1-8]"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			if !strings.Contains(readme, "]("+strings.TrimPrefix(path, "../")+")") {
				t.Errorf("README.md has no link to %s", path)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
