package main

import (
	"fmt"
	"io"
	"time"

	"github.com/sitelet/sitelet/hooks"
	"github.com/sitelet/sitelet/internal/diag"
)

// details prints what is known of something, a line for each thing that is.
type details struct {
	out     io.Writer
	colours bool
}

func (d details) line(label, value string, colour sgr) {
	if value == "" {
		return
	}
	value = diag.Harmless(value)
	if d.colours {
		value = colour.paint(value)
	}
	fmt.Fprintf(d.out, "%-12s %s\n", label, value)
}

// log prints lines of a program's output, which may hold anything.
func (d details) log(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(d.out, "  | %q\n", line)
	}
}

func (d details) workload(w hooks.WorkloadStatus) {
	s := form(w)
	d.line("kind:", s.Kind, "")
	d.line("name:", s.Name, "")
	d.line("state:", stateInWords(s.State, w), stateColour(s.State))
	d.line("health:", s.Health, healthColour(s.Health))
	d.line("unit:", s.Workload+".service", "")
	d.line("container:", s.Container, "")
	d.line("platform:", s.Platform, "")
	d.line("image:", s.Image, "")
	d.line("generation:", short(s.Generation), "")
	d.line("made:", ago(s.Created), "")
	d.line("file:", s.Source, "")
	if s.Since != nil {
		d.line("last change:", ago(s.Since)+" "+s.Result, "")
	}
	d.line("pending:", string(s.Pending), "")
	for i, reason := range s.reasons {
		label := "why:"
		if i > 0 {
			label = ""
		}
		d.line(label, reason, "")
	}
	if r := s.Refused; r != nil {
		d.line("refused:", short(r.Generation)+", "+ago(&r.At)+": "+r.Reason, "")
		d.log(r.Log)
	}
	if f := s.Failed; f != nil {
		d.line("failed:", f.Reason, red)
		d.log(f.Log)
		if len(f.Journal) > 0 {
			d.line("journal:", "of "+s.Workload+".service", "")
		}
		d.log(f.Journal)
	}
}

// stateInWords is a state with what systemd calls it, if that is something else, and how long it has lasted.
func stateInWords(state string, w hooks.WorkloadStatus) string {
	if w.State != "" && w.State != state {
		state += " and " + w.State
	}
	if w.Since.IsZero() {
		return state
	}
	return state + " for " + lasted(time.Since(w.Since))
}
