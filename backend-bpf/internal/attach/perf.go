package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/cpus"
)

// Clock is the event that samples every period ns.
func Clock(period uint64) probe.PerfEvent {
	return probe.PerfEvent{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Period: period}
}

// Perf runs a program at every hit of an event: on all CPUs, or in the threads of process pid and in what they make, if
// that is not 0.
func (s *Set) Perf(prog int, ev probe.PerfEvent, pid int, cookie uint64) error {
	attr := unix.PerfEventAttr{
		Type: ev.Type, Config: ev.Config, Sample: ev.Period,
		Bp_type: ev.Access, Ext1: ev.Addr, Ext2: ev.Len, // bp_addr and bp_len share the places of config1 and config2
	}
	if ev.Hz != 0 {
		attr.Sample, attr.Bits = ev.Hz, unix.PerfBitFreq
	}
	if pid != 0 {
		return s.perfThreads(prog, attr, pid, cookie)
	}
	online, err := cpus.Online()
	if err != nil {
		return err
	}
	for _, cpu := range online {
		err := s.perf(prog, attr, -1, cpu, cookie)
		if err == unix.ENODEV {
			continue // went offline
		}
		if err != nil {
			return fmt.Errorf("count on CPU %d: %w", cpu, explainPerf(ev.Type, err))
		}
	}
	s.note("%s on %d CPUs", perfText(ev), len(online))
	return nil
}

func (s *Set) perfThreads(prog int, attr unix.PerfEventAttr, pid int, cookie uint64) error {
	attr.Bits |= unix.PerfBitInherit
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
	opened := 0
	for _, task := range tasks {
		tid, _ := strconv.Atoi(filepath.Base(task))
		err := s.perf(prog, attr, tid, -1, cookie)
		if err == unix.ESRCH {
			continue // this thread has ended
		}
		if err != nil {
			return fmt.Errorf("count in thread %d: %w", tid, explainPerf(attr.Type, err))
		}
		opened++
	}
	if opened == 0 {
		return fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	s.note("type %d config %d in %d threads of process %d", attr.Type, attr.Config, opened, pid)
	return nil
}

// perf opens one event, attaches the program and starts it.
func (s *Set) perf(prog int, attr unix.PerfEventAttr, pid, cpu int, cookie uint64) error {
	perf, err := kern.PerfEvent(attr, pid, cpu)
	if err != nil {
		return err
	}
	s.perfs = append(s.perfs, perf)
	fd, err := kern.LinkPerf(prog, perf, cookie)
	if err != nil {
		return err
	}
	s.links = append(s.links, link{fd})
	return kern.PerfEnable(perf)
}

func perfText(ev probe.PerfEvent) string {
	switch {
	case ev.Type == unix.PERF_TYPE_BREAKPOINT:
		return fmt.Sprintf("watchpoint at %#x", ev.Addr)
	case ev.Hz != 0:
		return fmt.Sprintf("type %d config %d, %d times a second", ev.Type, ev.Config, ev.Hz)
	}
	return fmt.Sprintf("type %d config %d, every %d", ev.Type, ev.Config, ev.Period)
}
