package amqp

import "errors"

// Message is a message (3.2), without its header and annotations.
type Message struct {
	ReplyTo       string
	To            string
	CorrelationID any // uint64, UUID, []byte or string; nil if there is none
	Application   Map // application-properties; its keys are strings
	Body          any // of an amqp-value section
}

// Marshal returns the encoding of a message.
func (m *Message) Marshal() []byte {
	var to any
	if m.To != "" {
		to = m.To
	}
	b := Append(nil, composite(codeProperties, nil, nil, to, nil, nil, m.CorrelationID))
	if len(m.Application) > 0 {
		b = Append(b, &Described{uint64(codeApplication), m.Application})
	}
	return Append(b, &Described{uint64(codeValue), m.Body})
}

// ParseMessage decodes a message.
func ParseMessage(b []byte) (*Message, error) {
	m := new(Message)
	for len(b) > 0 {
		value, rest, err := Decode(b)
		if err != nil {
			return nil, err
		}
		b = rest
		section, ok := value.(*Described)
		if !ok {
			return nil, errors.New("amqp: a message's section has no descriptor")
		}
		if err := m.add(section); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Message) add(section *Described) error {
	switch section.Descriptor {
	case uint64(codeProperties):
		_, fields, err := section.composite()
		if err != nil {
			return err
		}
		m.To, m.ReplyTo = field[string](fields, 2), field[string](fields, 4)
		m.CorrelationID = field[any](fields, 5)
	case uint64(codeApplication):
		application, ok := section.Value.(Map)
		if !ok {
			return errors.New("amqp: application-properties that are no map")
		}
		m.Application = application
	case uint64(codeValue):
		m.Body = section.Value
	case uint64(codeHeader), uint64(codeDeliveryNotes), uint64(codeMessageNotes), uint64(codeData), uint64(codeSequence), uint64(codeFooter):
	default:
		return errors.New("amqp: a message has a section that is not known")
	}
	return nil
}
