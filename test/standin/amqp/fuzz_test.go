package amqp

import (
	"bytes"
	"net"
	"reflect"
	"testing"
	"time"
)

func FuzzDecode(f *testing.F) {
	for _, value := range samples {
		f.Add(Append(nil, value))
	}
	f.Add(bytes.Repeat([]byte{codeDescribed}, 100))
	f.Add([]byte{codeArray32, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, codeNull})
	f.Add([]byte{codeList32, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{codeMap8, 2, 1, codeNull})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, rest, err := Decode(b)
		if err != nil {
			return
		}
		if len(rest) >= len(b) {
			t.Fatalf("%d of %d bytes are left", len(rest), len(b))
		}
		ParseMessage(b)
	})
}

func FuzzServe(f *testing.F) {
	open := appendFrame([]byte(protocolAMQP), frameAMQP, 0, composite(codeOpen, "client"), nil)
	begin := appendFrame(nil, frameAMQP, 0, composite(codeBegin, nil, uint32(0), uint32(9), uint32(9)), nil)
	attach := appendFrame(nil, frameAMQP, 0, composite(codeAttach, "s", uint32(0), false, nil, nil, composite(codeSource), composite(codeTarget, "x")), nil)
	message := (&Message{ReplyTo: "r", Body: Map{{"a", int32(1)}}}).Marshal()
	transfer := appendFrame(nil, frameAMQP, 0, composite(codeTransfer, uint32(0), uint32(0), []byte("t")), message)
	f.Add(bytes.Join([][]byte{open, begin, attach, transfer}, nil))
	f.Add(bytes.Join([][]byte{open, begin, transfer}, nil))
	bare := appendFrame(nil, frameAMQP, 0, composite(codeAttach, "s", uint32(0), false), nil)
	f.Add(bytes.Join([][]byte{open, begin, bare, transfer}, nil))
	f.Add([]byte(protocolSASL))
	f.Add(appendFrame([]byte(protocolSASL), frameSASL, 0, composite(codeInit, Symbol("EXTERNAL")), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		client, server := net.Pipe()
		done := make(chan error)
		go func() {
			done <- Serve(t.Context(), server, Options{NewAddress: func() string { return "tmp" }, Receive: func(*Message, *Connection) {}})
		}()
		go func() {
			client.SetDeadline(time.Now().Add(time.Second))
			client.Write(b)
			client.Close()
		}()
		buffer := make([]byte, 1024)
		for {
			if _, err := client.Read(buffer); err != nil {
				break
			}
		}
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			t.Fatal("the connection is served on though the client is gone")
		}
	})
}

var samples = []any{nil, true, false, uint8(7), uint16(700), uint32(0), uint32(7), uint32(70000), uint64(0), uint64(7), uint64(1 << 40),
	int8(-7), int16(-700), int32(-7), int32(-70000), int64(-7), int64(-1 << 40), float32(1.5), 1.5, Char('é'),
	time.UnixMilli(1234567890123).UTC(), UUID{1, 2, 3}, []byte("binary"), bytes.Repeat([]byte("b"), 300), "text", string(bytes.Repeat([]byte("t"), 300)),
	Symbol("symbol"), List{}, List{int32(1), "a", nil}, Map{}, Map{{"k", List{uint32(1)}}, {Symbol("s"), nil}}, Array{Symbol("a"), Symbol("b")},
	&Described{uint64(0x24), List{}}}

func TestRoundTrip(t *testing.T) {
	for _, value := range samples {
		b := Append(nil, value)
		got, rest, err := Decode(append(b, 0xff))
		if err != nil || len(rest) != 1 || !reflect.DeepEqual(got, value) {
			t.Errorf("%#v comes back as %#v, %v, with %d bytes left", value, got, err, len(rest))
		}
		for i := range b {
			if _, _, err := Decode(b[:i]); err == nil {
				t.Errorf("%#v is decoded from %d of its %d bytes", value, i, len(b))
			}
		}
	}
}
