package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/machine"
)

// page is a document of the project whose files and commands a machine takes as they come. A block of a file is saved under the
// path that the paragraph before it names first. The lines of a block of sh are run one by one, and so is each command in a table;
// what has a comment that begins with "fails" has to fail.
type page struct {
	path     string
	machine  func(*testing.T) *machine.T
	words    []string // what its tables leave open, such as NAME, each followed by what stands for it here
	sections []section
}

// section is what a section of a document takes for granted, and what it has to come to.
type section struct {
	title         string // of its heading; the whole document's if empty
	before, after func(*testing.T, *machine.T)
}

// rule says of lines that begin in a certain way why they are not run, or may have another exit status than 0.
type rule struct {
	begin  string
	status int // what they may have beside 0; they are not run if it is 0
	why    string
}

// patience is beyond what anything takes that a document leads to.
const patience = 2 * time.Minute

// part is a heading, a file or a command of a document.
type part struct {
	line    int
	heading string
	path    string // of a file whose content is text
	text    string // of a file or a command
	fails   bool   // a command that has a comment that says so
	span    bool   // a command between backquotes
}

// play puts a machine through a document.
func (p page) play(t *testing.T) {
	parts, err := partsOf(readFile(t, p.path))
	if err != nil {
		t.Fatalf("%s:%v", p.path, err)
	}
	for _, s := range p.sections {
		if s.title != "" && !slices.ContainsFunc(parts, func(part part) bool { return part.heading == s.title }) {
			t.Fatalf("%s has no section %q", p.path, s.title)
		}
	}
	m := p.machine(t)
	all, now := p.section(""), section{}
	all.begin(t, m)
	for _, part := range parts {
		switch {
		case part.heading != "":
			now.end(t, m)
			now = p.section(part.heading)
			now.begin(t, m)
		case part.path != "":
			m.WriteFile(part.path, part.text, 0o644)
		default:
			command := part.text
			if part.span {
				command = strings.NewReplacer(p.words...).Replace(command)
			}
			err := run(m, command)
			switch {
			case part.fails && err == nil:
				t.Fatalf("%s:%d: %s does not fail", p.path, part.line, part.text)
			case !part.fails && err != nil:
				t.Fatalf("%s:%d: %v", p.path, part.line, err)
			}
		}
	}
	now.end(t, m)
	all.end(t, m)
}

// section returns that of a title.
func (p page) section(title string) section {
	for _, s := range p.sections {
		if s.title == title {
			return s
		}
	}
	return section{}
}

func (s section) begin(t *testing.T, m *machine.T) {
	if s.before != nil {
		s.before(t, m)
	}
}

func (s section) end(t *testing.T, m *machine.T) {
	if s.after != nil {
		s.after(t, m)
	}
}

// run runs a command where it is meant to run: one with --user as a user, and otherwise as root.
func run(m *machine.T, command string) error {
	who, args := m, strings.Fields(command)
	switch {
	case args[0] == "make":
		return hasTargets(args[1:])
	case args[0] == "man":
		_, err := os.Stat(filepath.Join("../..", args[1]))
		return err
	case strings.Contains(command, " --user"):
		who = m.As("alice")
	}
	var within time.Duration
	if args[0] == "curl" {
		within = patience // a router takes a moment to find out who serves what
	}
	allowed := 0
	for _, r := range rules {
		switch {
		case !strings.HasPrefix(command, r.begin):
		case r.status == 0:
			return nil
		default:
			allowed = r.status
		}
	}
	return machine.Eventually(within, func() error {
		out, err := who.Exec("sh", "-ec", "cd; "+command)
		var exit *exec.ExitError
		if err == nil || errors.As(err, &exit) && exit.ExitCode() == allowed {
			return nil
		}
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	})
}

