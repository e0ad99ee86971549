package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// A stack that the host unwinds (wire.RawStack): the addresses that frame pointers lead to, the program's
// registers, and what lies at the top of its stack.

// rawSize is the most bytes of such an argument.
func (g *gen) rawSize() int { return 16 + 8*g.u.P.Limits.MaxBacktrace + wire.RegsSize + wire.MaxStack }

// raw reports whether the stack of the program is sent like this.
func (g *gen) raw() bool {
	return g.hook().noStack == "" && !place.FramePointers(g.h.Sites)
}

func (g *gen) putRawStack(r *record, room int) {
	g.frame.raw = true
	fixed := 16 + 8*room + wire.RegsSize
	n := g.getStack(r.at(16), room, userStack)
	g.aluI(asm.RSh, n, 3)
	g.alu(asm.Or, n, g.imm(int64(room)<<32))
	g.storeP(r.at(0), 0, n, asm.DWord)

	g.putRegs(r.at(16 + 8*room))
	sp := g.getP(r.at(16+8*room), ptRegs[regSP], asm.DWord)
	g.aluI(asm.And, sp, ^7)
	slot := g.temp(8)
	word := func(p mach.Reg, off int) mach.Reg {
		g.storeIS(slot, 0, 0, asm.DWord)
		g.call(asm.FnProbeReadKernel, aSlot(slot, 0), aImm(8), aReg(g.binI(asm.Add, p, int64(off))))
		return g.getS(slot, 0, asm.DWord)
	}
	size := g.putMemory(r.at(fixed), sp, word)
	g.aluI(asm.And, size, ^7)
	g.putReturns(r.at(fixed), sp, size, word)
	both := g.binI(asm.LSh, size, 32)
	g.alu(asm.Or, both, g.tgid())
	g.storeP(r.at(8), 0, both, asm.DWord)
	r.off += fixed
	r.grow(g.tight(size, wire.MaxStack), wire.MaxStack)
}

// kernelReader reads a word of kernel memory at an address and a distance; what cannot be read is 0.
type kernelReader func(p mach.Reg, off int) mach.Reg

// putRegs writes the registers of the program as a struct pt_regs.
func (g *gen) putRegs(to mem) {
	done := g.block()
	copyContext := func() {
		for off := 0; off < wire.RegsSize; off += 8 {
			g.storeP(to, off, g.get(g.ctx, off, asm.DWord), asm.DWord)
		}
	}
	switch g.h.Sites[0].Kind.Code() {
	case probe.UserCode:
		copyContext()
		g.jump(done)
	default:
		if g.h.Sites[0].Kind.Code() == probe.AnyCode {
			kernel, user := g.block(), g.block()
			g.condI(asm.JSet, g.get(g.ctx, regsCS, asm.DWord), 3, user, kernel)
			g.set(user)
			copyContext()
			g.jump(done)
			g.set(kernel)
		}
		regs := g.taskRegs()
		for off := 0; off < wire.RegsSize; off += 8 {
			g.storeP(to, off, g.get(regs, off, asm.DWord), asm.DWord)
		}
		g.jump(done)
	}
	g.set(done)
}

// putMemory copies the stack from sp on, as much of it as can be read, and gives how many bytes that are. A read
// that meets a page which is not there gives nothing, so it goes page by page.
func (g *gen) putMemory(to mem, sp mach.Reg, word kernelReader) mach.Reg {
	base := g.addrP(to)
	want := g.copy(g.imm(wire.MaxStack))
	if g.u.Types != nil {
		// The stack of a process's first thread ends where the kernel has put the arguments of the program.
		mm, _, err := g.u.Types.Offset("task_struct", "mm")
		start, _, err2 := g.u.Types.Offset("mm_struct", "start_stack")
		if err == nil && err2 == nil {
			top := word(word(g.call(asm.FnGetCurrentTask), mm), start) // 0 where there is none, which is no bound
			g.aluI(asm.Add, top, 64)
			g.alu(asm.Sub, top, sp)
			g.aluI(asm.And, top, ^7)
			g.atMost(want, top)
		}
	}
	size := g.copy(g.imm(0))
	done := g.block()
	for range 1 + (wire.MaxStack+pageSize-1)/pageSize {
		from := g.bin(asm.Add, sp, size)
		n := g.imm(pageSize)
		g.alu(asm.Sub, n, g.binI(asm.And, from, pageSize-1))
		left := g.bin(asm.Sub, want, size)
		g.atMost(n, left)
		g.unlessI(asm.JEq, n, 0, done)
		at := g.bin(asm.Add, base, g.tight(size, wire.MaxStack))
		n = g.tight(n, pageSize)
		g.unlessI(asm.JNE, g.call(asm.FnProbeReadUser, aReg(at), aReg(n), aReg(from)), 0, done)
		g.alu(asm.Add, size, n)
	}
	g.here(done)
	return size
}

// mostReturns bounds the return probes of a thread that putReturns looks at.
const mostReturns = 8

// putReturns puts the program's own return addresses where the kernel's return probes have put theirs: into size
// bytes of memory from sp on. Of several in one place, which the kernel lists from the newest on, the oldest has
// the program's.
func (g *gen) putReturns(to mem, sp, size mach.Reg, word kernelReader) {
	if g.u.Types == nil {
		return
	}
	var offs [5]int
	for i, m := range [][2]string{{"task_struct", "utask"}, {"uprobe_task", "return_instances"}, {"return_instance", "stack"},
		{"return_instance", "orig_ret_vaddr"}, {"return_instance", "next"}} {
		off, _, err := g.u.Types.Offset(m[0], m[1])
		if err != nil {
			return
		}
		offs[i] = off
	}
	done := g.block()
	utask := word(g.call(asm.FnGetCurrentTask), offs[0])
	g.unlessI(asm.JEq, utask, 0, done)
	base := g.addrP(to)
	ri := g.copy(word(utask, offs[1]))
	for range mostReturns {
		g.unlessI(asm.JEq, ri, 0, done)
		next := g.block()
		at := g.bin(asm.Sub, word(ri, offs[2]), sp)
		g.unless(asm.JGT, g.binI(asm.Add, at, 8), size, next)
		at = g.tight(at, wire.MaxStack-8)
		orig := word(ri, offs[3])
		g.store(g.bin(asm.Add, base, at), 0, orig, asm.DWord)
		g.jump(next)
		g.set(next)
		g.mov(ri, word(ri, offs[4]))
	}
	g.here(done)
}

// rawArgs counts the stacks among the arguments of a print statement that the host unwinds.
func (g *gen) rawArgs(f *ir.Func, in *ir.Instr) (n int) {
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
