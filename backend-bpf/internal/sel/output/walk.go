package output

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// The walk along the stack of a program by tables (plan.MapRows): a callback of bpf_loop that goes from one frame to
// its caller. All that it knows lies in the scratch slot, so that the verifier takes none of it for a constant and
// walks the callback once.

// The words of a walk in the scratch slot: the registers of the frame that it has come to; 1 where the pc was
// interrupted, 0 where a call returns to it, also one of the system; the addresses so far; 1 where the stack goes on
// and nothing is known of that; the ranges of the process; the addresses of the code that was met last, what is to be
// subtracted from them, and its rows; the kernel's return probes that were not met yet; how often a lock was not free;
// the mm_struct. The list of addresses lies behind them, and what is read of the mm_struct at first.
const (
	walkPC    = 0
	walkSP    = 8
	walkFP    = 16
	walkExact = 24
	walkN     = 32
	walkCut   = 40
	walkFirst = 48
	walkCount = 56
	walkLow   = 64
	walkHigh  = 72
	walkBias  = 80
	walkRows  = 88 // u32 the first
	walkMany  = 92 // u32
	walkRets  = 96
	walkBusy  = 104
	walkFrom  = 112 // of a goroutine: the least and the greatest stack pointer of frames that count
	walkTo    = 120
	walkSpace = 128 // the mm_struct
	walkNode  = 136 // of the tree of mappings, to go on from; 0 for its root
	// What was read of a node.
	walkPivots = 144
	walkHead   = walkPivots + mapleRead
	// walkMM bounds the bytes of the mm_struct with the members that tell processes apart.
	walkMM = 256
)

// WalkMaps are the maps that walks need.
func WalkMaps() map[string]*ebpf.MapSpec {
	one := func(name string, size int) *ebpf.MapSpec {
		return &ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1,
			Flags: kern.FlagMmapable}
	}
	return map[string]*ebpf.MapSpec{
		plan.MapRows:   one(plan.MapRows, 8*plan.MaxRows),
		plan.MapRanges: one(plan.MapRanges, plan.RangeSize*plan.MaxRanges),
		plan.MapProcs: {Name: plan.MapProcs, Type: ebpf.Hash, KeySize: 4, ValueSize: plan.ProcSize,
			MaxEntries: plan.MaxProcs},
		plan.MapChanged: {Name: plan.MapChanged, Type: ebpf.Hash, KeySize: 4, ValueSize: 8,
			MaxEntries: plan.MaxProcs},
		plan.MapFiles: {Name: plan.MapFiles, Type: ebpf.Hash, KeySize: plan.FileKey, ValueSize: plan.FileSize,
			MaxEntries: plan.MaxFiles},
		plan.MapWanted: {Name: plan.MapWanted, Type: ebpf.RingBuf, MaxEntries: plan.WantedSize},
	}
}

