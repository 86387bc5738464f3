// Package amqp is the server's side of AMQP 1.0, as far as management of a router needs it: types, frames, sessions and
// links. The standard is "OASIS Advanced Message Queuing Protocol (AMQP) Version 1.0"; numbers in comments are its parts.
package amqp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Values are, by AMQP type (1.6): nil, bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float32, float64,
// [Char], time.Time, [UUID], []byte, string, [Symbol], [List], [Map], [Array] and *[Described]. The decimal types are not
// known here.
type (
	Symbol string
	Char   rune
	UUID   [16]byte
	List   []any
	Array  []any // all of one type
	Map    []Pair
)

// Pair is an entry of a Map.
type Pair struct{ Key, Value any }

// Get returns the value of a key that is a string or a symbol, nil where there is none.
func (m Map) Get(key string) any {
	for _, pair := range m {
		if pair.Key == key || pair.Key == Symbol(key) {
			return pair.Value
		}
	}
	return nil
}

// Described is a value with a descriptor, which is a uint64 or a Symbol.
type Described struct{ Descriptor, Value any }

// The codes of constructors (1.6).
const (
	codeDescribed  = 0x00
	codeNull       = 0x40
	codeTrue       = 0x41
	codeFalse      = 0x42
	codeUint0      = 0x43
	codeUlong0     = 0x44
	codeList0      = 0x45
	codeUbyte      = 0x50
	codeByte       = 0x51
	codeSmallUint  = 0x52
	codeSmallUlong = 0x53
	codeSmallInt   = 0x54
	codeSmallLong  = 0x55
	codeBool       = 0x56
	codeUshort     = 0x60
	codeShort      = 0x61
	codeUint       = 0x70
	codeInt        = 0x71
	codeFloat      = 0x72
	codeChar       = 0x73
	codeUlong      = 0x80
	codeLong       = 0x81
	codeDouble     = 0x82
	codeTimestamp  = 0x83
	codeUUID       = 0x98
	codeBinary8    = 0xa0
	codeString8    = 0xa1
	codeSymbol8    = 0xa3
	codeBinary32   = 0xb0
	codeString32   = 0xb1
	codeSymbol32   = 0xb3
	codeList8      = 0xc0
	codeMap8       = 0xc1
	codeList32     = 0xd0
	codeMap32      = 0xd1
	codeArray8     = 0xe0
	codeArray32    = 0xf0
)

// Append appends the encoding of a value to b. It panics for a type that is no AMQP type, which is a mistake in the program.
func Append(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, codeNull)
	case bool:
		if v {
			return append(b, codeTrue)
		}
		return append(b, codeFalse)
	case uint8:
		return append(b, codeUbyte, v)
	case uint16:
		return binary.BigEndian.AppendUint16(append(b, codeUshort), v)
	case uint32:
		switch {
		case v == 0:
			return append(b, codeUint0)
		case v < 256:
			return append(b, codeSmallUint, byte(v))
		}
		return binary.BigEndian.AppendUint32(append(b, codeUint), v)
	case uint64:
		switch {
		case v == 0:
			return append(b, codeUlong0)
		case v < 256:
			return append(b, codeSmallUlong, byte(v))
		}
		return binary.BigEndian.AppendUint64(append(b, codeUlong), v)
	case int8:
		return append(b, codeByte, byte(v))
	case int16:
		return binary.BigEndian.AppendUint16(append(b, codeShort), uint16(v))
	case int32:
		if int32(int8(v)) == v {
			return append(b, codeSmallInt, byte(v))
		}
		return binary.BigEndian.AppendUint32(append(b, codeInt), uint32(v))
	case int64:
		if int64(int8(v)) == v {
			return append(b, codeSmallLong, byte(v))
		}
		return binary.BigEndian.AppendUint64(append(b, codeLong), uint64(v))
	case float32:
		return binary.BigEndian.AppendUint32(append(b, codeFloat), math.Float32bits(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(b, codeDouble), math.Float64bits(v))
	case Char:
		return binary.BigEndian.AppendUint32(append(b, codeChar), uint32(v))
	case time.Time:
		return binary.BigEndian.AppendUint64(append(b, codeTimestamp), uint64(v.UnixMilli()))
	case UUID:
		return append(append(b, codeUUID), v[:]...)
	case []byte:
		return appendSized(b, codeBinary8, codeBinary32, v)
	case string:
		return appendSized(b, codeString8, codeString32, []byte(v))
	case Symbol:
		return appendSized(b, codeSymbol8, codeSymbol32, []byte(v))
	case List:
		if len(v) == 0 {
			return append(b, codeList0)
		}
		return appendCompound(b, codeList32, len(v), appendAll(nil, v))
	case Map:
		var body []byte
		for _, pair := range v {
			body = Append(Append(body, pair.Key), pair.Value)
		}
		return appendCompound(b, codeMap32, 2*len(v), body)
	case Array:
		return appendArray(b, v)
	case *Described:
		return Append(Append(append(b, codeDescribed), v.Descriptor), v.Value)
	}
	panic(fmt.Sprintf("amqp: %T is no AMQP type", value))
}

