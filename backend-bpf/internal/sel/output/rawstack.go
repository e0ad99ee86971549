package output

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// A stack that the host unwinds (wire.RawStack): the addresses that frame pointers lead to, the program's
// registers, and what lies at the top of its stack.

// RawSize is the most bytes of such an argument.
func (g *Output) RawSize() int {
	return 16 + 8*g.U.P.Limits.MaxBacktrace + wire.RegsSize + wire.MaxStack
}

// raw reports whether the stack of the program is sent like this.
func (g *Output) raw() bool {
	return g.hook.Row().NoStack == "" && !partition.FramePointers(g.H.Sites)
}

func (g *Output) putRawStack(r *Record, room int) {
	g.Frame.Raw = true
	fixed := 16 + 8*room + wire.RegsSize
	n := g.getStack(r.At(16), room, userStack)
	g.AluI(asm.RSh, n, 3)
	g.Alu(asm.Or, n, g.Imm(int64(room)<<32))
	g.StoreP(r.At(0), 0, n, asm.DWord)

	g.putRegs(r.At(16 + 8*room))
	sp := g.GetP(r.At(16+8*room), g.U.P.On().Offset(g.U.P.On().SP), asm.DWord)
	g.AluI(asm.And, sp, ^7)
	slot := g.Temp(8)
	word := func(p mach.Reg, off int) mach.Reg {
		g.StoreIS(slot, 0, 0, asm.DWord)
		g.Call(asm.FnProbeReadKernel, emit.OnStack(slot, 0), emit.Const(8), emit.InReg(g.BinI(asm.Add, p, int64(off))))
		return g.GetS(slot, 0, asm.DWord)
	}
	size := g.putMemory(r.At(fixed), sp, word)
	g.AluI(asm.And, size, ^7)
	g.putReturns(r.At(fixed), sp, size, word)
	both := g.BinI(asm.LSh, size, 32)
	g.Alu(asm.Or, both, g.task.Tgid())
	g.StoreP(r.At(8), 0, both, asm.DWord)
	r.off += fixed
	r.Grow(g.Tight(size, wire.MaxStack), wire.MaxStack)
}

// kernelReader reads a word of kernel memory at an address and a distance; what cannot be read is 0.
type kernelReader func(p mach.Reg, off int) mach.Reg

// putRegs writes the registers of the program as a struct pt_regs, with the number of a system call if it is in one.
func (g *Output) putRegs(to emit.Mem) {
	done := g.Block()
	copyContext := func() {
		for off := 0; off < wire.RegsSize; off += 8 {
			g.StoreP(to, off, g.Get(g.Ctx, off, asm.DWord), asm.DWord)
		}
		g.StoreIP(to, g.U.P.On().Syscall.Number, -1, asm.DWord)
	}
	switch g.H.Sites[0].Kind.Code() {
	case probe.UserCode:
		copyContext()
		g.Jump(done)
	default:
		if g.H.Sites[0].Kind.Code() == probe.AnyCode {
			user := g.Block()
			g.hook.UnlessUser(g.Ctx, user)
			kernel := g.Cur
			g.Set(user)
			copyContext()
			g.Jump(done)
			g.Set(kernel)
		}
		regs := g.task.TaskRegs()
		for off := 0; off < wire.RegsSize; off += 8 {
			g.StoreP(to, off, g.Get(regs, off, asm.DWord), asm.DWord)
		}
		g.Jump(done)
	}
	g.Set(done)
}

