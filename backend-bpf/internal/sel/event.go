package sel

import (
	"encoding/binary"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/compiler/probe"
)

// The context of a program at a raw tracepoint is its arguments, a word each, without the tracer's own (for others see perfevent.go). System calls are the
// tracepoints sys_enter(struct pt_regs *regs, long id) and sys_exit(struct pt_regs *regs, long ret).

// syscallRegs are the offsets in struct pt_regs of a system call's arguments: di, si, dx, r10, r8, r9.
var syscallRegs = [...]int{112, 104, 96, 56, 72, 64}

// regsOrigAX is the offset of orig_ax, which holds the number of the system call until it is over.
const regsOrigAX = 120

// eventWord is hook.word at tracepoints.
func (g *gen) eventWord(in *ir.Instr) {
	switch {
	case !g.record:
		g.load(g.longs[in.Dst], g.ctx, 8*int(in.N), asm.DWord)
	case in.N == 0:
		g.mov(g.longs[in.Dst], g.number(g.taskRegs()))
	default:
		g.load(g.longs[in.Dst], g.ctx, g.recordWord(), asm.DWord)
	}
}

// syscallWord is hook.word at system calls.
func (g *gen) syscallWord(in *ir.Instr) {
	kind := g.h.Sites[0].Kind
	switch {
	case in.N > ir.SyscallRet || in.N == ir.SyscallRet && !kind.Returns():
		g.noEvent(in)
	case int(in.N) < len(syscallRegs) && g.record && !kind.Returns():
		g.load(g.longs[in.Dst], g.ctx, recordArgs+8*int(in.N), asm.DWord)
	case int(in.N) < len(syscallRegs):
		g.load(g.longs[in.Dst], g.callRegs(), syscallRegs[in.N], asm.DWord)
	case in.N == ir.SyscallNr:
		g.mov(g.longs[in.Dst], g.syscallNr())
	case g.record:
		g.load(g.longs[in.Dst], g.ctx, recordRet, asm.DWord)
	default:
		g.load(g.longs[in.Dst], g.ctx, 8, asm.DWord)
	}
}

// recordWord is the offset in a record of system calls of what the tracepoint has as its second argument.
func (g *gen) recordWord() int {
	if g.h.Sites[0].Event == eventLeave {
		return recordRet
	}
	return recordNr
}

// callRegs gives the registers of the system call.
func (g *gen) callRegs() mach.Reg {
	if g.record {
		return g.taskRegs()
	}
	return g.get(g.ctx, 0, asm.DWord)
}

// syscallNr gives the number of the system call.
func (g *gen) syscallNr() mach.Reg {
	if g.record {
		return g.get(g.ctx, recordNr, asm.DWord)
	}
	if g.hook().event == eventEnter {
		return g.get(g.ctx, 8, asm.DWord)
	}
	return g.get(g.callRegs(), regsOrigAX, asm.DWord)
}

// syscallSlots bounds the numbers of system calls: greater ones are of other tables (x32) or do not exist.
const syscallSlots = 512

// tsCompat is TS_COMPAT of arch/x86/include/asm/thread_info.h: the thread is in a system call of the 32-bit table.
const tsCompat = 2

// syscallFilter is hook.first at system calls: it goes on only in one that a site is for, and not in the tracer's
// own. Calls by way of the 32-bit table have other numbers and hit nothing.
func (g *gen) syscallFilter(out *mach.Block) {
	if g.numbered(out) {
		g.tracerFilter(out)
	}
}

func (g *gen) numbered(out *mach.Block) bool {
	s := g.h.Sites[0]
	if len(g.h.Sites) == 1 {
		if s.Syscall != probe.AnySyscall {
			g.unlessI(asm.JNE, g.syscallNr(), int64(s.Syscall), out)
		}
	} else if !g.anySyscall() {
		g.unlessI(asm.JEq, g.syscallSite(), noSite, out)
	}
	in := &ir.Instr{Pos: g.u.P.Probes[g.h.Probe].Pos}
	off, ok := g.offset(in, "task_struct", "thread_info.status")
	if !ok {
		return false
	}
	st := g.get(g.call(asm.FnGetCurrentTaskBtf), off, asm.Word)
	g.unlessI(asm.JSet, st, tsCompat, out)
	if s.Path != "" && s.PID == 0 && !s.Target {
		g.executable(in, s.Path, out)
	}
	return true
}

// tracepointFilter is hook.first at tracepoints.
func (g *gen) tracepointFilter(out *mach.Block) {
	if e := g.h.Sites[0].Event; e == eventEnter || e == eventLeave {
		g.tracerFilter(out)
	}
}

// tracerFilter leaves out the system calls of the tracer itself: each line that it writes would be an event, and
// each event a line.
func (g *gen) tracerFilter(out *mach.Block) {
	if s := g.h.Sites[0]; s.PID == 0 && !s.Target {
		g.unless(asm.JEq, g.tgid(), g.get(g.mapVal(plan.MapControl, 0), plan.CtlTracer, asm.Word), out)
	}
}

// noSite is the index of the site of a system call for which there is none.
const noSite = 0xffff

func (g *gen) anySyscall() bool {
	return slices.ContainsFunc(g.h.Sites, func(s *probe.Site) bool { return s.Syscall == probe.AnySyscall })
}

// syscallSite gives the index of the site that the system call's number is for, noSite if there is none. It is looked up
// in a table.
func (g *gen) syscallSite() mach.Reg {
	table := make([]byte, 2*syscallSlots+2) // the last entry is for all greater numbers
	other := noSite
	for i, s := range g.h.Sites {
		if s.Syscall == probe.AnySyscall {
			other = g.h.IDs[i]
		}
	}
	for i := 0; i < len(table); i += 2 {
		binary.LittleEndian.PutUint16(table[i:], uint16(other))
	}
	for i, s := range g.h.Sites {
		if s.Syscall >= 0 && s.Syscall < syscallSlots {
			binary.LittleEndian.PutUint16(table[2*s.Syscall:], uint16(g.h.IDs[i]))
		}
	}
	i := g.tight(g.syscallNr(), syscallSlots)
	p := g.mapVal(plan.MapText, g.textOf("\x00syscalls\x00"+string(table))+len("\x00syscalls\x00"))
	g.aluI(asm.LSh, i, 1)
	g.alu(asm.Add, p, i)
	return g.get(p, 0, asm.Half)
}

// dispatcherAt makes the program that goes to the handler of a system call by a tail call: handlers are the members of the
// array table, by number. kind is ProcessSyscall or ProcessSyscallReturn.
func dispatcherAt(u *Unit, name, table string, kind probe.Kind) (*ebpf.ProgramSpec, *ebpf.MapSpec, error) {
	site := &probe.Site{Kind: kind, Syscall: probe.AnySyscall}
	spec, err := aside(u, name, hooks[kind].event, func(g *gen, end *mach.Block) {
		g.h = &Handler{Handler: &place.Handler{Sites: []*probe.Site{site}}}
		g.ctx = g.copy(mach.R1)
		// The kernel looks at the lower half of the index: numbers of other tables must not get there.
		nr := g.syscallNr()
		g.unlessI(asm.JGE, nr, syscallSlots, end)
		g.call(asm.FnTailCall, aReg(g.ctx), aMap(table), aReg(nr))
	})
	return spec, &ebpf.MapSpec{Name: table, Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: syscallSlots}, err
}
