package kube

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/event"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/compiler/diag"
)

// tell says what has happened: as a sentence, "" for what is not worth one, or as a line of JSON.
func (f *Fleet) tell(e event.Event, format string, args ...any) {
	text := ""
	if format != "" {
		text = diag.Visible(fmt.Sprintf(format, args...))
	}
	switch {
	case f.TellsJSON():
		e.At, e.Text = time.Now(), text
		f.errw.Write(e.Line())
	case text != "":
		fmt.Fprintln(f.errw, text)
	}
}

// Shown tells where the page of the session is, if all that is said are lines of JSON, and says whether it has. Nothing
// else that is said has the address, which is for who reads these lines alone.
func (f *Fleet) Shown(url string) bool {
	if f.TellsJSON() {
		f.tell(event.Event{Page: url}, "")
	}
	return f.TellsJSON()
}

// TellsJSON reports whether all that is said are lines of JSON.
func (f *Fleet) TellsJSON() bool { return f.r.told == "json" }

// Messages takes what gostap says here, or of its agents, each line with the agent's name in front, and tells it as
// lines of JSON.
func (f *Fleet) Messages(agents bool) io.Writer { return &event.Messages{To: f.errw, Agents: agents} }

func (m *member) event(s event.State, why string) event.Event {
	return event.Event{Node: m.Spec.NodeName, Pod: m.Metadata.Name, State: s, Why: why}
}

func (s *session) event(state event.State, why string) event.Event {
	return event.Event{Node: s.node, Agent: s.agent, State: state, Why: why}
}

// clocked tells of the clock of a node, and again when it is surely another one.
func (f *Fleet) clocked(s *session, c remote.Clock) {
	if was := s.clock; was != nil && c.Within(*was) && was.Error < 2*c.Error {
		return
	}
	s.clock = &c
	e := s.event(event.Clock, "")
	e.Clock = c.String()
	f.tell(e, "")
}

// came says what a session that has ended came to.
func (s *session) came(inOrder bool) event.State {
	switch {
	case s.placed && inOrder:
		return event.Ended
	case s.placed:
		return event.Lost
	}
	return event.Refused
}

// elsewhere says whether a pod is on another node than those that were named.
func (f *Fleet) elsewhere(p *pod) bool {
	n := p.Spec.NodeName
	if len(f.r.nodes) == 0 || n == "" || slices.Contains(f.r.nodes, n) {
		return false
	}
	if !f.others[p.Metadata.UID] {
		f.others[p.Metadata.UID] = true
		m := &member{pod: *p}
		f.tell(m.event(event.Untraced, "its node "+n+" is not one of those that were named"), "")
	}
	return true
}
