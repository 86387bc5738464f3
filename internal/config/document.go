package config

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/sitelet/sitelet/internal/diag"
)

// document is a file that was parsed, but not yet understood.
type document struct {
	file File
	meta toml.MetaData
	root map[string]toml.Primitive
}

// add sets what file sets.
func (c *Config) add(file File) diag.List {
	d := document{file: file}
	var err error
	if d.meta, err = toml.Decode(string(file.Data), &d.root); err != nil {
		return diag.List{d.syntax(err)}
	}
	var found diag.List
	var done []string // keys that are dealt with, and all below them
	for _, key := range d.meta.Keys() {
		name := key.String()
		if slices.ContainsFunc(done, func(d string) bool { return name == d || isBelow(name, d) }) {
			continue
		}
		if i := slices.IndexFunc(settings, func(s setting) bool { return s.key == name }); i >= 0 {
			done = append(done, name)
			bad := settings[i].set(c, d.value(key))
			if name == "mode" && bad == nil {
				c.ModeFrom = file.Path
			}
			found = append(found, d.at(key, bad...)...)
		} else if bad := d.table(key); bad != nil {
			done = append(done, name)
			found = append(found, d.at(key, *bad)...)
		}
	}
	return found
}

// table says what is wrong with a key that is no setting; nil if it is a table that holds settings.
func (d *document) table(key toml.Key) *diag.Diagnostic {
	if !slices.ContainsFunc(settings, func(s setting) bool { return isBelow(s.key, key.String()) }) {
		bad := diag.Diagnostic{Message: "is no key of this file", Hint: "See sitelet.toml(5) for the keys that there are."}
		if near, ok := meant(key.String()); ok {
			bad.Hint = "Did you mean " + near + "?"
		}
		return &bad
	}
	if d.meta.Type(key...) != "Hash" {
		return &diag.Diagnostic{Message: "is no table", Hint: "Write [" + key.String() + "] on a line of its own, and its keys below."}
	}
	return nil
}

// isBelow tells whether key lies in the table of that name, at any depth.
func isBelow(key, table string) bool {
	return strings.HasPrefix(key, table+".")
}

// value returns what a key is set to.
func (d *document) value(key toml.Key) any {
	var value any
	d.meta.PrimitiveDecode(d.primitive(key), &value) // cannot fail: an any takes everything
	return value
}

func (d *document) primitive(key toml.Key) toml.Primitive {
	table := d.root
	for _, name := range key[:len(key)-1] {
		var inner map[string]toml.Primitive
		d.meta.PrimitiveDecode(table[name], &inner) // cannot fail: add has refused what is no table
		table = inner
	}
	return table[key[len(key)-1]]
}

// at completes findings about a key with its place.
func (d *document) at(key toml.Key, found ...diag.Diagnostic) diag.List {
	line, column := d.position(key)
	for i := range found {
		found[i].File, found[i].Line, found[i].Column = d.file.Path, line, column
		found[i].Field = key.String() + found[i].Field
	}
	return found
}

// position returns where a key stands. Package toml tells the position of its value, and that only in an error.
func (d *document) position(key toml.Key) (line, column int) {
	var at toml.ParseError
	errors.As(d.meta.PrimitiveDecode(d.primitive(key), refusal{}), &at)
	line, before := d.line(at.Position.Start)
	return line, 1 + max(bytes.LastIndex(before, []byte(key[len(key)-1])), indent(before))
}

// line returns the number, from 1, of the line that an offset lies in, and the part of that line before it.
func (d *document) line(offset int) (number int, before []byte) {
	data := d.file.Data[:max(0, min(offset, len(d.file.Data)))] // package toml also gives -1
	return 1 + bytes.Count(data, []byte("\n")), data[bytes.LastIndexByte(data, '\n')+1:]
}

// refusal is a type that no value fits.
type refusal struct{}

func (refusal) UnmarshalTOML(any) error { return errors.New("refused") }

func indent(line []byte) int {
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}

// syntax turns an error of package toml into a finding.
func (d *document) syntax(err error) diag.Diagnostic {
	found := diag.Diagnostic{File: d.file.Path, Message: err.Error(), Hint: "The file is left out until it is valid TOML (https://toml.io)."}
	var at toml.ParseError
	if errors.As(err, &at) {
		// Its own column is wrong at the start of a line.
		line, before := d.line(at.Position.Start)
		found.Line, found.Column, found.Message = line, 1+len(before), strings.TrimSuffix(at.Message, ".")
	}
	return found
}
