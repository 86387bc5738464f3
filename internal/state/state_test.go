package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
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
