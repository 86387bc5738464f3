package router

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal returns the entities as the text of a skrouterd.json, byte for byte as upstream would write them: an array of pairs of
// a type and an object, indented by four spaces.
func Marshal(entities []Entity) []byte {
	pairs := [][2]any{}
	for _, e := range entities {
		attributes := e.Attributes
		if e.Name != "" && !(e.Type == "log" && e.Name == logName(e)) {
			attributes = append([]Attribute{{"name", e.Name}}, attributes...)
		}
		pairs = append(pairs, [2]any{e.Type, object(attributes)})
	}
	text, err := json.MarshalIndent(pairs, "", "    ")
	if err != nil {
		panic(err) // a value that no Attribute may have
	}
	return text
}

// object is a JSON object with its members in order.
type object []Attribute

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, a := range o {
		name, _ := json.Marshal(a.Name)
		value, err := json.Marshal(a.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	return fmt.Appendf(nil, "{%s}", b.Bytes()), nil
}

// Parse reads the text of a skrouterd.json, ours or upstream's, and returns its entities in their order. Attributes may be strings,
// whole numbers and booleans, and no name may come twice in one entity.
func Parse(text []byte) ([]Entity, error) {
	var pairs [][]jsontext.Value
	if err := jsonv2.Unmarshal(text, &pairs); err != nil {
		return nil, fmt.Errorf("this is not a router's configuration: %w", err)
	}
	entities := make([]Entity, len(pairs))
	for i, pair := range pairs {
		if err := entities[i].parse(pair); err != nil {
			return nil, fmt.Errorf("entity %d of a router's configuration: %w", i+1, err)
		}
	}
	return entities, nil
}

func (e *Entity) parse(pair []jsontext.Value) error {
	if len(pair) != 2 {
		return fmt.Errorf("a type and its attributes should be here, not %d values", len(pair))
	}
	if err := jsonv2.Unmarshal(pair[0], &e.Type); err != nil {
		return err
	}
	attributes, err := members(pair[1])
	if err != nil {
		return err
	}
	for _, a := range attributes {
		name, isText := a.Value.(string)
		switch {
		case a.Name != "name":
			e.Attributes = append(e.Attributes, a)
		case !isText:
			return fmt.Errorf("the name should be a string, not %v", a.Value)
		default:
			e.Name = name
		}
	}
	if e.Name == "" && e.Type == "log" {
		e.Name = logName(*e)
	}
	return nil
}

// logName is the name that the router gives a log entity which has none.
func logName(e Entity) string { return fmt.Sprint("log/", e.Get("module")) }

// members reads the members of a JSON object in order.
func members(text jsontext.Value) (list []Attribute, err error) {
	if text.Kind() != '{' {
		return nil, fmt.Errorf("an object should be here, not %s", text)
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	d.ReadToken()
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		a := Attribute{Name: name.String()}
		if a.Value, err = scalar(d); err != nil {
			return nil, fmt.Errorf("%s %w", a.Name, err)
		}
		list = append(list, a)
	}
	return list, nil
}

func scalar(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '"':
		return token.String(), nil
	case 't', 'f':
		return token.Bool(), nil
	case '0':
		number, err := strconv.Atoi(token.String())
		if err != nil {
			return nil, fmt.Errorf("should be a whole number, not %s", token)
		}
		return number, nil
	}
	return nil, errors.New("should be a string, a number or a boolean")
}
