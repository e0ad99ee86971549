package session

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// DefaultProfile is the period of timer.profile: 1000 times a second of each CPU.
const DefaultProfile = time.Millisecond

// Attach implements backend.Session. While places are attached nothing counts, so that all of them begin at the same
// moment: a return whose entry was not there yet would be taken for one that was missed.
func (s *Session) Attach(ctx context.Context) (err error) {
	state := s.word(plan.CtlState)
	if state.CompareAndSwap(uint32(wire.Running), uint32(wire.Starting)) {
		defer state.CompareAndSwap(uint32(wire.Starting), uint32(wire.Running))
	}
	files := map[string]*attach.File{}
	defer func() {
		for _, f := range files {
			f.Close()
		}
		if err != nil {
			s.set.Detach()
			s.report, s.traced = nil, nil
		}
	}()
	if err := s.enterTables(); err != nil {
		return err
	}
	start := time.Now()
	n := 0
	for _, a := range s.kernelLast(inOrder(s.plan.Attach)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		n += len(a.Sites)
		if err := s.attachOne(a, files); err != nil {
			return s.at(a, err)
		}
		if a.Prog == plan.ProgFamily {
			if err := s.enterFamily(); err != nil {
				return err
			}
		}
		if a.Watch != "" {
			if err := s.enterRunning(a.Watch, a.Sites[0].Site.Program.Path); err != nil {
				return err
			}
		}
	}
	s.logf(1, "attached %d places with %d links in %v", n, s.set.Links(), time.Since(start).Round(time.Microsecond))
	return nil
}

// inOrder lists what is to be attached so that programs at one place of a program run in the order of the script: the
// kernel runs the one first that came last (kernel/events/uprobes.c, consumer_add; net/netfilter/core.c,
// nf_hook_entries_grow; kernel/bpf/trampoline.c). For places in the kernel see kernelLast.
func inOrder(as []plan.Attach) []*plan.Attach {
	var at, packets []int
	out := make([]*plan.Attach, len(as))
	for i := range as {
		out[i] = &as[i]
		switch {
		case as[i].Kind.InUser():
			at = append(at, i)
		case as[i].Kind.Class() == probe.Packet, as[i].Kind == probe.LSM:
			packets = append(packets, i)
		}
	}
	for _, at := range [][]int{at, packets} {
		for i, j := 0, len(at)-1; i < j; i, j = i+1, j-1 {
			out[at[i]], out[at[j]] = out[at[j]], out[at[i]]
		}
	}
	return out
}

// group is the sites of one program that share a link.
type group struct {
	path string
	pid  int
}

// attachers put a program where its sites are, by class of kinds. What has none fires in the tracer, or is refused
// (sel.Refused).
var attachers = [probe.NumClasses]func(*Session, *plan.Attach, *load.Prog, map[string]*attach.File) error{
	probe.Instruction: (*Session).attachInstruction,
	probe.Sample:      (*Session).attachPerf,
	probe.Packet:      (*Session).attachNetfilter,
	probe.Syscall:     (*Session).attachSyscalls,
	probe.Lifetime:    (*Session).attachEvents,
	probe.Event:       (*Session).attachEvents,
}

func (s *Session) attachOne(a *plan.Attach, files map[string]*attach.File) error {
	put := attachers[a.Kind.Class()]
	if put == nil {
		return fmt.Errorf("the eBPF back end cannot attach %v probes", a.Kind)
	}
	return put(s, a, s.col.Progs[a.Prog], files)
}

func (s *Session) attachInstruction(a *plan.Attach, prog *load.Prog, files map[string]*attach.File) error {
	if a.Kind.InKernel() {
		return s.attachKernel(a)
	}
	return s.attachUprobes(a, prog, files)
}

// attachSyscalls attaches a program of system calls, which finds out by itself which of its sites a hit is for.
func (s *Session) attachSyscalls(a *plan.Attach, prog *load.Prog, _ map[string]*attach.File) error {
	if a.Table != "" {
		return s.enlist(a, prog)
	}
	for _, t := range a.Sites {
		s.report = append(s.report, fmt.Sprintf("%s: %s", t.Site.Title(), prog.AttachTo))
	}
	return s.attachTracepoint(prog, 0)
}

func (s *Session) attachEvents(a *plan.Attach, prog *load.Prog, _ map[string]*attach.File) error {
	for _, t := range a.Sites {
		if err := s.attachTracepoint(prog, t.Cookie); err != nil {
			return err
		}
		s.report = append(s.report, fmt.Sprintf("%s: %s", t.Site.Title(), prog.AttachTo))
	}
	return nil
}

// attachTracepoint attaches a program to the tracepoint that it was made for.
func (s *Session) attachTracepoint(prog *load.Prog, cookie uint64) error {
	switch prog.Type {
	case ebpf.TracePoint:
		return s.set.Event(prog.FD(), prog.AttachTo, cookie)
	case ebpf.Tracing, ebpf.LSM:
		return s.set.Tracing(prog.FD(), uint32(prog.AttachType), prog.AttachTo, cookie)
	}
	return s.set.Tracepoint(prog.FD(), prog.AttachTo, cookie)
}

// attachPerf attaches a program to the clock or to what its sites count.
func (s *Session) attachPerf(a *plan.Attach, prog *load.Prog, _ map[string]*attach.File) error {
	for _, t := range a.Sites {
		ev, pid := t.Site.Perf, 0
		if a.Kind == probe.Profile {
			ev = attach.Clock(uint64(cmp.Or(t.Site.Timer.Period, DefaultProfile)))
		} else if t.Site.Program.Target {
			if err := traced.NeedsTarget(t.Site, s.cfg.Target); err != nil {
				return err
			}
			pid = s.cfg.Target
		}
		if err := s.set.Perf(prog.FD(), ev, pid, t.Cookie); err != nil {
			return err
		}
	}
	return nil
}

