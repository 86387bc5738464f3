package descriptor

import (
	"testing"
)

func TestShapes(t *testing.T) {
	for _, s := range shapes() {
		seen := make(map[string]bool)
		for _, k := range s.keys {
			if seen[k.name] {
				t.Errorf("%s has %s twice", s.place(), k.name)
			}
			seen[k.name] = true
			if (k.kind == objectKind || k.kind == objectsKind) != (k.of != nil) {
				t.Errorf("%s.%s: kind and shape disagree", s.place(), k.name)
			}
			if SecretName(k.name) {
				t.Errorf("%s.%s: findSecrets would not see the name", s.place(), k.name)
			}
		}
		if len(s.keys) > 64 {
			t.Errorf("%s has %d keys", s.place(), len(s.keys))
		}
	}
	if len(shapes()) != 17 {
		t.Errorf("%d shapes", len(shapes()))
	}
}
