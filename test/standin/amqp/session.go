package amqp

import "errors"

// session is a session (2.5). Its connection's mutex guards it.
type session struct {
	*Connection
	channel uint16
	links   map[uint32]*link // by the client's handle, which is ours too

	nextOut    uint32 // transfer-id of our next transfer
	peerWindow uint32 // how many transfers the client takes
	nextIn     uint32 // transfer-id of the client's next transfer
}

// link is a link (2.6).
type link struct {
	handle  uint32
	address string
	sends   bool // we send on it

	queue  [][]byte // messages that wait for credit
	credit uint32   // what is left, of ours if we send, else of the client's
	count  uint32   // deliveries that have begun

	partial  []byte // of a message whose transfer goes on
	delivery uint32 // of that message
	settled  bool
	more     bool
}

func (c *Connection) begin(f frame) *session {
	s := &session{Connection: c, channel: f.channel, links: make(map[uint32]*link), nextIn: field[uint32](f.fields, 1),
		peerWindow: field[uint32](f.fields, 2)}
	c.emit(f.channel, composite(codeBegin, f.channel, s.nextOut, uint32(window), uint32(window), field[uint32](f.fields, 4)))
	return s
}

// attach answers an attach frame (2.7.3): with a source of our making if the client asks for one, else as asked.
func (s *session) attach(f frame) error {
	handle := field[uint32](f.fields, 1)
	if s.links[handle] != nil {
		return errors.New("a handle is attached twice")
	}
	clientReceives := field[bool](f.fields, 2)
	source, target := field[*Described](f.fields, 5), field[*Described](f.fields, 6)
	l := &link{handle: handle, sends: clientReceives}
	if clientReceives {
		name, dynamic := address(source)
		if dynamic {
			name = s.NewAddress()
		}
		l.address = name
		source = composite(codeSource, name, nil, nil, nil, dynamic)
	} else {
		l.address, _ = address(target)
	}
	s.links[handle] = l
	var first any
	if clientReceives {
		first = uint32(0)
	}
	s.emit(s.channel, composite(codeAttach, field[string](f.fields, 0), handle, !clientReceives, field[any](f.fields, 3), field[any](f.fields, 4),
		orNull(source), orNull(target), nil, nil, first))
	if !clientReceives {
		l.credit = credit
		s.grant(l)
	}
	return nil
}

func orNull(d *Described) any {
	if d == nil {
		return nil
	}
	return d
}

// grant tells the client of the credit that it has.
func (s *session) grant(l *link) {
	s.emit(s.channel, composite(codeFlow, s.nextIn, uint32(window), s.nextOut, uint32(window), l.handle, l.count, l.credit))
}

// flow takes the client's windows and credit (2.7.4).
func (s *session) flow(f frame) error {
	next := uint32(0)
	if n, ok := field[any](f.fields, 0).(uint32); ok {
		next = n
	}
	s.peerWindow = next + field[uint32](f.fields, 1) - s.nextOut
	if handle, ok := field[any](f.fields, 4).(uint32); ok {
		l := s.links[handle]
		if l == nil {
			return errors.New("a flow for a handle that is not attached")
		}
		if l.sends {
			l.credit = field[uint32](f.fields, 5) + field[uint32](f.fields, 6) - l.count
			s.drain()
			if field[bool](f.fields, 8) && len(l.queue) == 0 {
				l.count, l.credit = l.count+l.credit, 0
				s.grant(l)
			}
		}
	}
	if field[bool](f.fields, 9) {
		s.emit(s.channel, composite(codeFlow, s.nextIn, uint32(window), s.nextOut, uint32(window)))
	}
	return nil
}

// drain sends what waits, as far as credit and window go.
func (s *session) drain() {
	for _, l := range s.links {
		for l.sends && len(l.queue) > 0 && l.credit > 0 && s.peerWindow > 0 {
			message := l.queue[0]
			l.queue = l.queue[1:]
			s.deliver(l, message)
		}
	}
}

// deliver sends one message, settled, in as many transfers as the client's frame size asks for.
func (s *session) deliver(l *link, message []byte) {
	id := s.nextOut
	l.count, l.credit = l.count+1, l.credit-1
	tag := []byte{byte(l.count >> 24), byte(l.count >> 16), byte(l.count >> 8), byte(l.count)}
	const overhead = 64 // above what header and performative take
	for {
		part := message[:min(len(message), int(s.peerFrame)-overhead)]
		message = message[len(part):]
		performative := composite(codeTransfer, l.handle, id, tag, uint32(0), true, len(message) > 0)
		s.nextOut++
		s.peerWindow--
		if s.closed {
			return
		}
		if err := s.write(appendFrame(nil, frameAMQP, s.channel, performative, part)); err != nil {
			s.closed = true
			s.conn.Close()
			return
		}
		if len(message) == 0 {
			return
		}
	}
}

// transfer takes a message, or a part of one (2.7.5).
func (s *session) transfer(f frame) error {
	l := s.links[field[uint32](f.fields, 0)]
	if l == nil || l.sends {
		return errors.New("a transfer for a handle that is not attached")
	}
	s.nextIn++
	if !l.more {
		if l.credit == 0 {
			return errors.New("a transfer without credit")
		}
		l.credit--
		l.count++
		l.partial, l.delivery = nil, field[uint32](f.fields, 1)
	}
	l.partial = append(l.partial, f.payload...)
	if len(l.partial) > 1<<20 {
		return errors.New("a message is too large")
	}
	l.more, l.settled = field[bool](f.fields, 5), l.settled || field[bool](f.fields, 4)
	if aborted := field[bool](f.fields, 9); aborted {
		l.more = false
	} else if !l.more {
		return s.take(l)
	}
	return nil
}

// take accepts a message that is complete and hands it over.
func (s *session) take(l *link) error {
	if !l.settled {
		s.emit(s.channel, composite(codeDisposition, true, l.delivery, nil, true, composite(codeAccepted)))
	}
	l.settled = false
	m, err := ParseMessage(l.partial)
	if err != nil {
		return err
	}
	if m.To == "" {
		m.To = l.address
	}
	select {
	case s.received <- m:
	default:
		return errors.New("too many messages are under way")
	}
	if l.credit < credit/2 {
		l.credit = credit
		s.grant(l)
	}
	return nil
}

func (s *session) detach(f frame) error {
	handle := field[uint32](f.fields, 0)
	if s.links[handle] == nil {
		return errors.New("a handle is detached that is not attached")
	}
	delete(s.links, handle)
	s.emit(s.channel, composite(codeDetach, handle, field[bool](f.fields, 1)))
	return nil
}
