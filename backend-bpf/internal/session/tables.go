package session

import (
	"fmt"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/unwind"
)

// openTables prepares the maps by which handlers walk stacks, if any does.
func (s *Session) openTables() (err error) {
	if s.col.Maps[plan.MapRows] == nil {
		return nil
	}
	fd := func(name string) int { return s.col.Maps[name].FD() }
	m := unwind.Maps{Rows: fd(plan.MapRows), Ranges: fd(plan.MapRanges), Procs: fd(plan.MapProcs),
		Changed: fd(plan.MapChanged), Files: fd(plan.MapFiles), Wanted: fd(plan.MapWanted)}
	s.walks, err = unwind.Open(m, s.word(plan.CtlLooking), s.cfg.Cache,
		func(format string, args ...any) { s.logf(1, format, args...) })
	if err != nil {
		return fmt.Errorf("prepare the walk along stacks: %w", err)
	}
	if features.OtherPidNS() {
		return nil // the kernel's numbers of processes cannot be told from here: it is asked for all code
	}
	if err := s.walks.Follow(); err != nil {
		return fmt.Errorf("follow what processes map: %w", err)
	}
	return nil
}

// enterTables enters the processes whose stacks handlers may meet.
func (s *Session) enterTables() error {
	if s.walks == nil {
		return nil
	}
	for _, a := range s.plan.Attach {
		for _, t := range a.Sites {
			if a.Kind.InUser() {
				s.walks.Prepare(t.Site.Program.Path)
			}
		}
	}
	if features.OtherPidNS() {
		return nil
	}
	if err := s.attachTracepoint(s.col.Progs[plan.ProgChanged], 0); err != nil {
		return fmt.Errorf("follow what processes map: %w", err)
	}
	if s.cfg.Target != 0 {
		s.walks.Enter(s.cfg.Target)
	}
	return nil
}
