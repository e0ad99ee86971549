package kube

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/event"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/compiler/foreign"
)

// told takes what a session tells of a pod.
func (f *Fleet) told(s *session, t remote.Told, now time.Time) {
	if !s.placed {
		f.tell(s.event(event.Runs, ""), "")
	}
	s.placed, f.placed = true, true
	m := f.pods[t.UID]
	if t.State == remote.Left {
		f.left(m, s)
	}
	if m == nil || m.in != s {
		return
	}
	switch t.State {
	case remote.Entered:
	case remote.Traced:
		again := m.why != ""
		m.from, m.why, m.opens, m.out = now.Add(-t.Since), "", 0, 0
		for _, c := range m.Spec.Containers {
			s.images[c.Image] = true
		}
		if !m.lost.IsZero() {
			m.gaps = append(m.gaps, fmt.Sprintf("from %s to %s, while its session was lost", clock(m.lost),
				clock(m.from)))
			m.lost = time.Time{}
			f.tell(m.event(event.Traced, ""), "%v: traced again from %s", m, clock(m.from))
			return
		}
		if m.first && !again {
			f.tell(m.event(event.Traced, ""), "")
			return
		}
		how := "from its start"
		if t.Late > 0 {
			how = seconds(t.Late) + " after its start"
			m.gaps = append(m.gaps, "before "+clock(m.from))
		}
		f.tell(m.event(event.Traced, ""), "%v: traced from %s, %s", m, clock(m.from), how)
	case remote.Other:
		m.tried = append(m.tried, s)
		f.leaves(m, func() {
			if m.opens > 1 {
				f.refuse(m, t.Why)
				return
			}
			f.assign(m)
		})
	case remote.Absent:
		switch next := f.untried(m); {
		case m.why != "":
			f.idle(m, t.Why)
		case next != nil:
			m.tried = append(m.tried, s)
			f.put(m, next)
		default:
			f.anew(m, t.Why)
		}
	}
}

// put has a pod in another session, once the one that it is in has no hits in it any more.
func (f *Fleet) put(m *member, in *session) {
	f.leaves(m, func() {
		if in.over {
			f.assign(m)
			return
		}
		m.in = in
		f.send(in)
	})
}

// leaves takes a pod out of its session, and calls then when no hit in it is counted there any more.
func (f *Fleet) leaves(m *member, then func()) {
	was := m.in
	m.in = nil
	if was == nil || was.over {
		then()
		return
	}
	m.leaving, m.then = was, then
	f.send(was)
}

// left goes on with a pod that a session has no hits in any more.
func (f *Fleet) left(m *member, s *session) {
	if m == nil || m.leaving != s {
		return
	}
	then := m.then
	m.leaving, m.then = nil, nil
	then()
}

// idle tells of a pod whose session has nothing to trace in it yet, unless that has changed after a while: its program
// may begin late. Where its node has several sessions, they have it in turn.
func (f *Fleet) idle(m *member, why string) {
	time.AfterFunc(idleAfter, func() {
		f.post(func() {
			if f.pods[m.Metadata.UID] != m || !m.from.IsZero() {
				return
			}
			f.refuse(m, why)
			m.tried = nil
			if next := f.untried(m); next != nil && m.in != nil && m.leaving == nil {
				f.put(m, next)
			}
		})
	})
}

const idleAfter = 2 * time.Second

// anew translates the script for what its programs are now; a pod that has another build than the plan gets a session
// with the new one.
func (f *Fleet) anew(m *member, why string) {
	if f.Translate == nil {
		f.idle(m, why)
		return
	}
	if f.fresh != nil && f.freshAt.After(m.seen) && f.another(m, f.fresh) {
		f.move(m, f.fresh, why)
		return
	}
	f.waiting = append(f.waiting, stray{m, why})
	f.translate()
}

// translate translates once for all pods that wait for it.
func (f *Fleet) translate() {
	if f.translating {
		return
	}
	if len(f.waiting) > 0 {
		f.takeFrom(f.waiting[0].m)
	}
	f.translating = true
	began := time.Now()
	go func() {
		defer foreign.Goroutine()()
		plan, err := f.Translate()
		f.post(func() {
			list := f.waiting
			f.waiting, f.translating = nil, false
			if err == nil {
				f.fresh, f.freshAt = plan, began
			}
			for _, w := range list {
				f.translated(w.m, plan, err, w.why)
			}
		})
	}()
}