// putMemory copies the stack from sp on, as much of it as can be read, and gives how many bytes that are. A read
// that meets a page which is not there gives nothing, so it goes page by page.
func (g *Output) putMemory(to emit.Mem, sp mach.Reg, word kernelReader) mach.Reg {
	base := g.AddrP(to)
	want := g.Copy(g.Imm(wire.MaxStack))
	if g.U.Types != nil {
		// The stack of a process's first thread ends where the kernel has put the arguments of the program.
		mm, _, err := g.U.Types.Offset("task_struct", "mm")
		start, _, err2 := g.U.Types.Offset("mm_struct", "start_stack")
		if err == nil && err2 == nil {
			top := word(word(g.Call(asm.FnGetCurrentTask), mm), start) // 0 where there is none, which is no bound
			g.AluI(asm.Add, top, 64)
			g.Alu(asm.Sub, top, sp)
			g.AluI(asm.And, top, ^7)
			g.AtMost(want, top)
		}
	}
	size := g.Copy(g.Imm(0))
	done := g.Block()
	for range 1 + (wire.MaxStack+body.PageSize-1)/body.PageSize {
		from := g.Bin(asm.Add, sp, size)
		n := g.Imm(body.PageSize)
		g.Alu(asm.Sub, n, g.BinI(asm.And, from, body.PageSize-1))
		left := g.Bin(asm.Sub, want, size)
		g.AtMost(n, left)
		g.UnlessI(asm.JEq, n, 0, done)
		at := g.Bin(asm.Add, base, g.Tight(size, wire.MaxStack))
		n = g.Tight(n, body.PageSize)
		g.UnlessI(asm.JNE, g.Call(asm.FnProbeReadUser, emit.InReg(at), emit.InReg(n), emit.InReg(from)), 0, done)
		g.Alu(asm.Add, size, n)
	}
	g.Here(done)
	return size
}

// returnsAt is where the kernel has the return probes of a thread: the list, and in one of it where the return address
// lies, what that was, and the next.
type returnsAt struct{ utask, list, stack, ret, next int }

// returnOffsets finds that; ok is false where this kernel has other structures.
func returnOffsets(g *Output) (at returnsAt, ok bool) {
	if g.U.Types == nil {
		return at, false
	}
	for _, m := range []struct {
		to         *int
		of, member string
	}{{&at.utask, "task_struct", "utask"}, {&at.list, "uprobe_task", "return_instances"},
		{&at.stack, "return_instance", "stack"}, {&at.ret, "return_instance", "orig_ret_vaddr"},
		{&at.next, "return_instance", "next"}} {
		off, _, err := g.U.Types.Offset(m.of, m.member)
		if err != nil {
			return at, false
		}
		*m.to = off
	}
	return at, true
}

// mostReturns bounds the return probes of a thread that putReturns looks at.
const mostReturns = 8

// putReturns puts the program's own return addresses where the kernel's return probes have put theirs: into size
// bytes of memory from sp on. Of several in one place, which the kernel lists from the newest on, the oldest has
// the program's.
func (g *Output) putReturns(to emit.Mem, sp, size mach.Reg, word kernelReader) {
	offs, ok := returnOffsets(g)
	if !ok {
		return
	}
	done := g.Block()
	utask := word(g.Call(asm.FnGetCurrentTask), offs.utask)
	g.UnlessI(asm.JEq, utask, 0, done)
	base := g.AddrP(to)
	ri := g.Copy(word(utask, offs.list))
	for range mostReturns {
		g.UnlessI(asm.JEq, ri, 0, done)
		next := g.Block()
		at := g.Bin(asm.Sub, word(ri, offs.stack), sp)
		g.Unless(asm.JGT, g.BinI(asm.Add, at, 8), size, next)
		at = g.Tight(at, wire.MaxStack-8)
		orig := word(ri, offs.ret)
		g.Store(g.Bin(asm.Add, base, at), 0, orig, asm.DWord)
		g.Jump(next)
		g.Set(next)
		g.Mov(ri, word(ri, offs.next))
	}
	g.Here(done)
}

// RawArgs counts the stacks among the arguments of a print statement that the host unwinds.
func (g *Output) RawArgs(f *ir.Func, in *ir.Instr) (n int) {
	if !g.raw() {
		return 0
	}
	for _, a := range in.Args {
		if !a.IsReg() {
			continue
		}
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if d := &b.Instrs[i]; d.Op == ir.OpIntr && d.Dst == a.Reg {
					if t := d.Builtin().Text; t.Kind == wire.Stack && !t.Lazy.OfKernel() {
						n++
					}
				}
			}
		}
	}
	return n
}
