package amqp_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	client "github.com/Azure/go-amqp"

	"github.com/sitelet/sitelet/test/standin/amqp"
)

// serve serves one client, and answers each message with its own body.
func serve(t *testing.T, options amqp.Options) (address string, ended <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	addresses := 0
	options.NewAddress = func() string { addresses++; return fmt.Sprint("temp.", addresses) }
	options.Receive = func(m *amqp.Message, from *amqp.Connection) {
		from.Send(&amqp.Message{To: m.ReplyTo, CorrelationID: m.CorrelationID, Body: m.Body})
	}
	end := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = amqp.Serve(t.Context(), conn, options)
		}
		end <- err
	}()
	return "amqp://" + l.Addr().String(), end
}

func TestMechanisms(t *testing.T) {
	for _, test := range []struct {
		options amqp.Options
		sasl    client.SASLType
		want    string
	}{
		{amqp.Options{}, nil, ""},
		{amqp.Options{Mechanisms: []string{"ANONYMOUS"}}, client.SASLTypeAnonymous(), ""},
		{amqp.Options{Mechanisms: []string{"EXTERNAL"}, Demand: true}, client.SASLTypeExternal(""), ""},
		{amqp.Options{Mechanisms: []string{"EXTERNAL"}, Demand: true}, nil, "unexpected protocol header"},
		{amqp.Options{Mechanisms: []string{"EXTERNAL"}}, client.SASLTypeAnonymous(), "no supported auth mechanism"},
		{amqp.Options{}, client.SASLTypeExternal(""), "no supported auth mechanism"},
	} {
		address, _ := serve(t, test.options)
		conn, err := client.Dial(t.Context(), address, &client.ConnOptions{SASLType: test.sasl})
		if err == nil {
			conn.Close()
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.options.Mechanisms, err, test.want)
		}
	}
}

// TestSessions has two sessions, messages larger than a frame, more of them than there is credit for, and a client that must hear
// something now and then.
func TestSessions(t *testing.T) {
	address, ended := serve(t, amqp.Options{})
	conn, err := client.Dial(t.Context(), address, &client.ConnOptions{MaxFrameSize: 600, IdleTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		session, err := conn.NewSession(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		receiver, err := session.NewReceiver(t.Context(), "", &client.ReceiverOptions{DynamicAddress: true, Credit: 3})
		if err != nil {
			t.Fatal(err)
		}
		sender, err := session.NewSender(t.Context(), "$management", nil)
		if err != nil {
			t.Fatal(err)
		}
		replyTo := receiver.Address()
		const count = 600
		go func() {
			for i := range count {
				sender.SendWithReceipt(t.Context(), &client.Message{
					Properties: &client.MessageProperties{ReplyTo: &replyTo, CorrelationID: uint64(i)},
					Value:      strings.Repeat("x", 10*i),
				}, nil)
			}
		}()
		for i := range count {
			m, err := receiver.Receive(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := receiver.AcceptMessage(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			if m.Properties.CorrelationID != uint64(i) || len(m.Value.(string)) != 10*i {
				t.Fatalf("message %d is %v with %d bytes", i, m.Properties.CorrelationID, len(m.Value.(string)))
			}
		}
		time.Sleep(300 * time.Millisecond)
		if err := receiver.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server says %v", err)
	}
}