func appendAll(b []byte, values []any) []byte {
	for _, value := range values {
		b = Append(b, value)
	}
	return b
}

func appendSized(b []byte, small, large byte, value []byte) []byte {
	if len(value) < 256 {
		return append(append(b, small, byte(len(value))), value...)
	}
	return append(binary.BigEndian.AppendUint32(append(b, large), uint32(len(value))), value...)
}

// appendCompound appends a list or map of four-byte size and count.
func appendCompound(b []byte, code byte, count int, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(append(b, code), uint32(4+len(body)))
	return append(binary.BigEndian.AppendUint32(b, uint32(count)), body...)
}

// appendArray knows arrays of symbols, which is all that a server's frames have.
func appendArray(b []byte, array Array) []byte {
	body := []byte{codeSymbol32}
	for _, element := range array {
		symbol := element.(Symbol)
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(symbol))), symbol...)
	}
	return appendCompound(b, codeArray32, len(array), body)
}

var errShort = errors.New("amqp: a value is cut off")

// maxDepth bounds how deep values may lie in one another: a peer must not be able to exhaust the stack.
const maxDepth = 32

// Decode returns the first value of b and what follows it.
func Decode(b []byte) (value any, rest []byte, err error) { return decode(b, maxDepth) }

func decode(b []byte, depth int) (any, []byte, error) {
	if depth == 0 {
		return nil, nil, errors.New("amqp: values lie too deep in one another")
	}
	if len(b) == 0 {
		return nil, nil, errShort
	}
	if b[0] != codeDescribed {
		return decodeAs(b[0], b[1:], depth)
	}
	descriptor, rest, err := decode(b[1:], depth-1)
	if err != nil {
		return nil, nil, err
	}
	value, rest, err := decode(rest, depth-1)
	if err != nil {
		return nil, nil, err
	}
	return &Described{descriptor, value}, rest, nil
}

// decodeAs decodes the value of a constructor that has been read.
func decodeAs(code byte, b []byte, depth int) (any, []byte, error) {
	// The high half of a code says how long a value is, or how long its size is (1.2).
	var width int
	switch code >> 4 {
	case 0x4:
	case 0x5:
		width = 1
	case 0x6:
		width = 2
	case 0x7:
		width = 4
	case 0x8:
		width = 8
	case 0x9:
		width = 16
	case 0xa, 0xc, 0xe:
		if len(b) < 1 {
			return nil, nil, errShort
		}
		width, b = int(b[0]), b[1:]
	case 0xb, 0xd, 0xf:
		if len(b) < 4 {
			return nil, nil, errShort
		}
		size := binary.BigEndian.Uint32(b)
		if size > math.MaxInt32 {
			return nil, nil, errShort
		}
		width, b = int(size), b[4:]
	default:
		return nil, nil, fmt.Errorf("amqp: there is no constructor %#02x", code)
	}
	if len(b) < width {
		return nil, nil, errShort
	}
	var value any
	var err error
	switch code >> 4 {
	case 0xc, 0xd, 0xe, 0xf:
		value, err = decodeCompound(code, b[:width], depth)
	default:
		value, err = decodePlain(code, b[:width])
	}
	return value, b[width:], err
}