// hasTargets looks whether make knows what it is called with: what that does is what these tests are a part of or stand on.
func hasTargets(args []string) error {
	cmd := exec.Command("make", append([]string{"--dry-run"}, args...)...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

var (
	fence   = regexp.MustCompile("^```(.*)$")
	heading = regexp.MustCompile(`^#+ (.*)$`)
	span    = regexp.MustCompile("`([^`]+)`")
	isPath  = regexp.MustCompile(`^/\S+\.\w+$`)
	inTable = regexp.MustCompile(`^(sitelet|systemctl|journalctl|loginctl|podman|make|man|ss|chown|chmod) `)
	inProse = regexp.MustCompile(`^(make|man) `)
)

// partsOf reads Markdown.
func partsOf(text string) ([]part, error) {
	var parts []part
	var block []string
	var begin int              // line of the fence, 0 outside of blocks
	var language string        // of the block
	var paragraph, path string // the last one before a block, and what it names
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		number := i + 1
		match := fence.FindStringSubmatch(line)
		switch {
		case match != nil && begin == 0:
			begin, language, block = number, match[1], nil
			path = pathIn(paragraph)
		case match != nil:
			more, err := partsOfBlock(language, path, begin, block)
			if err != nil {
				return nil, fmt.Errorf("%d: %w", begin, err)
			}
			parts, begin, paragraph = append(parts, more...), 0, ""
		case begin != 0:
			block = append(block, line)
		case heading.MatchString(line):
			parts = append(parts, part{line: number, heading: heading.FindStringSubmatch(line)[1]})
			paragraph = ""
		case strings.HasPrefix(line, "|"):
			parts = append(parts, commandsIn(line, number, inTable)...)
		default:
			if line != "" && i > 0 && lines[i-1] == "" {
				paragraph = ""
			}
			paragraph += line + "\n"
			parts = append(parts, commandsIn(line, number, inProse)...)
		}
	}
	if begin != 0 {
		return nil, fmt.Errorf("%d: this block does not end", begin)
	}
	return parts, nil
}

// partsOfBlock returns the file or the commands that a block is.
func partsOfBlock(language, path string, line int, block []string) ([]part, error) {
	switch language {
	case "text": // a picture, or what a program prints
		return nil, nil
	case "json", "yaml", "toml", "ini":
		if path == "" {
			return nil, errors.New("the paragraph before this block does not say where to save it")
		}
		return []part{{line: line, path: path, text: strings.Join(block, "\n") + "\n"}}, nil
	case "sh":
		var parts []part
		for i, command := range block {
			command, comment, _ := strings.Cut(command, " #")
			if command = strings.TrimSpace(command); command != "" && command[0] != '#' {
				parts = append(parts, part{line: line + 1 + i, text: command, fails: strings.HasPrefix(comment, " fails")})
			}
		}
		return parts, nil
	}
	return nil, fmt.Errorf("nothing plays blocks of %q", language)
}

// pathIn returns the first path of a file in a paragraph.
func pathIn(paragraph string) string {
	for _, s := range span.FindAllStringSubmatch(paragraph, -1) {
		if isPath.MatchString(s[1]) {
			return s[1]
		}
	}
	return ""
}

// commandsIn returns what a line has between backquotes of a certain form.
func commandsIn(line string, number int, form *regexp.Regexp) []part {
	var parts []part
	for _, s := range span.FindAllStringSubmatch(line, -1) {
		if form.MatchString(s[1]) {
			parts = append(parts, part{line: number, text: s[1], span: true})
		}
	}
	return parts
}

func TestPartsOf(t *testing.T) {
	const text = "# Title\n\nSave this as `name` in `/etc/a.json`, not `/etc/b.json`:\n\n```json\n{\n}\n```\n\nRun `make x`.\n\n```sh\n# now\na `b`  # c\n\nd # fails\n```\n" +
		"\n| `sitelet plan` or `other` | `x` |\n\n```text\n=\n```\n"
	want := []part{{line: 1, heading: "Title"}, {line: 5, path: "/etc/a.json", text: "{\n}\n"}, {line: 10, text: "make x", span: true}, {line: 14, text: "a `b`"},
		{line: 16, text: "d", fails: true}, {line: 19, text: "sitelet plan", span: true}}
	got, err := partsOf(text)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	for _, bad := range []string{"`/etc/a.json`:\n\nThen:\n\n```json\n{}\n```\n", "```perl\n```\n", "```sh\na\n"} {
		if got, err := partsOf(bad); err == nil {
			t.Errorf("%q makes %+v", bad, got)
		}
	}
}