// walk stores the addresses of the program's stack, at most room of them, in a list in front of which there are
// ahead bytes for the caller, with zeros behind them, and gives how many bytes they take, and 1 in cut where the stack
// goes on. Addresses that were interrupted have backend.Interrupted in them, but for the first. It is none for a thread
// of the kernel. It starts at the program's registers, unless other says something else.
func (g *Output) walk(in *ir.Instr, room, ahead int, other *other) (list emit.Mem, n, cut mach.Reg) {
	g.U.Walks = true
	m := g.U.P.On()
	base := g.TempBuffer(walkHead + max(walkMM, ahead+8*(room+1)))
	st := emit.At(base, 0)
	list = st.Plus(walkHead + ahead)
	done := g.Block()
	for off := walkN; off < walkPivots; off += 8 {
		g.StoreIP(st, off, 0, asm.DWord)
	}
	mm, ok := g.task.Offset(in, "task_struct", "mm")
	code, ok2 := g.task.Offset(in, "mm_struct", "end_code")
	stack, ok3 := g.task.Offset(in, "mm_struct", "start_stack")
	low, high := min(code, stack), max(code, stack)+8
	if !ok || !ok2 || !ok3 || high-low > walkMM {
		return list, g.Imm(0), g.Imm(0)
	}
	space := g.task.KernelWord(g.Call(asm.FnGetCurrentTask), mm, 8)
	none, unknown, start := g.Cold(), g.Cold(), g.Block()
	g.UnlessI(asm.JEq, space, 0, none)
	g.StoreP(st, walkSpace, space, asm.DWord)

	pc, sp, fp, exact := g.Reg(), g.Reg(), g.Reg(), g.Reg()
	g.MovI(exact, 1)
	from := func(regs mach.Reg) {
		g.Mov(pc, g.hook.RegIn(regs, m.IP))
		g.Mov(sp, g.hook.RegIn(regs, m.SP))
		g.Mov(fp, g.hook.RegIn(regs, m.FP))
	}
	kernel := func() {
		regs := g.task.TaskRegs()
		from(regs)
		// In a system call the program goes on behind the instruction, which may be a function's last one.
		interrupted := g.Block()
		g.UnlessI(asm.JSLT, g.Get(regs, m.Syscall.Number, asm.DWord), 0, interrupted)
		g.MovI(exact, 0)
		g.Here(interrupted)
	}
	ready := g.Block()
	switch g.H.Sites[0].Kind.Code() {
	case probe.UserCode:
		from(g.Ctx)
	case probe.AnyCode:
		user := g.Block()
		g.hook.UnlessUser(g.Ctx, user)
		kernel()
		g.Jump(ready)
		g.Set(user)
		from(g.Ctx)
	default:
		kernel()
	}
	g.Here(ready)
	if other != nil {
		own := g.Block()
		g.UnlessI(asm.JEq, g.Copy(g.Long(other.sp)), 0, own)
		g.Mov(pc, g.Long(other.pc))
		g.Mov(sp, g.Long(other.sp))
		g.Mov(fp, g.Long(other.fp))
		g.MovI(exact, 1)
		g.Here(own)
		g.StoreP(st, walkFrom, g.Copy(g.Long(other.low)), asm.DWord)
		g.StoreP(st, walkTo, g.Copy(g.Long(other.high)), asm.DWord)
	}
	g.StoreP(st, walkPC, pc, asm.DWord)
	g.StoreP(st, walkSP, sp, asm.DWord)
	g.StoreP(st, walkFP, fp, asm.DWord)
	g.StoreP(st, walkExact, exact, asm.DWord)
	g.StoreIP(st, walkCut, 1, asm.DWord) // until it comes to the end
	if offs, ok := returnOffsets(g); ok {
		utask := g.task.KernelWord(g.Call(asm.FnGetCurrentTask), offs.utask, 8)
		g.StoreP(st, walkRets, g.task.KernelWord(utask, offs.list, 8), asm.DWord)
	}

	// The ranges of the process, as long as it is the program that it was when they were entered and has all code where
	// it was.
	whose := g.Temp(8)
	g.StoreS(whose, 0, g.task.Tgid(), asm.DWord)
	proc := g.Call(asm.FnMapLookupElem, emit.Map(plan.MapProcs), emit.OnStack(whose, 0))
	g.UnlessI(asm.JEq, proc, 0, unknown)
	r := g.Call(asm.FnProbeReadKernel, g.ArgP(st.Plus(walkHead)), emit.Const(int64(high-low)),
		emit.InReg(g.BinI(asm.Add, space, int64(low))))
	g.UnlessI(asm.JNE, r, 0, unknown)
	at := func(off int) mach.Reg { return g.GetP(st, walkHead+off-low, asm.DWord) }
	g.Unless(asm.JNE, at(stack), g.Get(proc, plan.ProcStack, asm.DWord), unknown)
	g.Unless(asm.JNE, at(code), g.Get(proc, plan.ProcCode, asm.DWord), unknown)
	changed := g.Call(asm.FnMapLookupElem, emit.Map(plan.MapChanged), emit.OnStack(whose, 0))
	g.UnlessI(asm.JEq, changed, 0, unknown)
	g.Unless(asm.JNE, g.Get(changed, 0, asm.DWord), g.Get(proc, plan.ProcChanged, asm.DWord), unknown)
	g.StoreP(st, walkFirst, g.Get(proc, plan.ProcFirst, asm.Word), asm.DWord)
	g.StoreP(st, walkCount, g.Get(proc, plan.ProcCount, asm.Word), asm.DWord)
	g.Jump(start)

	g.Set(unknown)
	g.Call(asm.FnRingbufOutput, emit.Map(plan.MapWanted), emit.OnStack(whose, 0), emit.Const(8),
		emit.Const(plan.OutputFlags))
	g.Jump(start)

	g.Set(start)
	g.Zero(list, 8*room)
	fr := g.Temp(8)
	g.StoreS(fr, 0, base, asm.DWord)
	turns := room + mostTurns
	if other != nil {
		turns += mostOther
	}
	g.Call(asm.FnLoop, emit.Const(int64(turns)), emit.Fn(g.walkStep(room, ahead, other != nil)), emit.OnStack(fr, 0),
		emit.Const(0))
	g.Jump(done)

	g.Set(none)
	g.Zero(list, 8*room)
	g.Jump(done)

	g.Set(done)
	n = g.GetP(st, walkN, asm.DWord)
	g.AluI(asm.LSh, n, 3)
	return list, n, g.GetP(st, walkCut, asm.DWord)
}

