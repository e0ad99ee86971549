package attach

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

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
	if ev.Type == unix.PERF_TYPE_BREAKPOINT && !watches() {
		return errors.New("this machine has no watchpoints: its processor, a virtual one most likely, lets accesses " +
			"to a watched address pass without a word")
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

// watches reports whether the processor tells of a write to a watched address. Those of some virtual machines take the
// address and never do. Where the kernel gives no watchpoint for trying, the answer is yes: it will tell why.
var watches = sync.OnceValue(func() bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	word := new(uint64)
	const onWrite = 2 // HW_BREAKPOINT_W of linux/hw_breakpoint.h
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_BREAKPOINT, Bp_type: onWrite,
		Ext1: uint64(uintptr(unsafe.Pointer(word))), Ext2: 8}
	fd, err := kern.PerfEvent(attr, 0, -1)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	if kern.PerfEnable(fd) != nil {
		return true
	}
	atomic.StoreUint64(word, 1)
	var b [8]byte
	n, err := unix.Read(fd, b[:])
	runtime.KeepAlive(word)
	return err != nil || n != len(b) || binary.NativeEndian.Uint64(b[:]) > 0
})

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
	if exact(attr) {
		s.tallied = append(s.tallied, tallied{perf, prog, attr.Sample})
	}
	return kern.PerfEnable(perf)
}

// tallied is a perf event, the program that it runs, and how many events there are to a hit.
type tallied struct {
	perf, prog int
	period     uint64
}

// exact reports whether hits of attr can be counted: clocks leave out ticks that come too late, and tracepoints
// (Set.Event) have no period: their programs run at every hit, before anything is counted.
func exact(attr unix.PerfEventAttr) bool {
	clock := attr.Type == unix.PERF_TYPE_SOFTWARE &&
		(attr.Config == unix.PERF_COUNT_SW_CPU_CLOCK || attr.Config == unix.PERF_COUNT_SW_TASK_CLOCK)
	return attr.Sample != 0 && attr.Bits&unix.PerfBitFreq == 0 && !clock
}

// throttled compares what the kernel has counted with how often the programs ran: beyond
// kernel.perf_event_max_sample_rate hits a second it leaves some out and tells nobody. It needs a system that counts
// runs of programs (kern.EnableStats).
func (s *Set) throttled() {
	want := map[int]uint64{}
	for _, c := range s.tallied {
		var b [8]byte
		if n, err := unix.Read(c.perf, b[:]); n == len(b) && err == nil {
			want[c.prog] += binary.NativeEndian.Uint64(b[:]) / c.period
		}
	}
	few := uint64(len(s.tallied)) // begun periods
	s.tallied = nil
	var lost uint64
	for prog, n := range want {
		if st, err := kern.ProgInfo(prog); err == nil && st.RunCount > 0 && n > st.RunCount+few {
			lost += n - st.RunCount
		}
	}
	if lost > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("%d hits of counted events missed because the kernel allows no "+
			"more in a second (kernel.perf_event_max_sample_rate; .sample(N) with a larger N asks for fewer)", lost))
	}
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
