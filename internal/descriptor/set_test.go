package descriptor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSetOrder(t *testing.T) {
	for _, dir := range []string{"23-set-names", "24-set-ports", "25-set-order", "26-set-hosts"} {
		files := readFiles(t, "testdata/"+dir+"/input")
		good, l := loadSet(files)
		slices.Reverse(files)
		good2, l2 := loadSet(files)
		if !reflect.DeepEqual(good, good2) || !reflect.DeepEqual(l, l2) {
			t.Errorf("%s: the order of files matters\n%v\n%v", dir, l, l2)
		}
	}
}

func TestLongCircle(t *testing.T) {
	var cs []*Container
	for i := range 20 {
		text := fmt.Sprintf(`{"container_name": "c%02d", "image": {"name": "a.b/c"}, "sitelet": {"after": ["c%02d"]}}`, i, (i+1)%20)
		c, l := Parse(File{fmt.Sprint(i), []byte(text)})
		if c == nil {
			t.Fatal(l)
		}
		cs = append(cs, c)
	}
	good, l := CheckSet(cs, nil, nil)
	if len(good) != 0 || len(l) != 20 {
		t.Fatal(good, l)
	}
	if want := "c00 → c01 → c02 → c03 → c04 → … → c17 → c18 → c19 → c00"; !strings.Contains(l[0].Message, want) {
		t.Errorf("got %s, want %s", l[0].Message, want)
	}
}
