package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// step is one thing that is shown.
type step struct {
	title    string
	text     string // what happens, and why
	commands []command
}

// command is a line that is typed, and what has to come of it.
type command struct {
	line   string
	status int                    // exit status that it must have
	within time.Duration          // time in which it may be tried again, for what takes a moment; once if zero
	check  func(out string) error // says what is wrong with its output; none if nil
	proves string                 // what its success shows; empty if nothing that needs saying
}

// shell runs lines; an exit status other than 0 is an exec.ExitError.
type shell interface {
	run(ctx context.Context, line string) (string, error)
}

// hangs is beyond what any line takes.
const hangs = 2 * time.Minute

// play shows the steps in order, up to the first command that does not do what it should.
func play(ctx context.Context, w io.Writer, steps []step, sh shell) error {
	for i, s := range steps {
		fmt.Fprintf(w, "\n== %d. %s\n\n%s\n\n", i+1, s.title, s.text)
		for _, c := range s.commands {
			if err := c.play(ctx, w, sh); err != nil {
				return fmt.Errorf("step %d (%s): %s: %w", i+1, s.title, firstLine(c.line), err)
			}
		}
	}
	return nil
}

func (c command) play(ctx context.Context, w io.Writer, sh shell) error {
	ctx, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	fmt.Fprint(w, indented("demo# "+c.line))
	var out string
	err := waiting(w, "", func() (err error) {
		out, err = c.retry(ctx, sh)
		return err
	})
	if out != "" {
		fmt.Fprint(w, indented(out))
	}
	if err == nil && c.proves != "" {
		fmt.Fprintf(w, "  ✓ %s\n", c.proves)
	}
	return err
}

// retry runs the line until its outcome is right or its time is up.
func (c command) retry(ctx context.Context, sh shell) (string, error) {
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		out, err := c.try(ctx, sh)
		if err == nil || ctx.Err() != nil || time.Since(begin) >= c.within {
			return out, err
		}
	}
}

// try runs the line once and says what is wrong with its outcome.
func (c command) try(ctx context.Context, sh shell) (string, error) {
	out, err := sh.run(ctx, c.line)
	status := 0
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.As(err, &exit):
		status = exit.ExitCode()
	case err != nil:
		return out, err
	}
	if status != c.status {
		return out, fmt.Errorf("its exit status is %d instead of %d", status, c.status)
	}
	if c.check == nil {
		return out, nil
	}
	return out, c.check(out)
}

// waiting calls do and says from the first second on how long it has been at it; what it does stands before that.
func waiting(w io.Writer, what string, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	begin := time.Now()
	for pause := time.Second; ; pause = 5 * time.Second {
		select {
		case err := <-done:
			return err
		case <-time.After(pause):
			fmt.Fprintf(w, "    ... %s%d s\n", what, int(time.Since(begin).Seconds()))
		}
	}
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// contains returns a check that all parts are in the output.
func contains(parts ...string) func(string) error {
	return func(out string) error {
		for _, part := range parts {
			if !strings.Contains(out, part) {
				return fmt.Errorf("it does not print %q", part)
			}
		}
		return nil
	}
}
