package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sitelet/sitelet/hooks"
)

// progress prints lines, and below the last one, at a terminal, what is being done and for how long.
type progress struct {
	out   io.Writer
	width int // columns of the terminal; 0 where there is none: then only lines are printed
	now   func() time.Time

	mutex sync.Mutex
	doing []*doing
	shown bool // the present last line is to be replaced
}

// doing is one thing that takes a while.
type doing struct {
	what  string
	since time.Time
}

// startProgress returns the progress of a command and what ends it.
func startProgress(out io.Writer) (p *progress, stop func()) {
	p = &progress{out: out, width: width(out), now: time.Now}
	if p.width == 0 {
		return p, func() {}
	}
	ticker, done := time.NewTicker(time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				p.tick()
			case <-done:
				return
			}
		}
	}()
	return p, func() {
		ticker.Stop()
		close(done)
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.erase()
	}
}

// busy shows at a terminal that a command is doing something, until end is called.
func (c *cli) busy(what string) (end func()) {
	p, stop := startProgress(c.err)
	p.begin(what)
	return stop
}

// follow shows at a terminal what hooks are doing, until stop is called.
func (c *cli) follow(h *hooks.Hooks) (p *progress, stop func()) {
	p, stop = startProgress(c.err)
	h.Doing = p.begin
	h.Log = func(format string, args ...any) { p.print(c.err, format+"\n", args...) }
	return p, stop
}

// begin shows that something is being done, until end is called.
func (p *progress) begin(what string) (end func()) {
	d := &doing{what, p.now()}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.doing = append(p.doing, d)
	return func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.doing = slices.DeleteFunc(p.doing, func(other *doing) bool { return other == d })
	}
}

// print prints lines to w, which may be the same terminal.
func (p *progress) print(w io.Writer, format string, args ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.erase()
	fmt.Fprint(w, harmless(format, args...))
}

// tick shows what is being done now. What takes less than a second is not worth a look.
func (p *progress) tick() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.erase()
	var all []string
	for _, d := range p.doing {
		if s := int(p.now().Sub(d.since).Seconds()); s > 0 {
			all = append(all, fmt.Sprintf("%s (%d s)", d.what, s))
		}
	}
	if len(all) == 0 {
		return
	}
	p.shown = true
	line := strings.Join(all, ", ")
	// One that is wrapped could not be erased.
	fmt.Fprint(p.out, line[:min(len(line), p.width-1)])
}

// erase removes the last line (CR and EL of ECMA-48).
func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}

// width is that of the terminal that w is, in columns; 0 if it is none, or one that cannot move its cursor.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
