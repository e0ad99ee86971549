package hook

import (
	"encoding/binary"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
)

// The context of a program at a raw tracepoint is its arguments, a word each, without the tracer's own (for others see
// perfevent.go). System calls are the tracepoints sys_enter(struct pt_regs *regs, long id) and sys_exit(struct pt_regs
// *regs, long ret).

// eventWord is hook.word at tracepoints.
func (g *Hook) eventWord(in *ir.Instr) {
	switch {
	case !g.Record:
		g.Load(g.Longs[in.Dst], g.Ctx, 8*int(in.N), asm.DWord)
	case in.N == 0:
		g.Mov(g.Longs[in.Dst], g.task.Number(g.task.TaskRegs()))
	default:
		g.Load(g.Longs[in.Dst], g.Ctx, g.recordWord(), asm.DWord)
	}
}

// syscallWord is hook.word at system calls.
func (g *Hook) syscallWord(in *ir.Instr) {
	kind, args := g.H.Sites[0].Kind, g.U.P.On().Syscall.Args
	switch {
	case in.N > ir.SyscallRet || in.N == ir.SyscallRet && !kind.Returns():
		g.noEvent(in)
	case int(in.N) < len(args) && g.Record && !kind.Returns():
		g.Load(g.Longs[in.Dst], g.Ctx, recordArgs+8*int(in.N), asm.DWord)
	case int(in.N) < len(args):
		g.Load(g.Longs[in.Dst], g.callRegs(), g.U.P.On().Offset(args[in.N]), asm.DWord)
	case in.N == ir.SyscallNr:
		g.Mov(g.Longs[in.Dst], g.syscallNr())
	case g.Record:
		g.Load(g.Longs[in.Dst], g.Ctx, recordRet, asm.DWord)
	default:
		g.Load(g.Longs[in.Dst], g.Ctx, 8, asm.DWord)
	}
}

// recordWord is the offset in a record of system calls of what the tracepoint has as its second argument.
func (g *Hook) recordWord() int {
	if g.H.Sites[0].Event == eventLeave {
		return recordRet
	}
	return recordNr
}

// callRegs gives the registers of the system call.
func (g *Hook) callRegs() mach.Reg {
	if g.Record {
		return g.task.TaskRegs()
	}
	return g.Get(g.Ctx, 0, asm.DWord)
}

// syscallNr gives the number of the system call.
func (g *Hook) syscallNr() mach.Reg {
	if g.Record {
		return g.Get(g.Ctx, recordNr, asm.DWord)
	}
	if g.Row().event == eventEnter {
		return g.Get(g.Ctx, 8, asm.DWord)
	}
	return g.Get(g.callRegs(), g.U.P.On().Syscall.Number, asm.DWord)
}

// syscallSlots bounds the numbers of system calls: greater ones are of other tables (x32) or do not exist.
const syscallSlots = 512

// syscallFilter is hook.first at system calls: it goes on only in one that a site is for, and not in the tracer's
// own. Calls by way of the 32-bit table have other numbers and hit nothing.
func (g *Hook) syscallFilter(out *mach.Block) {
	if g.numbered(out) {
		g.tracerFilter(out)
	}
}

func (g *Hook) numbered(out *mach.Block) bool {
	s := g.H.Sites[0]
	if len(g.H.Sites) == 1 {
		if s.Syscall.Nr != probe.AnySyscall {
			g.UnlessI(asm.JNE, g.syscallNr(), int64(s.Syscall.Nr), out)
		}
	} else if !g.anySyscall() {
		g.UnlessI(asm.JEq, g.syscallSite(), noSite, out)
	}
	in := &ir.Instr{Pos: g.U.P.Probes[g.H.Probe].Pos}
	if other := g.U.P.On().Syscall.Compat; other != nil {
		off, ok := g.task.Offset(in, "task_struct", other.Status)
		if !ok {
			return false
		}
		st := g.Get(g.Call(asm.FnGetCurrentTaskBtf), off, asm.Word)
		g.UnlessI(asm.JSet, st, other.Mask, out)
	}
	if s.Program.Path != "" && s.Program.PID == 0 && !s.Program.Target {
		g.Executable(in, s.Program.Path, out)
	}
	return true
}

// tracepointFilter is hook.first at tracepoints.
func (g *Hook) tracepointFilter(out *mach.Block) {
	if e := g.H.Sites[0].Event; e == eventEnter || e == eventLeave {
		g.tracerFilter(out)
	}
}

// tracerFilter leaves out the system calls of the tracer itself: each line that it writes would be an event, and
// each event a line.
func (g *Hook) tracerFilter(out *mach.Block) {
	if s := g.H.Sites[0]; s.Program.PID == 0 && !s.Program.Target {
		g.Unless(asm.JEq, g.task.Tgid(), g.Get(g.MapVal(plan.MapControl, 0), plan.CtlTracer, asm.Word), out)
	}
}

// noSite is the index of the site of a system call for which there is none.
const noSite = 0xffff

func (g *Hook) anySyscall() bool {
	return slices.ContainsFunc(g.H.Sites, func(s *probe.Site) bool { return s.Syscall.Nr == probe.AnySyscall })
}

// syscallSite gives the index of the site that the system call's number is for, noSite if there is none. It is looked
// up in a table.
func (g *Hook) syscallSite() mach.Reg {
	table := make([]byte, 2*syscallSlots+2) // the last entry is for all greater numbers
	other := noSite
	for i, s := range g.H.Sites {
		if s.Syscall.Nr == probe.AnySyscall {
			other = g.H.IDs[i]
		}
	}
	for i := 0; i < len(table); i += 2 {
		binary.LittleEndian.PutUint16(table[i:], uint16(other))
	}
	for i, s := range g.H.Sites {
		if s.Syscall.Nr >= 0 && s.Syscall.Nr < syscallSlots {
			binary.LittleEndian.PutUint16(table[2*s.Syscall.Nr:], uint16(g.H.IDs[i]))
		}
	}
	i := g.Tight(g.syscallNr(), syscallSlots)
	p := g.MapVal(plan.MapText, g.TextOf("\x00syscalls\x00"+string(table))+len("\x00syscalls\x00"))
	g.AluI(asm.LSh, i, 1)
	g.Alu(asm.Add, p, i)
	return g.Get(p, 0, asm.Half)
}

// Dispatcher makes the program that goes to the handler of a system call by a tail call: handlers are the members of
// the array table, by number. kind is ProcessSyscall or ProcessSyscallReturn.
func Dispatcher(u *body.Unit, name, table string, kind probe.Kind) (*ebpf.ProgramSpec, *ebpf.MapSpec, error) {
	site := &probe.Site{Kind: kind, Syscall: probe.SyscallPart{Nr: probe.AnySyscall}}
	spec, err := aside(u, name, hooks[kind].event, func(g *Hook, end *mach.Block) {
		g.H = &body.Handler{Handler: &partition.Handler{Sites: []*probe.Site{site}}}
		g.Ctx = g.Copy(mach.R1)
		// The kernel looks at the lower half of the index: numbers of other tables must not get there.
		nr := g.syscallNr()
		g.UnlessI(asm.JGE, nr, syscallSlots, end)
		g.Call(asm.FnTailCall, emit.InReg(g.Ctx), emit.Map(table), emit.InReg(nr))
	})
	return spec, &ebpf.MapSpec{Name: table, Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4,
		MaxEntries: syscallSlots}, err
}