// walkStep gives the name of the callback that goes from a frame to its caller: long (u64 turn, struct { words } *).
func (g *Output) walkStep(room, ahead int, part bool) string {
	name := fmt.Sprintf("%s_walk%d", g.H.Name, room)
	if part {
		name += "p"
	}
	for _, f := range g.Funcs {
		if f.Name == name {
			return name
		}
	}
	f := mach.New(name)
	f.Params, f.Callback = 2, true
	w := walker{Code: emit.Code{F: f, Lock: -1}, room: room, list: walkHead + ahead, part: part}
	w.word = f.NewSlot(8)
	w.Set(w.Block())
	w.frame = w.Copy(mach.R2)
	w.base = w.Get(w.frame, 0, asm.DWord)
	w.step(g)
	g.Funcs = append(g.Funcs, f)
	return name
}

// walker writes the callback.
type walker struct {
	emit.Code
	base       mach.Reg // of the walk's words
	frame      mach.Reg // address of where that lies
	room, list int
	part       bool        // only frames between walkFrom and walkTo count
	cut        *mach.Block // the stack ends here and goes on
	word       mach.Slot   // for what is read of the kernel's memory
}

func (w *walker) step(g *Output) {
	m := g.U.P.On()
	next, last := w.Block(), w.Cold()
	w.cut = w.Cold()
	pc, sp, fp := w.Get(w.base, walkPC, asm.DWord), w.Get(w.base, walkSP, asm.DWord), w.Get(w.base, walkFP, asm.DWord)
	exact := w.Get(w.base, walkExact, asm.DWord)

	n := w.Tight(w.Get(w.base, walkN, asm.DWord), w.room-1)
	was, item := w.Copy(n), w.BinI(asm.LSh, n, 3)
	w.Alu(asm.Add, item, w.base)
	first, others, listed := w.Block(), w.Block(), w.Block()
	skipped := w.Block()
	if w.part {
		inside := w.Block()
		w.Unless(asm.JLT, sp, w.Get(w.base, walkFrom, asm.DWord), skipped)
		w.Cond(asm.JGT, sp, w.Get(w.base, walkTo, asm.DWord), skipped, inside)
		w.Set(inside)
	}
	w.CondI(asm.JEq, n, 0, first, others)
	w.Set(first)
	w.Store(item, w.list, pc, asm.DWord)
	w.Jump(listed)
	w.Set(others)
	w.Store(item, w.list, w.Bin(asm.Or, pc, w.BinI(asm.LSh, exact, backend.InterruptedBit)), asm.DWord)
	w.Jump(listed)
	w.Set(listed)
	w.AluI(asm.Add, n, 1)
	w.Store(w.base, walkN, n, asm.DWord)
	w.Here(skipped)

	// The code is that of the call, where one returns to the pc.
	x := w.BinI(asm.Sub, pc, 1)
	w.Alu(asm.Add, x, exact)
	w.locate(g, x, was)
	key := w.Bin(asm.Sub, x, w.Get(w.base, walkBias, asm.DWord))
	rows := w.Get(w.base, walkMany, asm.Word)
	w.UnlessI(asm.JEq, rows, 0, w.cut)
	w.AluI(asm.LSh, key, 32)
	w.Alu(asm.Or, key, w.Imm(1<<32-1))
	at := search(&w.Code, plan.MapRows, plan.MaxRows, 8, w.Get(w.base, walkRows, asm.Word), rows, key)
	row := w.Get(at, 0, asm.DWord)
	w.Unless(asm.JGT, row, key, w.cut) // before the first one
	rule := w.Copy(row)
	w.AluI(asm.LSh, rule, 32)
	w.AluI(asm.RSh, rule, 32)
	kind := w.BinI(asm.And, rule, 1<<cfi.PackOffShift-1)
	off := w.BinI(asm.LSh, rule, 64-cfi.PackFPShift)
	w.AluI(asm.ArSh, off, 64-cfi.PackFPShift+cfi.PackOffShift)
	w.AluI(asm.LSh, off, 3)
	saved := w.BinI(asm.RSh, rule, cfi.PackFPShift)

	w.UnlessI(asm.JEq, kind, int64(cfi.PackOutermost), last)
	w.UnlessI(asm.JGE, n, int64(w.room), w.cut)
	cfa := w.Reg()
	found, signal := w.Block(), w.Block()
	is := func(k cfi.PackedKind, do func()) {
		yes, no := w.Block(), w.Block()
		w.CondI(asm.JEq, kind, int64(k), yes, no)
		w.Set(yes)
		do()
		w.Set(no)
	}
	slot := w.word
	is(cfi.PackSP, func() { w.Mov(cfa, w.Bin(asm.Add, sp, off)); w.Jump(found) })
	is(cfi.PackFP, func() { w.Mov(cfa, w.Bin(asm.Add, fp, off)); w.Jump(found) })
	is(cfi.PackSignal, func() { w.Jump(signal) })
	is(cfi.PackLinkage, func() {
		w.AluI(asm.RSh, off, 3)
		w.Mov(cfa, w.BinI(asm.Add, sp, 8))
		w.Unless(asm.JLT, w.BinI(asm.And, pc, 15), off, found)
		w.AluI(asm.Add, cfa, 8)
		w.Jump(found)
	})
	is(cfi.PackInterrupted, func() { w.Mov(cfa, w.Bin(asm.Add, sp, off)); w.Jump(found) })
	is(cfi.PackSwitch, func() {
		// Another stack need not be above this one.
		w.Store(w.base, walkPC, w.read(slot, w.BinI(asm.Add, fp, 8)), asm.DWord)
		w.Store(w.base, walkFP, w.read(slot, fp), asm.DWord)
		w.Mov(cfa, w.BinI(asm.Add, fp, 16))
		w.Jump(next)
	})
	is(cfi.PackLoad, func() {
		w.Mov(cfa, w.read(slot, w.Bin(asm.Add, fp, off)))
		ra := w.above(g, slot, cfa, sp)
		w.Store(w.base, walkFP, w.read(slot, fp), asm.DWord)
		w.Store(w.base, walkPC, ra, asm.DWord)
		w.Jump(next)
	})
	w.Jump(w.cut)

	w.Set(signal)
	restore := w.Block()
	w.UnlessI(asm.JEq, n, 1, restore)
	if w.part {
		w.Unless(asm.JEq, n, was, restore) // it does not count
	}
	w.Store(item, w.list, w.Bin(asm.Or, pc, w.Imm(-1<<backend.InterruptedBit)), asm.DWord) // nothing calls it
	w.Here(restore)
	for _, r := range []struct{ reg, at int }{{m.IP, walkPC}, {m.FP, walkFP}, {m.SP, walkSP}} {
		w.Store(w.base, r.at, w.read(slot, w.BinI(asm.Add, sp, m.Sigframe[r.reg])), asm.DWord)
	}
	w.StoreI(w.base, walkExact, 1, asm.DWord)
	w.possible(w.Get(w.base, walkPC, asm.DWord))
	w.Ret(0)

	w.Set(found)
	ra := w.above(g, slot, cfa, sp)
	w.Store(w.base, walkPC, ra, asm.DWord)
	w.UnlessI(asm.JEq, saved, 0, next)
	lost, kept := w.Block(), w.Block()
	w.CondI(asm.JEq, saved, cfi.PackLost, lost, kept)
	w.Set(lost)
	w.StoreI(w.base, walkFP, 0, asm.DWord)
	w.Jump(next)
	w.Set(kept)
	w.AluI(asm.LSh, saved, 3)
	w.Store(w.base, walkFP, w.read(slot, w.Bin(asm.Sub, cfa, saved)), asm.DWord)
	w.Jump(next)

	w.Set(next)
	w.Store(w.base, walkSP, cfa, asm.DWord)
	interrupted := w.Block()
	w.StoreI(w.base, walkExact, 0, asm.DWord)
	w.UnlessI(asm.JNE, kind, int64(cfi.PackInterrupted), interrupted)
	w.StoreI(w.base, walkExact, 1, asm.DWord)
	w.Here(interrupted)
	to := w.Get(w.base, walkPC, asm.DWord)
	w.UnlessI(asm.JEq, to, 0, last)
	w.possible(to)
	w.Ret(0)
	w.Set(last)
	if w.part { // a goroutine has a stack: the walk did not come there
		w.UnlessI(asm.JEq, w.Get(w.base, walkN, asm.DWord), 0, w.cut)
	}
	w.StoreI(w.base, walkCut, 0, asm.DWord)
	w.Ret(1)
	w.Set(w.cut)
	w.Ret(1)
}

