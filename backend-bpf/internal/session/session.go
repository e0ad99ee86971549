// Package session runs a translated program: it loads maps and programs, attaches
// them, passes their records on, and takes everything away again.
//
// In: a plan.Plan. Out: a backend.Session. What the kernel refuses comes back as a
// *diag.Diagnostic at the script's line.
package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/peek"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/ring"
	"github.com/gostap/gostap/backend-bpf/internal/store"
	"github.com/gostap/gostap/backend-bpf/internal/unwind"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/runtime/cpus"
	"github.com/gostap/gostap/runtime/wire"
)

// DefaultRing is the bytes of the output buffer where -s says nothing: 25 ms of two million records of 64
// bytes a second. It takes twice as much of the tracer's address space, and 0.2 ms a megabyte to make.
const DefaultRing = 4 << 20

// Config is what a session runs.
type Config struct {
	Plan *plan.Plan
	// Files says which file each path was when the program was built; those not in it are not compared.
	Files map[string]debuginfo.FileID
	backend.LoadOptions
	// NoMulti keeps to perf events even where the kernel has uprobe_multi; for tests.
	NoMulti bool
}

// Session implements backend.Session.
type Session struct {
	cfg   Config
	plan  *plan.Plan
	col   *load.Collection
	store *store.Store
	ring  *ring.Reader
	peek  *peek.Reader   // nil where no handler on the host reads kernel memory
	walks *unwind.Tables // nil where no handler walks stacks by tables
	set   attach.Set
	multi map[string]bool // programs that were loaded for uprobe_multi
	cpus  int
	cool  func()

	heat   heat
	timing int // descriptor of EnableStats, -1 if nobody asks how often programs ran

	control, scalars []byte
	counters         []byte
	clock            time.Time // when the clock's offset was last written
	report, notes    []string
	traced           map[string]*traced.File // by path
	scope            map[uint64]int          // what SetScope was told
	mu               sync.Mutex              // Close
	closed           bool
}

// Load makes maps and programs. Nothing is attached.
func Load(ctx context.Context, cfg Config) (_ *Session, err error) {
	s := &Session{cfg: cfg, plan: cfg.Plan, multi: map[string]bool{}, timing: -1}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := s.checkPlan(); err != nil {
		return nil, err
	}
	if err := s.checkKernel(); err != nil {
		return nil, err
	}
	for _, a := range s.plan.Attach {
		if s.cool == nil && a.Kind.InUser() {
			s.cool = attach.Warm() // while programs are loaded, the target is started and begin handlers run
		}
	}
	if s.cpus, err = cpus.Possible(); err != nil {
		return nil, err
	}
	ringBytes := uint32(DefaultRing)
	if s.plan.Schema.Stacks() {
		ringBytes *= 4
	}
	if cfg.BufferMB > 0 {
		for ringBytes = 1 << 20; ringBytes < uint32(min(cfg.BufferMB, 1024))<<20; ringBytes *= 2 {
		}
	}
	start := time.Now()
	opts := load.Options{Slow: s.slow, Patience: patience, Entries: map[string]uint32{plan.MapOutput: ringBytes}}
	if cfg.Verbose > 2 {
		opts.LogLevel = 1
	}
	if s.col, err = loading(ctx, s.spec(), opts); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, s.explain(err)
	}
	s.logf(1, "loaded %d programs and %d maps in %v", len(s.col.Progs), len(s.col.Maps),
		time.Since(start).Round(time.Microsecond))
	for name, p := range s.col.Progs {
		if st, err := kern.ProgInfo(p.FD()); cfg.Verbose > 1 && err == nil {
			s.logf(2, "program %s: %d instructions, the verifier walked %d", name, p.Insns, st.Walked)
		}
		if p.Log != "" {
			s.logf(3, "verifier on %s:\n%s", name, p.Log)
		}
	}
	if err := s.checkStacks(); err != nil {
		return nil, err
	}
	if cfg.Timing || s.countsEvents() {
		if s.timing, err = kern.EnableStats(); err != nil && cfg.Timing {
			return nil, fmt.Errorf("time the handlers (-t): %w", err)
		}
	}
	if s.control, err = mapValue(s.col.Maps[plan.MapControl], plan.CtlSize); err != nil {
		return nil, err
	}
	m := s.col.Maps[plan.MapCounters]
	if s.counters, err = mapValue(m, int(8*m.Entrys)); err != nil {
		return nil, err
	}
	if m := s.col.Maps[plan.MapScalars]; m != nil {
		if s.scalars, err = mapValue(m, int(m.ValueSize)); err != nil {
			return nil, err
		}
	}
	if err := s.initControl(); err != nil {
		return nil, err
	}
	s.store, err = store.New(store.Config{Program: s.plan.Program, Globals: s.plan.Globals, Maps: s.col.Maps,
		Scalars: s.scalars, Control: s.control, CPUs: s.cpus})
	if err != nil {
		return nil, err
	}
	if s.plan.Peeks {
		if s.peek, err = peek.New(); err != nil {
			return nil, err
		}
	}
	if err := s.openTables(); err != nil {
		return nil, err
	}
	s.ring, err = ring.Open(s.col.Maps[plan.MapOutput].FD(), int(ringBytes))
	if err != nil {
		return nil, err
	}
	return s, ctx.Err()
}

