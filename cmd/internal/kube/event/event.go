// Package event is what "gostap kube --told=json" says on standard error, a line each: of sessions and pods, and its
// messages and theirs.
//
// In: lines, messages. Out: what they say. Who runs gostap kube for others reads it.
package event

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"
)

// Event is what has happened to a session on a node, if Agent is set, or to a pod.
type Event struct {
	At   time.Time `json:"at"`
	Node string    `json:"node,omitempty"`
	// Agent is the pod with gostap that has the session, whose name stands in front of what is said of it.
	Agent string `json:"agent,omitempty"`
	Pod   string `json:"pod,omitempty"`
	State State  `json:"state,omitempty"`
	Why   string `json:"why,omitempty"`
	// Clock is what is known of the node's clock, compared with the one here: "1.2ms ahead, within 0.4ms".
	Clock string `json:"clock,omitempty"`
	// Page is where the page of the session is (--http), with the token that it takes.
	Page string `json:"page,omitempty"`
	// Text is the sentence that stands there without --told=json, "" for what is not told then.
	Text string `json:"text,omitempty"`
	// Said is a line of a message: of the session of Agent if that is set, else of gostap here.
	Said string `json:"said,omitempty"`
}

// State is what a session or a pod has come to.
type State string

// Of sessions.
const (
	Begins  State = "begins"
	Runs    State = "runs"    // its probes are in place
	Ended   State = "ended"   // in order
	Refused State = "refused" // it ended before its probes were in place
)

// Clock is said of a session when its node's clock was compared with the one here.
const Clock State = "clock"

// Of pods.
const (
	Traced   State = "traced"
	Gone     State = "gone"
	Untraced State = "untraced" // so far: the reason is in Why
)

// Lost is said of a session whose end was not in order.
const Lost State = "lost"

// Line gives an event as a line, with its end.
func (e *Event) Line() []byte {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // it has strings and a time
	}
	return append(b, '\n')
}

// Parse reads a line, and says whether it is an event.
func Parse(line []byte) (e Event, ok bool) {
	if !bytes.HasPrefix(line, []byte(`{"at":`)) {
		return e, false
	}
	err := json.Unmarshal(line, &e)
	return e, err == nil
}

// Messages takes messages and writes each of their lines as an event, so that none can be taken for another one, be it
// what a traced program calls itself. Agents: in front of each line is the name of the agent that it is of.
type Messages struct {
	To     io.Writer
	Agents bool

	mu   sync.Mutex
	rest []byte // a line without its end
}

// longest is how long a line of a message can be, a longer one is told in parts: with all of its bytes escaped an event
// stays below the 64 KB that readers take for a line.
const longest = 8 << 10

func (m *Messages) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rest = append(m.rest, b...)
	for {
		i := bytes.IndexByte(m.rest, '\n')
		if i < 0 && len(m.rest) <= longest {
			return len(b), nil
		}
		next := i + 1
		if i < 0 || i > longest {
			i, next = longest, longest
		}
		line := string(m.rest[:i])
		m.rest = m.rest[next:]
		e := Event{At: time.Now(), Said: line}
		if name, said, ok := strings.Cut(line, ": "); ok && m.Agents {
			e.Agent, _, _ = strings.Cut(name, "#") // of several sessions on a node
			e.Said = said
		}
		if _, err := m.To.Write(e.Line()); err != nil {
			return 0, err
		}
	}
}
