package main

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// script answers lines from a list, in order.
type script struct {
	t       *testing.T
	answers []answer
}

type answer struct {
	line, out string
	status    int
	err       error
}

func (s *script) run(_ context.Context, line string) (string, error) {
	if len(s.answers) == 0 {
		s.t.Fatalf("%q is run, and nothing should be", line)
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.line != line {
		s.t.Fatalf("%q is run instead of %q", line, a.line)
	}
	if a.status != 0 {
		return a.out, exec.Command("sh", "-c", "exit "+string(rune('0'+a.status))).Run()
	}
	return a.out, a.err
}

func TestPlay(t *testing.T) {
	two := []step{
		{"First", "It fails,\nand should.", []command{{line: "a\nb", status: 3, check: contains("no"), proves: "It said no."}}},
		{"Second", "It takes a moment.", []command{{line: "c", within: time.Minute, check: equals("yes")}, {line: "d"}}},
	}
	for _, test := range []struct {
		name    string
		answers []answer
		want    string // the error
	}{
		{"all well", []answer{{"a\nb", "no", 3, nil}, {"c", "not yet", 0, nil}, {"c", "", 1, nil}, {"c", "yes", 0, nil}, {"d", "", 0, nil}}, ""},
		{"wrong status", []answer{{"a\nb", "no", 0, nil}}, "step 1 (First): a: its exit status is 0 instead of 3"},
		{"wrong output", []answer{{"a\nb", "yes", 3, nil}}, `step 1 (First): a: it does not print "no"`},
		{"not run", []answer{{"a\nb", "", 0, errors.New("off")}}, "step 1 (First): a: off"},
		{"unexpected failure", []answer{{"a\nb", "no", 3, nil}, {"c", "yes", 0, nil}, {"d", "", 1, nil}}, "step 2 (Second): d: its exit status is 1 instead of 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			sh := &script{t, test.answers}
			err := play(t.Context(), &out, two, sh)
			if got := message(err); got != test.want {
				t.Errorf("error %q, want %q", got, test.want)
			}
			if len(sh.answers) > 0 {
				t.Errorf("not run: %v", sh.answers)
			}
			const shown = "\n== 1. First\n\nIt fails,\nand should.\n\n    demo# a\n    b\n    no\n  ✓ It said no.\n" +
				"\n== 2. Second\n\nIt takes a moment.\n\n    demo# c\n    yes\n    demo# d\n"
			if err == nil && out.String() != shown {
				t.Errorf("it shows\n%s", out.String())
			}
			if err != nil && strings.Contains(test.want, "(First)") && strings.Contains(out.String(), "✓") {
				t.Errorf("it claims to have verified what went wrong:\n%s", out.String())
			}
		})
	}
}

func TestPlayIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one := []step{{"", "", []command{{line: "a", within: time.Hour, check: equals("never")}}}}
	if err := play(ctx, &strings.Builder{}, one, &script{t, []answer{{"a", "", 0, nil}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestWaitingSaysHowLong(t *testing.T) {
	var out strings.Builder
	want := errors.New("x")
	if err := waiting(&out, "slowly: ", func() error { time.Sleep(1100 * time.Millisecond); return want }); err != want {
		t.Error(err)
	}
	if out.String() != "    ... slowly: 1 s\n" {
		t.Errorf("got %q", out.String())
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