// checkPlan sees to what the rest relies on.
func (s *Session) checkPlan() error {
	if s.plan.Spec == nil {
		return errors.New("the plan has no programs")
	}
	for _, name := range []string{plan.MapOutput, plan.MapControl, plan.MapCounters} {
		if s.plan.Spec.Maps[name] == nil {
			return fmt.Errorf("the plan has no map %s", name)
		}
	}
	if n := s.plan.Spec.Maps[plan.MapControl].ValueSize; n < plan.CtlSize {
		return fmt.Errorf("the plan's control map has %d bytes", n)
	}
	if n := s.plan.Spec.Maps[plan.MapCounters].MaxEntries; n < uint32(plan.CounterRow) {
		return fmt.Errorf("the plan's counter map has %d entries", n)
	}
	for _, a := range s.plan.Attach {
		if s.plan.Spec.Programs[a.Prog] == nil {
			return fmt.Errorf("the plan attaches program %s, which it does not have", a.Prog)
		}
	}
	return nil
}

// spec adapts the plan to this kernel: programs at uprobes are loaded for the kind of link that they get.
func (s *Session) spec() *ebpf.CollectionSpec {
	spec := &ebpf.CollectionSpec{Maps: s.plan.Spec.Maps,
		Programs: make(map[string]*ebpf.ProgramSpec, len(s.plan.Spec.Programs))}
	for name, ps := range s.plan.Spec.Programs {
		spec.Programs[name] = ps
	}
	users := map[string]bool{}
	for _, a := range s.plan.Attach {
		if !a.Kind.InUser() {
			continue
		}
		multi := !s.cfg.NoMulti && features.Has(features.UprobeMulti)
		for _, t := range a.Sites {
			if multi && t.Site.Program.PID != 0 && !features.Has(features.UprobeMultiPID) {
				multi = false
			}
		}
		if old, ok := users[a.Prog]; ok {
			multi = multi && old // one program has one form
		}
		users[a.Prog] = multi
	}
	s.kernelSpec(spec)
	for name, multi := range users {
		s.multi[name] = multi
		if multi {
			ps := *spec.Programs[name]
			ps.AttachType = ebpf.AttachTraceUprobeMulti
			spec.Programs[name] = &ps
		}
	}
	return spec
}

func mapValue(m *load.Map, size int) ([]byte, error) {
	b, err := unix.Mmap(m.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the value of %s: %w", m.Name, err)
	}
	return b, nil
}

func (s *Session) word(off int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&s.control[off]))
}

func (s *Session) dword(off int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.control[off]))
}

// initControl fills in what handlers want to know about the tracer.
func (s *Session) initControl() error {
	s.word(plan.CtlTarget).Store(uint32(s.cfg.Target))
	dev, ino, err := features.PidNS()
	if err != nil {
		return fmt.Errorf("find the process namespace by /proc/self/ns/pid (is /proc mounted?): %w", err)
	}
	s.dword(plan.CtlPidNSDev).Store(dev)
	s.dword(plan.CtlPidNSIno).Store(ino)
	s.word(plan.CtlTracer).Store(uint32(os.Getpid()))
	s.syncClock(time.Now())
	return nil
}

