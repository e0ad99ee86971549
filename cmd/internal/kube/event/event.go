// Package event is what "gostap kube --told=json" says of sessions and pods, a line each on standard error.
//
// In: lines. Out: what they say. Who runs gostap kube for others reads it.
package event

import (
	"bytes"
	"encoding/json"
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
	// Text is the sentence that stands there without --told=json, "" for what is not told then.
	Text string `json:"text,omitempty"`
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
