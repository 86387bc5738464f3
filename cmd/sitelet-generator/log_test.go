package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelet/sitelet/internal/diag"
)

func TestRecordFitsTheKernelsLog(t *testing.T) {
	if got := record(diag.Warning, "short"); !strings.HasPrefix(got, "<4>sitelet-generator[") || !strings.HasSuffix(got, "]: short\n") {
		t.Errorf("got %q", got)
	}
	for length := range 20 {
		got := record(diag.Error, strings.Repeat("x", length)+strings.Repeat("ü", 1000))
		if len(got) > maxRecord || len(got) < maxRecord-4 || !strings.HasSuffix(got, "ü…\n") || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}
