package gostap

import (
	"errors"
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

// Bytes writes the part for each machine down, for Load there.
func (m *Merged) Bytes() ([]byte, error) { return m.each().Bytes() }

// Fits is Program.Fits for the part for each machine.
func (m *Merged) Fits() (*Diagnostic, error) { return m.each().Fits() }

func (m *Merged) each() *Program {
	return &Program{o: m.p.o, ir: m.parts.Each, files: m.p.files, asked: m.p.asked}
}

// Prepare makes the session of the part that runs once. start has the sessions of the machines begin and stop has them
// end; neither waits. Session.Tell gives it what each machine has counted, and Session.End says that one has ended; it
// ends with the last of them.
func (m *Merged) Prepare(machines int, start, stop func()) (_ *Session, err error) {
	defer guard(&err, nil)()
	b, err := merge.New(merge.Config{Program: m.parts.Once, Shared: m.parts.Shared, Machines: machines, Start: start,
		Stop: stop})
	if err != nil {
		return nil, err
	}
	p := &Program{o: m.p.o, ir: m.parts.Once, files: m.p.files, asked: m.p.asked}
	p.o.PID, p.o.Command = 0, ""
	return &Session{p: p, b: b, release: func() {}, ask: make(chan func(), 64), over: make(chan struct{})}, nil
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

// Snapshot gives what the session has counted since it began, for Session.Tell elsewhere; when it has ended, all of it.
func (s *Session) Snapshot() (b []byte, err error) {
	ran, failure := s.between(func() { b, err = s.snapshot() })
	if failure != nil {
		return nil, failure
	}
	if !ran {
		<-s.over
		return s.last, s.broken
	}
	return b, err
}

func (s *Session) snapshot() ([]byte, error) {
	snap, err := merge.Take(s.b.Store(), s.p.ir, s.shared)
	if err != nil {
		return nil, err
	}
	return snap.Bytes(s.p.ir), nil
}
