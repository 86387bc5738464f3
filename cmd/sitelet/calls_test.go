package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// call is how sitelet is called somewhere in a document.
type call struct {
	place string
	words []string
}

var (
	inText   = regexp.MustCompile("`sitelet ([^`]+)`")
	inBlock  = regexp.MustCompile(`^sitelet (.+)`)
	inManual = regexp.MustCompile(`^(?:\.Ql|(?:\.Dl )?[#$]) sitelet (.+)`)
	// callEnd is where another command, a comment or punctuation begins.
	callEnd = regexp.MustCompile(` ?(?:[>|;#]| [.,:)]$).*`)
	// open marks what a line of usage leaves out or open.
	open = strings.NewReplacer("[", "", "]", "", "...", "")
)

// calls returns all of them, in the documents, in the manual pages and in the examples of the help.
func calls(t *testing.T) []call {
	t.Helper()
	var found []call
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../man/*.[1-8]"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			form := inManual
			if filepath.Ext(path) == ".md" {
				form = inText
			}
			found = append(found, callsIn(path, read(t, path), form)...)
		}
	}
	for _, cmd := range documented() {
		example := regexp.MustCompile(`(?m)^ +`).ReplaceAllString(cmd.Example, "")
		found = append(found, callsIn("the help of "+called(cmd), example, inBlock)...)
	}
	return found
}

// callsIn finds calls of a form, and others in blocks of Markdown.
func callsIn(path, text string, form *regexp.Regexp) []call {
	var found []call
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```sh"):
			form = inBlock
		case strings.HasPrefix(line, "```"):
			form = inText
		}
		for _, match := range form.FindAllStringSubmatch(line, -1) {
			words := strings.Fields(open.Replace(callEnd.ReplaceAllString(match[1], "")))
			found = append(found, call{fmt.Sprintf("%s:%d", path, i+1), words})
		}
	}
	return found
}

// Whatever documents say of calling sitelet is a command with options that it has, and arguments, where there are some, that it takes.
func TestDocumentsCallWhatThereIs(t *testing.T) {
	all := calls(t)
	if len(all) < 100 {
		t.Errorf("only %d calls were found", len(all))
	}
	for _, call := range all {
		if err := takes(call.words); err != nil {
			t.Errorf("%s: sitelet %s: %v", call.place, strings.Join(call.words, " "), err)
		}
	}
}

// takes says what is wrong with a call.
func takes(words []string) error {
	cmd, rest, err := (&cli{out: io.Discard, err: io.Discard}).root().Find(words)
	switch {
	case err != nil:
		return err
	case cmd.HasSubCommands() && len(rest) > 0:
		return noSuchCommand(cmd, rest[0])
	case len(rest) == 0: // it is only named
		return nil
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func TestTakes(t *testing.T) {
	for _, good := range []string{"check", "check web.json", "plan -o json", "reload --pull=newer", "site remove", "site remove east --purge", "--user check"} {
		if err := takes(strings.Fields(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"chekc", "plan web db", "plan --json", "reload --pull=always", "site delete east", "stop --force", "status -o xml"} {
		if err := takes(strings.Fields(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
