package unit

import (
	"errors"
	"fmt"
	"strings"
)

// Command is one command of an Exec key (ExecStart= and the like).
type Command struct {
	Prefix string   // the characters -@:+! that stood before the path
	Path   string   // the program, as written
	Argv   []string // its arguments, from the name that it is given on
}

var execWords = splitting{unescape: true}

// Commands reads the value of an Exec key: words, specifiers (%), then variables ($), as systemd.service(5) says.
// env returns a variable's value, specifier what a letter after % stands for; for both, ok is false if it is unknown.
// It returns an error, with the commands before it, where systemd would refuse the unit or drop the rest of the line.
func Commands(line string, env func(name string) (value string, ok bool), specifier func(letter byte) (value string, ok bool)) ([]Command, error) {
	var commands []Command
	for rest := line; ; {
		first, tail, ok, err := nextExecWord(rest)
		if err != nil || !ok {
			return commands, err
		}
		rest = tail
		if first == ";" {
			continue
		}
		var c Command
		c.Prefix, c.Path = cutPrefix(first)
		if c.Path, err = expandSpecifiers(c.Path, specifier); err != nil {
			return commands, err
		}
		if !validPath(c.Path) {
			return commands, fmt.Errorf("%q is neither a program's name nor its absolute path", c.Path)
		}
		words, tail, more, err := arguments(rest, specifier)
		if err != nil {
			return commands, err
		}
		if !strings.Contains(c.Prefix, "@") {
			words = append([]string{c.Path}, words...)
		}
		if len(words) == 0 {
			return commands, errors.New("the prefix @ needs the name that the program is given after its path")
		}
		c.Argv = words
		if !strings.Contains(c.Prefix, ":") {
			c.Argv = expandVariables(words, env)
		}
		commands = append(commands, c)
		if !more {
			return commands, nil
		}
		rest = tail
	}
}

// arguments returns the words of text up to a lone semicolon, with their specifiers expanded, and what follows it.
// more is false when there was none.
func arguments(text string, specifier func(byte) (string, bool)) (words []string, rest string, more bool, err error) {
	for {
		// Only a bare ; separates and only a bare \; stands for one: quoted, both are ordinary words.
		if tail, found := cutBare(text, ";"); found {
			return words, tail, true, nil
		}
		if tail, found := cutBare(text, `\;`); found {
			words, text = append(words, ";"), tail
			continue
		}
		word, tail, ok, err := nextExecWord(text)
		if err != nil || !ok {
			return words, "", false, err
		}
		if word, err = expandSpecifiers(word, specifier); err != nil {
			return nil, "", false, err
		}
		words, text = append(words, word), tail
	}
}

// cutBare removes word from the start of text if blanks or the end follow it.
func cutBare(text, word string) (rest string, found bool) {
	rest, found = strings.CutPrefix(text, word)
	if !found || rest != "" && strings.IndexByte(blanks, rest[0]) < 0 {
		return text, false
	}
	return strings.TrimLeft(rest, blanks), true
}

// nextExecWord keeps a backslash that starts no escape if the word cannot be read otherwise, as systemd does with a warning.
func nextExecWord(text string) (word, rest string, ok bool, err error) {
	word, rest, ok, err = execWords.next(text)
	if err != nil {
		return splitting{unescape: true, keepUnknown: true}.next(text)
	}
	return word, rest, ok, nil
}

// cutPrefix splits off the special characters before a program's path: each at most once, but !! is one of its own,
// and + goes with neither.
func cutPrefix(word string) (prefix, path string) {
	for i := 0; i < len(word); i++ {
		prefix := word[:i]
		privileges := strings.Count(prefix, "!") + 2*strings.Count(prefix, "+")
		switch c := word[i]; {
		case strings.IndexByte("-@:", c) >= 0 && strings.IndexByte(prefix, c) < 0:
		case c == '+' && privileges == 0:
		case c == '!' && privileges < 2:
		default:
			return prefix, word[i:]
		}
	}
	return word, ""
}

func validPath(path string) bool {
	if path == "" || path == "." || path == ".." || strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") || strings.HasSuffix(path, "/..") {
		return false
	}
	return isSafe(path) && (path[0] == '/' || !strings.Contains(path, "/"))
}