// syncClock writes how far the wall clock is from the clock that handlers read. The wall clock may be set or slewed
// at any time, so it is done again each second.
func (s *Session) syncClock(now time.Time) {
	if !s.clock.IsZero() && now.Sub(s.clock) < time.Second {
		return
	}
	first := s.clock.IsZero()
	s.clock = now
	offset, off, ok := clockOffset(func(clock int32) (int64, error) {
		var ts unix.Timespec
		err := unix.ClockGettime(clock, &ts)
		return ts.Nano(), err
	})
	at := s.dword(plan.CtlBootOffset)
	if was := int64(at.Load()); ok && (first || offset > was+off || offset < was-off) {
		at.Store(uint64(offset))
	}
}

// clockOffset gives CLOCK_REALTIME - CLOCK_BOOTTIME in ns, and by how much that may be off: clocks are read one after
// the other, and the thread may wait for a processor in between, so the closest of some attempts counts.
func clockOffset(read func(clock int32) (int64, error)) (offset, off int64, ok bool) {
	for range 8 {
		before, err1 := read(unix.CLOCK_BOOTTIME)
		wall, err2 := read(unix.CLOCK_REALTIME)
		after, err3 := read(unix.CLOCK_BOOTTIME)
		if err1 != nil || err2 != nil || err3 != nil {
			return 0, 0, false
		}
		if width := (after - before + 1) / 2; !ok || width < off {
			offset, off, ok = wall-before-(after-before)/2, width, true
		}
	}
	return offset, off, ok
}

func (s *Session) logf(level int, format string, args ...any) {
	if s.cfg.Logf != nil && s.cfg.Verbose >= level {
		s.cfg.Logf(format, args...)
	}
}

// Store implements backend.Session.
func (s *Session) Store() interp.Store { return s.store }

// HostProbes implements backend.Session.
func (s *Session) HostProbes() []int { return s.plan.HostProbes }

// Schema implements backend.Session.
func (s *Session) Schema() *wire.Schema { return s.plan.Schema }

// Deferred implements backend.Session.
func (s *Session) Deferred(capture int) *ir.Func {
	if capture < 0 || capture >= len(s.plan.Deferred) {
		return nil
	}
	return s.plan.Deferred[capture]
}

// Peeks implements interp.Peeker, as do the next three.
func (s *Session) Peeks() bool { return s.peek != nil }

func (s *Session) ReadKernel(buf []byte, addr uint64) error { return s.peek.ReadKernel(buf, addr) }

func (s *Session) CurrentTask() (uint64, error) { return s.peek.CurrentTask() }

func (s *Session) Jiffies() (int64, error) { return s.peek.Jiffies() }

// SetTarget implements backend.Session.
func (s *Session) SetTarget(pid int) error {
	if err := unix.Kill(pid, 0); err == unix.ESRCH {
		return fmt.Errorf("process %d does not exist", pid)
	}
	s.cfg.Target = pid
	s.word(plan.CtlTarget).Store(uint32(pid))
	return nil
}

// Read implements backend.Session.
func (s *Session) Read(deadline time.Time, fn func(rec []byte) error) error {
	now := time.Now()
	s.syncClock(now)
	// The clock's offset is kept fresh while nothing happens, too.
	for slice := now.Add(time.Second); slice.Before(deadline); slice = slice.Add(time.Second) {
		n, err := s.ring.Read(slice, fn)
		if n > 0 || err != nil || time.Now().Before(slice) {
			return err
		}
		s.syncClock(time.Now())
	}
	_, err := s.ring.Read(deadline, fn)
	return err
}

// Wake implements backend.Session.
func (s *Session) Wake() { s.ring.Wake() }

// State implements backend.Session.
func (s *Session) State() wire.State { return wire.State(s.word(plan.CtlState).Load()) }

// SetState implements backend.Session. A session only moves forward: a handler that has ended it is not overruled
// by a host that starts it at the same moment.
func (s *Session) SetState(st wire.State) error {
	w := s.word(plan.CtlState)
	for {
		old := w.Load()
		if wire.State(old) >= st || w.CompareAndSwap(old, uint32(st)) {
			return nil
		}
	}
}

