package gostap

import (
	"errors"
	"reflect"
	"slices"

	"github.com/gostap/gostap/compiler/spread"
	"github.com/gostap/gostap/runtime/merge"
)

// Merged is a program that runs on several machines and gives one answer: what its handlers count where they are hit is
// added up, and begin, end, error and timer probes run once, over the sums.
type Merged struct {
	p     *Program
	parts *spread.Parts
}

// Merge divides p, which was compiled with Options.Portable and Options.Merge. Handlers that would need both what all
// machines have counted and what one of them knows are an *Error.
func (p *Program) Merge() (_ *Merged, err error) {
	defer guard(&err, nil)()
	if p.ir == nil || !p.o.Merge {
		return nil, errors.New("the program was not compiled with Options.Merge")
	}
	parts, ds := spread.Divide(p.ir)
	if ds.HasErrors() {
		return nil, &Error{Diagnostics: diagnosed(ds, p.files, true)}
	}
	return &Merged{p, parts}, nil
}

// Shared are the globals that all machines add to, by numbers, for Session.Share.
func (m *Merged) Shared() []int { return m.parts.Shared }

// Ranked are those of Shared that can be told by their greatest elements alone, for Session.Top: arrays of numbers, but
// for those that timers change, since what an element had before it was told would count as new, and those that are
// metrics.
func (m *Merged) Ranked() (out []int) {
	for _, g := range m.parts.Shared {
		if gl := m.parts.Once.Globals[g]; merge.Ranked(gl) && gl.Metric == "" && !m.parts.Touched[g] {
			out = append(out, g)
		}
	}
	return out
}

// Bytes writes the part for each machine down, for Load there.
func (m *Merged) Bytes() ([]byte, error) { return m.each().Bytes() }

// Fits is Program.Fits for the part for each machine.
func (m *Merged) Fits() (*Diagnostic, error) { return m.each().Fits() }

// Listing is the part for each machine in readable form, which each translates for its kernel.
func (m *Merged) Listing() string { return m.parts.Each.Dump() }

func (m *Merged) each() *Program {
	return &Program{o: m.p.o, ir: m.parts.Each, files: m.p.files, asked: m.p.asked}
}

// Prepare makes the session of the part that runs once. start has the sessions of the machines begin and stop has them
// end; neither waits. Session.Tell gives it what each machine has counted, and Session.End says that one has ended; it
// ends with the last of them.
func (m *Merged) Prepare(machines int, start, stop func()) (*Session, error) {
	return m.prepare(merge.Config{Machines: machines, Start: start, Stop: stop})
}

// Open is Prepare for a session that machines may join while it runs (Session.Join), until Session.Shut: before, it
// does not end with the last of them. With no machines it begins at once.
func (m *Merged) Open(machines int, start, stop func()) (*Session, error) {
	return m.prepare(merge.Config{Machines: machines, Open: true, Start: start, Stop: stop})
}

func (m *Merged) prepare(c merge.Config) (_ *Session, err error) {
	defer guard(&err, nil)()
	c.Program, c.Shared, c.Seen, c.Columns = m.parts.Once, m.parts.Shared, m.parts.Seen, merge.Columns(m.parts.Each)
	b, err := merge.New(c)
	if err != nil {
		return nil, err
	}
	p := &Program{o: m.p.o, ir: m.parts.Once, files: m.p.files, asked: m.p.asked}
	p.o.PID, p.o.Command = 0, ""
	return &Session{p: p, b: b, columns: c.Columns, release: func() {}, ask: make(chan func(), 64),
		over: make(chan struct{})}, nil
}

var errNotMerged = errors.New("the session is not one over machines")

// Tell gives a session over machines what one of them, counted from 0, has counted so far: bytes of Session.Snapshot.
// It may be called from any goroutine.
func (s *Session) Tell(machine int, snapshot []byte) error {
	x, ok := s.b.(*merge.Session)
	if !ok {
		return errNotMerged
	}
	return x.Tell(machine, snapshot)
}

// Join adds a machine to a session that is open and gives its number.
func (s *Session) Join() (machine int, err error) {
	x, ok := s.b.(*merge.Session)
	if !ok {
		return 0, errNotMerged
	}
	if machine, ok = x.Join(); !ok {
		return 0, errors.New("no machine can join any more")
	}
	return machine, nil
}

// Shut says that no machine joins any more.
func (s *Session) Shut() error {
	x, ok := s.b.(*merge.Session)
	if !ok {
		return errNotMerged
	}
	x.Shut()
	return nil
}

// Like says whether machines that run other may be added up with those that run m: the same script for another build
// of the program, whose globals are the same.
func (m *Merged) Like(other *Merged) bool {
	a, b := m.parts.Each.Globals, other.parts.Each.Globals
	if len(a) != len(b) || !slices.Equal(m.parts.Shared, other.parts.Shared) {
		return false
	}
	for _, g := range m.parts.Shared {
		x, y := *a[g], *b[g]
		x.Size, y.Size = 0, 0
		x.Pos, x.Sharing, x.Class = y.Pos, y.Sharing, y.Class
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// Again says that a new session of a machine begins, which counts from nothing. What the one before had told stays.
func (s *Session) Again(machine int) error {
	x, ok := s.b.(*merge.Session)
	if !ok {
		return errNotMerged
	}
	x.Restart(machine)
	return nil
}

// End says that a machine has ended.
func (s *Session) End(machine int) error {
	x, ok := s.b.(*merge.Session)
	if !ok {
		return errNotMerged
	}
	x.End(machine)
	return nil
}

// Share says which globals Snapshot gives: Merged.Shared. It is called before the session runs.
func (s *Session) Share(globals []int) error {
	for _, g := range globals {
		if g < 0 || g >= len(s.p.ir.Globals) {
			return errors.New("the program has no such globals")
		}
	}
	s.shared = slices.Clone(globals)
	if s.shared == nil {
		s.shared = []int{}
	}
	return nil
}

// Top has Snapshot tell of each of some of these arrays (Merged.Ranked) the n greatest elements alone, and how much is
// left out, which a session over machines sums up among its warnings. It is called behind Share.
func (s *Session) Top(n int, arrays []int) error {
	for _, g := range arrays {
		if n < 1 || !slices.Contains(s.shared, g) || !merge.Ranked(s.p.ir.Globals[g]) {
			return errors.New("the program has no such arrays of numbers among those that are told")
		}
	}
	s.top = &merge.Top{N: n, Of: slices.Clone(arrays)}
	return nil
}

// Snapshot gives what the session has counted since it began, for Session.Tell elsewhere; when it has ended, all of it.
// The functions of a stack are in the first snapshot that has it: all have to be told, in order.
func (s *Session) Snapshot() (b []byte, err error) {
	ran, failure := s.between(func() { b, err = s.snapshot(false) })
	if failure != nil {
		return nil, failure
	}
	if !ran {
		<-s.over
		return s.last, s.broken
	}
	return b, err
}

func (s *Session) snapshot(end bool) ([]byte, error) {
	snap, err := merge.Take(s.b.Store(), s.p.ir, s.shared)
	if err != nil {
		return nil, err
	}
	told := merge.Told{Snapshot: snap, Rests: s.top.Cut(s.p.ir, snap, end)}
	if s.told == nil {
		s.told, s.columns = map[int64]bool{}, merge.Columns(s.p.ir)
	}
	for _, n := range snap.Stacks(s.columns, s.told) {
		told.Stacks = append(told.Stacks, merge.Stack{Number: n, Folded: merge.Shortened(s.folded(n))})
	}
	return told.Bytes(s.p.ir), nil
}