// another says whether a plan is another than that of the session of a pod.
func (f *Fleet) another(m *member, plan []byte) bool {
	was := f.planOf(m)
	return !bytes.Equal(plan, was) && (was != nil || !bytes.Equal(plan, f.Plan))
}

// foresee translates anew if none of a pod's images is traced yet: its program may be another build.
func (f *Fleet) foresee(m *member) {
	for _, s := range f.sessions {
		if s.traces(m) {
			return
		}
	}
	if f.copied() {
		return // its program does not run yet
	}
	if f.Translate != nil && len(m.Spec.Containers) > 0 && len(f.sessions) > 0 {
		f.translate()
	}
}

// stray is a pod whose program is not that of the plan.
type stray struct {
	m   *member
	why string
}

// translated has a pod traced by a new plan, if it is another than that of its session.
func (f *Fleet) translated(m *member, plan []byte, err error, why string) {
	switch {
	case f.pods[m.Metadata.UID] != m || !m.from.IsZero() || m.leaving != nil:
	case err != nil:
		f.refuse(m, fmt.Sprintf("%s, and the script was not translated again: %v", why, err))
	case f.another(m, plan):
		f.move(m, plan, why)
	case m.in == nil && m.opens < 3:
		f.later(func() { f.back(m) })
	case m.in == nil:
		f.refuse(m, why)
	default:
		f.idle(m, why)
	}
}

// planOf is the plan of a pod's session, nil for that of the request.
func (f *Fleet) planOf(m *member) []byte {
	if m.in != nil {
		return m.in.plan
	}
	return nil
}

// move has a pod traced by a session of a plan.
func (f *Fleet) move(m *member, plan []byte, why string) {
	m.tried = append(m.tried, m.in)
	for _, s := range f.sessions {
		if s.node == m.Spec.NodeName && !s.over && bytes.Equal(s.plan, plan) && !slices.Contains(m.tried, s) {
			f.put(m, s)
			return
		}
	}
	f.leaves(m, func() {
		if f.agents[m.Spec.NodeName] == "" || m.opens > 3 {
			f.refuse(m, why)
			return
		}
		f.join(m, plan)
	})
}

// end takes the end of a session.
func (f *Fleet) end(s *session, inOrder bool, why string) {
	s.over = true
	f.tell(s.event(s.came(inOrder), why), "")
	for _, m := range f.byName() {
		f.left(m, s)
	}
	for _, m := range f.of(s) {
		m.in = nil
		switch {
		case s.placed && inOrder: // the script came to its end
			f.exited = true
		case s.placed:
			m.lost, m.from = time.Now(), time.Time{}
			f.tell(m.event(event.Untraced, "its session was lost"), "")
			f.later(func() { f.back(m) })
		case inOrder && f.Translate != nil && s.plan == nil:
			f.anew(m, why)
		case !inOrder && !m.lost.IsZero(): // its agent, or the cluster, is out of reach for now
			m.out++
			time.AfterFunc(min(againAfter<<min(m.out, 4), mostAfter), func() { f.post(func() { f.back(m) }) })
		case m.opens < 3 && s.plan == nil:
			f.later(func() { f.back(m) })
		default:
			f.refuse(m, why)
		}
	}
	if s.placed && inOrder {
		f.exited = true
	}
}

// mostAfter is how long it takes at most until an agent that is out of reach is tried again.
const mostAfter = 10 * time.Second

// back looks again for a session of a pod that lost its own.
func (f *Fleet) back(m *member) {
	if f.pods[m.Metadata.UID] == m {
		f.assign(m)
	}
}

// missing says what is missing of a pod.
func (m *member) missing() (out []string) {
	if !m.lost.IsZero() {
		out = append(out, fmt.Sprintf("%v from %s on, when its session was lost", m, clock(m.lost)))
	}
	for _, g := range m.gaps {
		out = append(out, fmt.Sprintf("%v %s", m, g))
	}
	if m.why != "" && m.from.IsZero() {
		out = append(out, fmt.Sprintf("%v: %s", m, m.why))
	}
	return out
}

// Summary says what is missing, when all has ended.
func (f *Fleet) Summary() {
	list := f.gone
	for _, m := range f.byName() {
		list = append(list, m.missing()...)
	}
	for _, text := range list {
		f.tell(event.Event{}, "WARNING: missing: %s", text)
	}
}
