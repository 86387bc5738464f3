package descriptor

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/sitelet/sitelet/internal/diag"
)

// FuzzParse wants every text to be taken or refused with findings that have a place in it, without any way to reach the
// terminal, and what is taken to mean one thing only.
func FuzzParse(f *testing.F) {
	f.Add([]byte(typical))
	err := filepath.WalkDir("testdata", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, "/input/") {
			return err
		}
		data, err := os.ReadFile(path)
		f.Add(data)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		c, l := Parse(File{"f.json", data})
		if !bytes.Equal(kept, data) {
			t.Fatal("the text was changed")
		}
		if (c == nil) != l.HasErrors() {
			t.Fatalf("container %v with findings %v", c, l)
		}
		checkPlaces(t, data, l)
		NameOf(File{"f.json", data})
		if c == nil {
			return
		}
		again, _ := Parse(File{"f.json", data})
		if !reflect.DeepEqual(c, again) || !reflect.DeepEqual(c.Inputs(), again.Inputs()) {
			t.Fatal("the same text means two things")
		}
		if good, _ := CheckSet([]*Container{c, c}, nil, nil); len(good) == 1 {
			t.Fatal("one of two containers with one name was kept")
		}
		CheckSet([]*Container{c}, nil, nil)
	})
}

func checkPlaces(t *testing.T, data []byte, l diag.List) {
	lines := bytes.Split(data, []byte("\n"))
	for _, d := range l {
		if d.Message == "" || strings.HasSuffix(d.Message, ".") {
			t.Fatalf("message %q", d.Message)
		}
		if d.Line > len(lines) || d.Line > 0 && (d.Column < 1 || d.Column > len(lines[d.Line-1])+1) {
			t.Fatalf("%d:%d is outside the file", d.Line, d.Column)
		}
	}
	var b bytes.Buffer
	if err := diag.Print(&b, l, func(string) []byte { return data }, false); err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexFunc(b.Bytes(), func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }); i >= 0 {
		t.Fatalf("a control character is printed: %q", b.Bytes()[i:])
	}
}