// attachNetfilter attaches a program where packets come by. The kernel takes one program at a place and priority.
func (s *Session) attachNetfilter(a *plan.Attach, prog *load.Prog, _ map[string]*attach.File) error {
	for _, t := range a.Sites {
		h, err := probe.ParseNetHook(t.Site.Event)
		if err != nil {
			return err
		}
		if err := s.set.Netfilter(prog.FD(), t.Site.Title(), h); err != nil {
			return err
		}
		s.report = append(s.report, t.Site.Title()+": netfilter, in this network namespace")
	}
	return nil
}

// countsEvents reports whether hits are to be compared with what the kernel has counted (attach.Set).
func (s *Session) countsEvents() bool {
	return slices.ContainsFunc(s.plan.Attach, func(a plan.Attach) bool {
		return a.Kind == probe.Perf && a.Sites[0].Site.Perf.Period > 0
	})
}

// enlist enters a program of system calls into the table through which it is gone to. The program that does that is
// attached behind all others.
func (s *Session) enlist(a *plan.Attach, prog *load.Prog) error {
	m := s.col.Maps[a.Table]
	if m == nil {
		return fmt.Errorf("the plan has no map %s", a.Table)
	}
	var key, val [4]byte
	binary.NativeEndian.PutUint32(val[:], uint32(prog.FD()))
	for _, t := range a.Sites {
		binary.NativeEndian.PutUint32(key[:], uint32(t.Site.Syscall.Nr))
		if err := kern.Update(m.FD(), key[:], val[:], kern.UpdateAny); err != nil {
			return fmt.Errorf("enter %s into the table of system calls: %w", t.Site.Title(), err)
		}
		s.report = append(s.report, fmt.Sprintf("%s: %s, by number", t.Site.Title(), prog.AttachTo))
	}
	return nil
}

func (s *Session) attachUprobes(a *plan.Attach, prog *load.Prog, files map[string]*attach.File) error {
	var order []group
	sites := map[group][]attach.Site{}
	for _, t := range a.Sites {
		st := t.Site
		g := group{st.Program.Path, st.Program.PID}
		// The target's children may run the file as well, so the link is not limited to the target.
		if err := traced.NeedsTarget(st, s.cfg.Target); err != nil {
			return err
		}
		if a.Kind.Returns() && st.Go() {
			return fmt.Errorf("%s: %w", st.Title(), attach.ErrGoReturn)
		}
		f, err := s.open(st, files)
		if err != nil {
			return err
		}
		if sites[g] == nil {
			order = append(order, g)
		}
		sites[g] = append(sites[g], attach.Site{Offset: st.Program.Offset, RefCtr: st.Program.RefCtr, Cookie: t.Cookie,
			Name: nameOf(st), C: a.Kind.Returns() && inC(st), Check: !st.At.Insn.Emulated() &&
				st.At.Insn != debuginfo.InsnRet})
		if s.traced == nil {
			s.traced = map[string]*traced.File{}
		}
		if s.traced[st.Program.Path] == nil {
			file := f.File
			s.traced[st.Program.Path] = &file
		}
		if g.pid == 0 {
			s.traced[st.Program.Path].All = true
		}
		s.report = append(s.report, fmt.Sprintf("%s: %s at %#x of %s, %s", st.Title(), a.Kind, st.Program.Offset,
			st.Program.Path,
			cost(st)))
	}
	for _, g := range order {
		u := &attach.Uprobes{Prog: prog.FD(), File: files[g.path], PID: g.pid, Return: a.Kind.Returns(),
			Multi: s.multi[a.Prog], Sites: sites[g]}
		if err := s.set.Uprobes(u); err != nil {
			return err
		}
	}
	return nil
}

// inC reports whether a site is known to be C code of a Go program.
func inC(st *probe.Site) bool {
	if st.Image == nil {
		return false
	}
	g := st.Image.Goroutine(st.At)
	return g != nil && g.System
}

// Warnings implements backend.Warner.
func (s *Session) Warnings() []string {
	out := s.set.Warnings()
	for _, path := range slices.Sorted(maps.Keys(s.traced)) {
		out = append(out, s.traced[path].Warnings()...)
	}
	return out
}

// open opens a site's file and makes sure that it is the one that was resolved.
func (s *Session) open(st *probe.Site, files map[string]*attach.File) (*attach.File, error) {
	if f := files[st.Program.Path]; f != nil {
		return f, nil
	}
	f, err := attach.OpenFile(st.Program.Path, s.cfg.Files[st.Program.Path])
	if err != nil {
		return nil, err
	}
	files[st.Program.Path] = f
	return f, nil
}

func nameOf(st *probe.Site) string {
	if st.Func != "" {
		return st.Func
	}
	return st.Point
}

// cost says what a hit costs besides its handler.
func cost(st *probe.Site) string {
	in := st.At.Insn
	switch {
	case in == debuginfo.InsnUnknown:
		return "instruction not classified"
	case in == debuginfo.InsnNop5:
		return "nop5: the cheapest, where the kernel turns it into a call"
	case in.Emulated():
		return in.String() + ": emulated by the kernel"
	}
	return in.String() + ": about ten times the cost of an emulated instruction"
}
