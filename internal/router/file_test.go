package router

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{``, "this is not a router's configuration: jsontext: unexpected EOF"},
		{`{"router": {}}`, "this is not a router's configuration: json: cannot unmarshal JSON object into Go [][]jsontext.Value"},
		{`[["router"]]`, "entity 1 of a router's configuration: a type and its attributes should be here, not 1 values"},
		{`[["router", {}, {}]]`, "entity 1 of a router's configuration: a type and its attributes should be here, not 3 values"},
		{`[["router", {}], [1, {}]]`, "entity 2 of a router's configuration: json: cannot unmarshal JSON number into Go string"},
		{`[["router", []]]`, "entity 1 of a router's configuration: an object should be here, not []"},
		{`[["listener", {"name": 7}]]`, "entity 1 of a router's configuration: the name should be a string, not 7"},
		{`[["router", {"port": 1.5}]]`, "entity 1 of a router's configuration: port should be a whole number, not 1.5"},
		{`[["router", {"port": {}}]]`, "entity 1 of a router's configuration: port should be a string, a number or a boolean"},
		{`[["router", {"port": null}]]`, "entity 1 of a router's configuration: port should be a string, a number or a boolean"},
	}
	for _, test := range tests {
		got, err := Parse([]byte(test.text))
		// Package json says either, by chance, so that nobody relies on it.
		if err == nil || strings.Replace(err.Error(), "json: unable to ", "json: cannot ", 1) != test.want {
			t.Errorf("%s:\ngot  %+v, %v\nwant %s", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{`[["router", {"id": "a", "id": "b"}]]`, `[] []`, `[["router", {}]`, "[[\"\xff\", {}]]"} {
		if got, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestMarshal(t *testing.T) {
	got := string(Marshal([]Entity{
		entity("listener", "a<b", "port", 5671, "authenticatePeer", true),
		entity("log", "log/HTTP", "module", "HTTP"),
		multicast,
		{Type: "router"},
	}))
	const want = `[
    [
        "listener",
        {
            "name": "a\u003cb",
            "port": 5671,
            "authenticatePeer": true
        }
    ],
    [
        "log",
        {
            "module": "HTTP"
        }
    ],
    [
        "address",
        {
            "prefix": "mc",
            "distribution": "multicast"
        }
    ],
    [
        "router",
        {}
    ]
]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the text differs (-want +got):\n%s", diff)
	}
	if got := string(Marshal(nil)); got != "[]" {
		t.Errorf("of nothing: %s", got)
	}
}

// FuzzParse has what Parse takes come back from Marshal.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("testdata/full-example/upstream.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(`[["log", {"module": 3, "name": "x"}], ["", {"": -0}], ["a", {"name": "7"}], ["b", {"b": true, "name": "\u0000"}]]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		entities, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(Marshal(entities))
		if err != nil {
			t.Fatalf("%q: %v", Marshal(entities), err)
		}
		if diff := cmp.Diff(entities, again); diff != "" {
			t.Errorf("entities differ (-first +second):\n%s", diff)
		}
		Diff(entities, again, nil)
		NeedsRestart(entities, again)
	})
}
