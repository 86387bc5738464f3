package skrouter

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sitelet/sitelet/test/standin/amqp"
)

// Faults are lines of a file that is read again for each request, so that a test can make them come and go:
//
//	[OPERATION TYPE NAME] FAULT [WORDS]
//
// The three words in front say which requests it is for; "*" stands for any, and without them all are meant. The faults are
//
//	NUMBER TEXT   the answer is that status, and nothing is done
//	slow DURATION the answer comes late
//	silent        it is done, but there is no answer
//	drop          the connection is cut and nothing is done
//	cut           it is cut in the middle of a frame
//	garbage       bytes come that are no frame
//	nostatus      the answer has no statusCode
//	badstatus     statusCode is a string that is no number
//	badbody       the answer's body is no map
//	badrows       the answer's body is a map of other things than rows

// faulty tells whether a fault has taken care of a request; answer does what is done without one.
func (r *Router) faulty(q request, m *amqp.Message, from *amqp.Connection, answer func()) bool {
	if r.faults == "" {
		return false
	}
	content, err := os.ReadFile(r.faults)
	if err != nil {
		return false
	}
	for _, text := range strings.Split(string(content), "\n") {
		words := strings.Fields(text)
		if len(words) >= 4 && isSelector(words[0]) {
			if !matches(words[:3], q) {
				continue
			}
			words = words[3:]
		}
		if len(words) > 0 && r.fail(words[0], strings.Join(words[1:], " "), q, m, from, answer) {
			return true
		}
	}
	return false
}

func isSelector(word string) bool {
	return word == "*" || contains([]string{"CREATE", "READ", "UPDATE", "DELETE", "QUERY"}, word)
}

func matches(words []string, q request) bool {
	return (words[0] == "*" || words[0] == q.operation) &&
		(words[1] == "*" || prefix+words[1] == q.kind) &&
		(words[2] == "*" || words[2] == plain(q.name))
}

// fail does what a fault says, and tells whether it was one.
func (r *Router) fail(fault, words string, q request, m *amqp.Message, from *amqp.Connection, late func()) bool {
	answer := func(application amqp.Map, body any) {
		from.Send(&amqp.Message{To: m.ReplyTo, CorrelationID: m.CorrelationID, Application: application, Body: body})
	}
	ok := amqp.Map{{Key: "statusCode", Value: int32(statusOK)}, {Key: "statusDescription", Value: "OK"}}
	switch fault {
	case "slow":
		wait, err := time.ParseDuration(words)
		if err != nil {
			return false
		}
		r.mu.Lock()
		last, done := r.lastSlow, make(chan struct{})
		r.lastSlow = done
		r.mu.Unlock()
		r.goes(func() {
			defer close(done)
			select {
			case <-r.ctx.Done():
				return
			case <-time.After(wait):
			}
			if last != nil {
				<-last // they stay in order among themselves
			}
			late()
		})
	case "silent":
		r.mu.Lock()
		r.handle(q)
		r.mu.Unlock()
	case "drop":
		from.Drop()
	case "cut":
		from.SendRaw([]byte{0, 0, 1, 0, 2, 0, 0, 0, 0x53, 0x14})
		from.Drop()
	case "garbage":
		from.SendRaw([]byte("\xde\xad\xbe\xef this is no frame \xde\xad\xbe\xef"))
	case "nostatus":
		answer(nil, amqp.Map{})
	case "badstatus":
		answer(amqp.Map{{Key: "statusCode", Value: "fine"}}, amqp.Map{})
	case "badbody":
		answer(ok, "no map")
	case "badrows":
		answer(ok, amqp.Map{{Key: "attributeNames", Value: amqp.List{int32(1)}}, {Key: "results", Value: amqp.List{"row", amqp.List{}}}})
	default:
		status, err := strconv.Atoi(fault)
		if err != nil {
			return false
		}
		answer(amqp.Map{{Key: "statusCode", Value: int32(status)}, {Key: "statusDescription", Value: words}}, amqp.Map{})
	}
	return true
}