// Overloaded implements backend.Guarded.
func (s *Session) Overloaded() (backend.Overload, bool) {
	n := int(s.word(plan.CtlOverload).Load())
	return backend.Overload{Probe: n - 1, Took: time.Duration(s.dword(plan.CtlSpent).Load()),
		Of: time.Duration(s.dword(plan.CtlOf).Load())}, n > 0
}

// Counters implements backend.Session.
func (s *Session) Counters() (wire.Counters, error) {
	c := wire.Counters{ByCause: make([]uint64, ir.NumCauses)}
	for at := 0; at+8*plan.CounterRow <= len(s.counters); at += 8 * plan.CounterRow {
		for i := range plan.CounterRow {
			n := (*atomic.Uint64)(unsafe.Pointer(&s.counters[at+8*i])).Load()
			switch {
			case i < int(ir.NumCauses):
				c.ByCause[i] += n
			case i != plan.CounterHits:
				c.Errors += n
			}
		}
	}
	forks := ^uint64(0)
	for name, p := range s.col.Progs {
		st, err := kern.ProgInfo(p.FD())
		if err != nil {
			return c, fmt.Errorf("read the counters of program %s: %w", p.Name, err)
		}
		if name == plan.ProgChanged {
			continue
		}
		if name == plan.ProgFamily || name == plan.ProgFamilyRaw {
			forks = min(forks, st.Missed) // one of them is enough
			continue
		}
		c.ByCause[ir.LostRecursed] += st.Missed
	}
	if forks != ^uint64(0) {
		c.ByCause[ir.LostRecursed] += forks
	}
	missed := s.set.Missed()
	c.ByCause[ir.LostRecursed] += missed.Entries
	c.ByCause[ir.LostActive] += missed.Returns
	return c, nil
}

// Detach implements backend.Session.
func (s *Session) Detach() error { return s.set.Detach() }

// Close implements backend.Session.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.set.Detach()
	if s.cool != nil {
		s.cool()
	}
	kern.Close(s.timing)
	s.stopHeat()
	if s.ring != nil {
		s.ring.Close()
	}
	if s.walks != nil {
		s.walks.Close()
	}
	if s.store != nil {
		s.store.Close()
	}
	if s.peek != nil {
		s.peek.Close()
	}
	for _, b := range [][]byte{s.control, s.scalars, s.counters} {
		if b != nil {
			unix.Munmap(b)
		}
	}
	s.counters = nil
	if s.col != nil {
		s.col.Close()
	}
	s.set.Settle()
	return err
}

// Fired implements backend.Firer.
func (s *Session) Fired(i int) (fired, known bool) {
	if !s.plan.Fired || i >= plan.MaxFired {
		return false, false
	}
	return s.word(plan.CtlFired+i&^3).Load()>>(8*(i&3))&0xff != 0, true
}

// Hits implements backend.HitCounter.
func (s *Session) Hits() (n uint64, counted bool) {
	for at := 8 * plan.CounterHits; at < len(s.counters); at += 8 * plan.CounterRow {
		n += (*atomic.Uint64)(unsafe.Pointer(&s.counters[at])).Load()
	}
	return n, s.plan.Hits
}

// Times implements backend.Timer. A handler that is reached by a tail call is timed as a part of the program that goes
// to it.
func (s *Session) Times() []backend.ProbeTime {
	var out []backend.ProbeTime
	for _, a := range s.plan.Attach {
		prog := s.col.Progs[a.Prog]
		if s.timing < 0 || prog == nil || a.Table != "" {
			continue
		}
		if st, err := kern.ProgInfo(prog.FD()); err == nil {
			out = append(out, backend.ProbeTime{Probe: a.Probe, Hits: st.RunCount, Took: time.Duration(st.RunNs)})
		}
	}
	return out
}

// Report implements backend.Session.
func (s *Session) Report() []string {
	return append(append([]string(nil), s.report...), s.set.Report()...)
}

var (
	_ backend.Session = (*Session)(nil)
	_ backend.Warner  = (*Session)(nil)
	_ backend.Noter   = (*Session)(nil)
	_ backend.Guarded = (*Session)(nil)
	_ backend.Timer   = (*Session)(nil)
	_ backend.Firer   = (*Session)(nil)
	_ backend.Pricer  = (*Session)(nil)
	_ backend.Looker  = (*Session)(nil)
	_ interp.Peeker   = (*Session)(nil)
)
