package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/plan"
)

// statusTable is the table of workloads; it prints its heading first.
type statusTable struct {
	table
	wide    bool
	colours bool
	begun   bool
}

func (c *cli) statusTable(output format) statusTable {
	return statusTable{table: table{out: c.out}, wide: output == formatWide, colours: colour(c.out)}
}

func (t *statusTable) print(all ...workloadStatus) error {
	var rows [][]cell
	if !t.begun {
		rows, t.begun = append(rows, t.heading()), true
	}
	for _, s := range all {
		rows = append(rows, t.row(s))
	}
	return t.table.print(rows...)
}

func (t *statusTable) heading() []cell {
	row := plain("KIND", "NAME", "STATE", "HEALTH", "AGE", "LAST CHANGE", "RESULT", "PENDING")
	if t.wide {
		row = append(row, plain("GENERATION", "PLATFORM", "IMAGE", "FILE")...)
	}
	return append(row, cell{text: "WHY"})
}

func (t *statusTable) row(s workloadStatus) []cell {
	pending := string(s.Pending)
	if s.Pending == plan.None {
		pending = ""
	}
	row := plain(s.Kind, s.Name, s.State, s.Health, age(s.Created), ago(s.Since), s.Result, pending)
	if t.colours {
		row[2].colour, row[3].colour = stateColour(s.State), healthColour(s.Health)
	}
	if t.wide {
		row = append(row, plain(short(s.Generation), s.Platform, s.Image, s.Source)...)
	}
	for i := range row {
		row[i].text = cmp.Or(row[i].text, "-")
	}
	return append(row, cell{text: firstReason(s)})
}

func stateColour(state string) sgr {
	switch state {
	case "failed":
		return red
	case onTrial:
		return yellow
	}
	return ""
}

func healthColour(health string) sgr {
	if health == "unhealthy" {
		return red
	}
	return ""
}

// firstReason is short enough for a table; plan has the others. What there is to say comes before what has changed.
func firstReason(s workloadStatus) string {
	switch {
	case s.Note != "" || len(s.reasons) == 0:
		return s.Note
	case len(s.reasons) == 1:
		return s.reasons[0]
	}
	return fmt.Sprintf("%s; %d more", s.reasons[0], len(s.reasons)-1)
}

// short is as much of a digest as people need.
func short(digest string) string { return digest[:min(len(digest), 12)] }

// ago says how long ago something was, to one unit, as podman ps does.
func ago(at *time.Time) string {
	if at == nil {
		return ""
	}
	return lasted(time.Since(*at)) + " ago"
}

// lasted is a time in words.
func lasted(d time.Duration) string {
	n, unit := span(d)
	return diag.Counted(n, unit)
}

// age says how old something is, to one unit, as kubectl get does.
func age(from *time.Time) string {
	if from == nil {
		return ""
	}
	n, unit := span(time.Since(*from))
	return fmt.Sprintf("%d%c", n, unit[0])
}

// span is a time in the unit that makes it a small number, but none that is too coarse.
func span(d time.Duration) (n int, unit string) {
	switch {
	case d < 2*time.Minute:
		return max(0, int(d.Seconds())), "second"
	case d < 2*time.Hour:
		return int(d.Minutes()), "minute"
	case d < 48*time.Hour:
		return int(d.Hours()), "hour"
	}
	return int(d.Hours() / 24), "day"
}
