package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestWriteAndRead(t *testing.T) {
	store := Store{t.TempDir()}
	want := Workload{Version: 1, Name: "web", Current: &Version{Source: "/etc/sitelet/containers/web.json", Generation: "abc", Render: "def", Wanted: true,
		Unit: "[Unit]\n", Create: "[Service]\nExecStart=podman run \x01 \"ü\"\n"}}
	if err := store.Write(want); err != nil {
		t.Fatal(err)
	}
	got, err := store.Read("web")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	info, err := os.Stat(store.path("web"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %o: the command may hold secrets", info.Mode().Perm())
	}
	names, err := store.Names()
	if err != nil || !reflect.DeepEqual(names, []string{"web"}) {
		t.Errorf("Names: %q, %v", names, err)
	}
}

// What a write that was killed leaves behind goes with the next change.
func TestChangeSweeps(t *testing.T) {
	store := Store{t.TempDir()}
	left := filepath.Join(store.Dir, ".web.json1234")
	other := filepath.Join(store.Dir, ".db.json1234")
	for _, path := range []string{left, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if workloads, namespaces := store.Leftovers(); !slices.Equal(workloads, []string{"db", "web"}) || namespaces != nil {
		t.Errorf("left: %q, %q", workloads, namespaces)
	}
	if err := store.Change("web", func(*Workload) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", left, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func TestEmptyStore(t *testing.T) {
	store := Store{filepath.Join(t.TempDir(), "none")}
	if names, err := store.Names(); err != nil || len(names) > 0 {
		t.Errorf("Names: %q, %v", names, err)
	}
	if _, err := store.Read("web"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read: %v", err)
	}
}

func TestDamagedState(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "half": `{"Version":1,"Na`, "future": `{"Version":2,"Name":"web"}`,
		"other": `{"Version":1,"Name":"db"}`, "no unit": `{"Version":1,"Name":"web","Current":{"Generation":"g","Render":"r","Create":"y"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			store := Store{t.TempDir()}
			os.MkdirAll(filepath.Dir(store.path("web")), 0o700)
			os.WriteFile(store.path("web"), []byte(text), 0o600)
			if _, err := store.Read("web"); err == nil || !strings.Contains(err.Error(), store.path("web")) {
				t.Errorf("error %v does not name the file", err)
			}
		})
	}
}

// A site's state is written whole, and what a write that was killed leaves behind goes with the next one, but none of another's.
func TestWriteSite(t *testing.T) {
	store := Store{t.TempDir()}
	site := Site{Version: 1, Namespace: "east", ID: "id", Ports: []Port{{"local", 5671}}}
	if err := store.WriteSite(site); err != nil {
		t.Fatal(err)
	}
	left, other := filepath.Join(store.siteDir(), ".east.json1234"), filepath.Join(store.siteDir(), ".west.json1234")
	if err := errors.Join(os.WriteFile(left, nil, 0o600), os.WriteFile(other, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	site.Stopped = true
	if err := store.WriteSite(site); err != nil {
		t.Fatal(err)
	}
	if got, err := store.ReadSite("east"); err != nil || !reflect.DeepEqual(got, site) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", left, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if names, err := store.Sites(); err != nil || !reflect.DeepEqual(names, []string{"east"}) {
		t.Errorf("%v, %v", names, err)
	}
}

// A token that was not redeemed stands in the place of the last one of its name that was.
func TestRedeemed(t *testing.T) {
	site := Site{Tokens: []Token{{Name: "a", Digest: "1", Document: []byte("one")}, {Name: "b", Digest: "1", Document: []byte("b")},
		{Name: "a", Digest: "2", Document: []byte("two")}, {Name: "a", Digest: "3"}}}
	for digest, want := range map[string]string{"1": "one", "2": "two", "3": "two", "4": "two"} {
		if got := string(site.Redeemed("a", digest)); got != want {
			t.Errorf("%s: %q, want %q", digest, got, want)
		}
	}
	if got := site.Redeemed("c", "1"); got != nil {
		t.Errorf("%q", got)
	}
}
