package main

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{out: &out, width: 30, now: func() time.Time { return now }}
	expect := func(what, want string) {
		t.Helper()
		if out.String() != want {
			t.Errorf("%s: got %q, want %q", what, out.String(), want)
		}
		out.Reset()
	}
	web := p.begin("web: pulling")
	p.tick()
	expect("what has just begun", "")
	now = now.Add(2 * time.Second)
	p.tick()
	expect("after 2 s", "web: pulling (2 s)")
	db := p.begin("db: on trial")
	now = now.Add(time.Second)
	p.tick()
	expect("two, in 30 columns", "\r\x1b[Kweb: pulling (3 s), db: on tr")
	p.print(&out, "a %s\n", "line")
	expect("a line", "\r\x1b[Ka line\n")
	web()
	p.tick()
	expect("when the first has ended", "db: on trial (1 s)")
	db()
	p.tick()
	expect("when nothing is being done", "\r\x1b[K")
}

// Where there is no terminal, nothing but lines is printed.
func TestNoProgress(t *testing.T) {
	var out bytes.Buffer
	p, stop := startProgress(&out)
	p.begin("web: pulling")
	p.print(&out, "a %s\n", "line")
	p.print(&out, "podman: %v\n", errors.New("no such image\n\x1b]0;title\a\rregistry"))
	stop()
	if out.String() != "a line\npodman: no such image\n\\x1b]0;title\\a\\rregistry\n" {
		t.Errorf("got %q", out.String())
	}
}