// userBits is how many bits the addresses of programs have at most (x86-64 with five levels of page tables).
const userBits = 56

// possible cuts the stack in front of an address that no program has: it is none.
func (w *walker) possible(pc mach.Reg) {
	w.UnlessI(asm.JNE, w.BinI(asm.RSh, pc, userBits), 0, w.cut)
}

// mostTurns is how often a walk turns without coming to another frame, mostBusy how often of these because another
// thread changes what is mapped just then and nothing was found without the lock.
const mostTurns, mostBusy = 256, 16

// mostOther bounds the frames of other stacks in front of a goroutine's.
const mostOther = 64

// locate finds the code that x is in, which is often that of the frame before. Where the handler may be interrupted,
// the kernel is asked, who always knows; it answers by way of a lock, without which its tree is read where that is
// taken, and knows of files only. Else it is found by the ranges of the process, and before those are known in the
// program's own code. There were was addresses before this frame.
func (w *walker) locate(g *Output, x, was mach.Reg) {
	here, look, ranges := w.Block(), w.Block(), w.Block()
	w.Unless(asm.JLT, x, w.Get(w.base, walkLow, asm.DWord), look)
	w.Cond(asm.JLT, x, w.Get(w.base, walkHigh, asm.DWord), here, look)
	w.Set(look)
	if name := g.mapped(); name != "" {
		busy, told := w.Cold(), w.Block()
		r := w.Call(asm.FnFindVma, emit.InReg(w.Call(asm.FnGetCurrentTaskBtf)), emit.InReg(x), emit.Fn(name),
			emit.InReg(w.frame), emit.Const(0))
		w.CondI(asm.JEq, r, -int64(unix.EBUSY), busy, told)
		w.Set(busy)
		tries := w.Get(w.base, walkBusy, asm.DWord)
		w.UnlessI(asm.JGE, tries, mostBusy, ranges)
		again := func() { // this frame once more
			w.Store(w.base, walkN, was, asm.DWord)
			w.Ret(0)
		}
		fail := w.Cold()
		w.peek(g, x, again, here, fail)
		w.Set(fail)
		tries = w.Get(w.base, walkBusy, asm.DWord)
		w.Store(w.base, walkBusy, w.BinI(asm.Add, tries, 1), asm.DWord)
		again()
		w.Set(told)
		w.StoreI(w.base, walkNode, 0, asm.DWord)
		w.Unless(asm.JLT, x, w.Get(w.base, walkLow, asm.DWord), ranges)
		w.Cond(asm.JLT, x, w.Get(w.base, walkHigh, asm.DWord), here, ranges)
	} else {
		w.Jump(ranges)
	}
	w.Set(ranges)
	count := w.Get(w.base, walkCount, asm.DWord)
	program := w.Cold()
	w.UnlessI(asm.JEq, count, 0, program)
	at := search(&w.Code, plan.MapRanges, plan.MaxRanges, plan.RangeSize, w.Get(w.base, walkFirst, asm.DWord), count, x)
	low, high := w.Get(at, plan.RangeStart, asm.DWord), w.Get(at, plan.RangeEnd, asm.DWord)
	w.Unless(asm.JLT, x, low, w.cut)
	w.Unless(asm.JGE, x, high, w.cut)
	w.Store(w.base, walkLow, low, asm.DWord)
	w.Store(w.base, walkHigh, high, asm.DWord)
	w.Store(w.base, walkBias, w.Get(at, plan.RangeBias, asm.DWord), asm.DWord)
	w.Store(w.base, walkRows, w.Get(at, plan.RangeRows, asm.DWord), asm.DWord) // with walkMany
	w.Jump(here)
	w.Set(program)
	w.program(g, x)
	w.Jump(here)
	w.Set(here)
}

