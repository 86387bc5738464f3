package amqp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Types of frames (2.3.1, 5.3.1).
const (
	frameAMQP = 0
	frameSASL = 1
)

// The descriptors of performatives (2.7), SASL frames (5.3.3), sections of a message (3.2) and states of a delivery (3.4).
const (
	codeOpen          = 0x10
	codeBegin         = 0x11
	codeAttach        = 0x12
	codeFlow          = 0x13
	codeTransfer      = 0x14
	codeDisposition   = 0x15
	codeDetach        = 0x16
	codeEnd           = 0x17
	codeClose         = 0x18
	codeError         = 0x1d
	codeAccepted      = 0x24
	codeSource        = 0x28
	codeTarget        = 0x29
	codeMechanisms    = 0x40
	codeInit          = 0x41
	codeOutcome       = 0x44
	codeHeader        = 0x70
	codeDeliveryNotes = 0x71
	codeMessageNotes  = 0x72
	codeProperties    = 0x73
	codeApplication   = 0x74
	codeData          = 0x75
	codeSequence      = 0x76
	codeValue         = 0x77
	codeFooter        = 0x78
)

// The headers of protocols (2.2, 5.3.2).
const (
	protocolAMQP = "AMQP\x00\x01\x00\x00"
	protocolSASL = "AMQP\x03\x01\x00\x00"
)

// minFrame is the smallest limit that a peer may set for frames (2.3.1).
const minFrame = 512

// frame is a frame; one without a performative is a heartbeat.
type frame struct {
	kind    byte
	channel uint16
	code    uint64 // descriptor of the performative; 0 for a heartbeat
	fields  List   // of the performative
	payload []byte
}

// readFrame reads a frame of at most limit bytes.
func readFrame(r io.Reader, limit uint32) (frame, error) {
	var header [8]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return frame{}, err
	}
	size, offset := binary.BigEndian.Uint32(header[:]), 4*uint32(header[4])
	if size < 8 || size > limit || offset < 8 || offset > size {
		return frame{}, fmt.Errorf("amqp: a frame of %d bytes, of which %d are its header", size, offset)
	}
	body := make([]byte, size-8)
	if _, err := io.ReadFull(r, body); err != nil {
		return frame{}, err
	}
	f := frame{kind: header[5], channel: binary.BigEndian.Uint16(header[6:])}
	return f, f.parse(body[offset-8:])
}

func (f *frame) parse(body []byte) error {
	if len(body) == 0 {
		return nil
	}
	value, payload, err := Decode(body)
	if err != nil {
		return err
	}
	described, ok := value.(*Described)
	if !ok {
		return errors.New("amqp: a frame without a performative")
	}
	f.payload = payload
	f.code, f.fields, err = described.composite()
	return err
}

// composite returns a composite value's code and fields.
func (d *Described) composite() (uint64, List, error) {
	code, isCode := d.Descriptor.(uint64)
	fields, isList := d.Value.(List)
	if !isCode || !isList {
		return 0, nil, errors.New("amqp: a composite value that is no list with a code")
	}
	return code, fields, nil
}

func composite(code uint64, fields ...any) *Described { return &Described{code, List(fields)} }

// appendFrame appends a frame; performative may be nil.
func appendFrame(b []byte, kind byte, channel uint16, performative *Described, payload []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, 2, kind, byte(channel>>8), byte(channel))
	if performative != nil {
		b = Append(b, performative)
	}
	b = append(b, payload...)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start))
	return b
}

// field returns a field of a list as a T, and T's zero value where it is absent or of another type.
func field[T any](fields List, i int) T {
	var zero T
	if i >= len(fields) {
		return zero
	}
	if value, ok := fields[i].(T); ok {
		return value
	}
	return zero
}

// address returns the address of a source or target, which may be nil, and whether it is dynamic (3.5.3, 3.5.4).
func address(terminus *Described) (name string, dynamic bool) {
	if terminus == nil {
		return "", false
	}
	_, fields, err := terminus.composite()
	if err != nil {
		return "", false
	}
	return field[string](fields, 0), field[bool](fields, 4)
}