func decodePlain(code byte, b []byte) (any, error) {
	switch code {
	case codeNull:
		return nil, nil
	case codeTrue:
		return true, nil
	case codeFalse:
		return false, nil
	case codeUint0:
		return uint32(0), nil
	case codeUlong0:
		return uint64(0), nil
	case codeList0:
		return List{}, nil
	case codeUbyte:
		return b[0], nil
	case codeByte:
		return int8(b[0]), nil
	case codeSmallUint:
		return uint32(b[0]), nil
	case codeSmallUlong:
		return uint64(b[0]), nil
	case codeSmallInt:
		return int32(int8(b[0])), nil
	case codeSmallLong:
		return int64(int8(b[0])), nil
	case codeBool:
		return b[0] != 0, nil
	case codeUshort:
		return binary.BigEndian.Uint16(b), nil
	case codeShort:
		return int16(binary.BigEndian.Uint16(b)), nil
	case codeUint:
		return binary.BigEndian.Uint32(b), nil
	case codeInt:
		return int32(binary.BigEndian.Uint32(b)), nil
	case codeFloat:
		return math.Float32frombits(binary.BigEndian.Uint32(b)), nil
	case codeChar:
		return Char(binary.BigEndian.Uint32(b)), nil
	case codeUlong:
		return binary.BigEndian.Uint64(b), nil
	case codeLong:
		return int64(binary.BigEndian.Uint64(b)), nil
	case codeDouble:
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	case codeTimestamp:
		return time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC(), nil
	case codeUUID:
		return UUID(b), nil
	case codeBinary8, codeBinary32:
		return append([]byte{}, b...), nil
	case codeString8, codeString32:
		return string(b), nil
	case codeSymbol8, codeSymbol32:
		return Symbol(b), nil
	}
	return nil, fmt.Errorf("amqp: there is no constructor %#02x", code)
}

// decodeCompound decodes a list, map or array whose bytes after its size are b.
func decodeCompound(code byte, b []byte, depth int) (any, error) {
	var count int
	switch code {
	case codeList8, codeMap8, codeArray8:
		if len(b) < 1 {
			return nil, errShort
		}
		count, b = int(b[0]), b[1:]
	case codeList32, codeMap32, codeArray32:
		if len(b) < 4 {
			return nil, errShort
		}
		count, b = int(binary.BigEndian.Uint32(b)), b[4:]
	default:
		return nil, fmt.Errorf("amqp: there is no constructor %#02x", code)
	}
	if code == codeArray8 || code == codeArray32 {
		return decodeArray(count, b, depth)
	}
	if count > len(b) { // each takes a byte at least
		return nil, errShort
	}
	values := make(List, count)
	var err error
	for i := range values {
		if values[i], b, err = decode(b, depth-1); err != nil {
			return nil, err
		}
	}
	if code == codeList8 || code == codeList32 {
		return values, nil
	}
	if count%2 != 0 {
		return nil, errors.New("amqp: a map has a key without a value")
	}
	pairs := make(Map, count/2)
	for i := range pairs {
		pairs[i] = Pair{values[2*i], values[2*i+1]}
	}
	return pairs, nil
}

func decodeArray(count int, b []byte, depth int) (any, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	code := b[0]
	b = b[1:]
	// Elements of no width would let a few bytes claim any number of them.
	if code == codeDescribed || code>>4 == 4 || count > len(b) {
		return nil, errors.New("amqp: such an array is not known here")
	}
	array := make(Array, count)
	var err error
	for i := range array {
		if array[i], b, err = decodeAs(code, b, depth-1); err != nil {
			return nil, err
		}
	}
	return array, nil
}