// read gives a word of the program's memory; where it cannot be read the stack is cut.
func (w *walker) read(slot mach.Slot, addr mach.Reg) mach.Reg {
	r := w.Call(asm.FnProbeReadUser, emit.OnStack(slot, 0), emit.Const(8), emit.InReg(addr))
	w.UnlessI(asm.JNE, r, 0, w.cut)
	return w.GetS(slot, 0, asm.DWord)
}

// above gives the return address below the CFA, which has to be above the stack pointer: stacks grow down.
func (w *walker) above(g *Output, slot mach.Slot, cfa, sp mach.Reg) mach.Reg {
	w.Unless(asm.JLE, cfa, sp, w.cut)
	at := w.BinI(asm.Sub, cfa, 8)
	ra := w.read(slot, at)
	w.returned(g, slot, at, ra)
	return ra
}

// mostPerFrame bounds the return probes at one return address that a walk looks at: of functions that jumped to the
// next one.
const mostPerFrame = 4

// returned puts the program's own address into ra where the kernel's return probes have put theirs, in memory at an
// address. The kernel lists them from the newest on, which is the innermost; of several in one place the oldest has it.
func (w *walker) returned(g *Output, slot mach.Slot, at, ra mach.Reg) {
	offs, ok := returnOffsets(g)
	if !ok {
		return
	}
	word := func(p mach.Reg, off int) mach.Reg {
		w.StoreIS(slot, 0, 0, asm.DWord)
		w.Call(asm.FnProbeReadKernel, emit.OnStack(slot, 0), emit.Const(8), emit.InReg(w.BinI(asm.Add, p, int64(off))))
		return w.GetS(slot, 0, asm.DWord)
	}
	done := w.Block()
	ri := w.Get(w.base, walkRets, asm.DWord)
	for range mostPerFrame {
		next := w.Block()
		w.UnlessI(asm.JEq, ri, 0, done)
		stack := word(ri, offs.stack)
		w.Unless(asm.JGT, stack, at, done)
		w.Unless(asm.JNE, stack, at, next)
		w.Mov(ra, word(ri, offs.ret))
		w.Here(next)
		w.Mov(ri, word(ri, offs.next))
	}
	w.Here(done)
	w.Store(w.base, walkRets, ri, asm.DWord)
}
