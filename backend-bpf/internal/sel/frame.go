package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

// slotsPerCPU is how many handlers may hold scratch memory on one CPU: handlers of user probes can be
// preempted by others, and then the first keeps its slot.
const slotsPerCPU = 4

// busyWord is at the beginning of a scratch slot.
const busyWord = 8

// frame hands out memory: pieces of the stack for what is small, of a scratch slot for the rest.
type frame struct {
	// stackMax is the most bytes of the stack that one object may take, stackLeft what all of them may take.
	stackMax, stackLeft int

	scratch mach.Reg // address of the slot
	used    bool     // scratch memory is needed at all
	raw     bool     // memory of a stack is copied into it, by the page
	size    int      // bytes of the slot given out

	temps []tempSlot // stack slots for use within one instruction
	areas []tempArea // likewise pieces of the scratch slot
}

type tempSlot struct {
	slot mach.Slot
	size int
	busy bool
}

type tempArea struct {
	off, size int
	busy      bool
}

// mem is some bytes of memory: on the stack, or at an offset from a register.
type mem struct {
	slot mach.Slot // mach.NoSlot: base
	base mach.Reg
	off  int
}

func at(base mach.Reg, off int) mem { return mem{slot: mach.NoSlot, base: base, off: off} }

func (p mem) plus(n int) mem { p.off += n; return p }

func (g *gen) loadP(dst mach.Reg, p mem, off int, size asm.Size) {
	if p.slot != mach.NoSlot {
		g.loadS(dst, p.slot, p.off+off, size)
		return
	}
	g.load(dst, p.base, p.off+off, size)
}

func (g *gen) getP(p mem, off int, size asm.Size) mach.Reg {
	d := g.reg()
	g.loadP(d, p, off, size)
	return d
}

func (g *gen) storeP(p mem, off int, src mach.Reg, size asm.Size) {
	if p.slot != mach.NoSlot {
		g.storeS(p.slot, p.off+off, src, size)
		return
	}
	g.store(p.base, p.off+off, src, size)
}

func (g *gen) storeIP(p mem, off int, v int64, size asm.Size) {
	if p.slot != mach.NoSlot {
		g.storeIS(p.slot, p.off+off, v, size)
		return
	}
	g.storeI(p.base, p.off+off, v, size)
}

// addrP gives the address of p in a register.
func (g *gen) addrP(p mem) mach.Reg {
	if p.slot != mach.NoSlot {
		return g.addr(p.slot, p.off)
	}
	if p.off == 0 {
		return p.base
	}
	return g.binI(asm.Add, p.base, int64(p.off))
}

// argP is p's address as an argument of a helper.
func (g *gen) argP(p mem) arg {
	if p.slot != mach.NoSlot {
		return aSlot(p.slot, p.off)
	}
	return aReg(g.addrP(p))
}

// temp gives a stack slot of n bytes for use within the current instruction.
func (g *gen) temp(n int) mach.Slot {
	n = (n + 7) &^ 7
	for i := range g.frame.temps {
		if t := &g.frame.temps[i]; !t.busy && t.size == n {
			t.busy = true
			return t.slot
		}
	}
	s := g.f.NewSlot(n)
	g.frame.temps = append(g.frame.temps, tempSlot{s, n, true})
	return s
}

// room gives n bytes for use within the current instruction, on the stack if they are few.
func (g *gen) room(n int) mem {
	if n <= g.frame.stackMax {
		return mem{slot: g.temp(n)}
	}
	n = (n + 7) &^ 7
	for i := range g.frame.areas {
		if t := &g.frame.areas[i]; !t.busy && t.size >= n {
			t.busy = true
			return at(g.slotAddr(), t.off)
		}
	}
	off := g.area(n)
	g.frame.areas = append(g.frame.areas, tempArea{off, n, true})
	return at(g.slotAddr(), off)
}

// release ends the use of everything that temp and room gave.
func (g *gen) release() {
	for i := range g.frame.temps {
		g.frame.temps[i].busy = false
	}
	for i := range g.frame.areas {
		g.frame.areas[i].busy = false
	}
}

// area takes n bytes of the scratch slot for the whole handler.
func (g *gen) area(n int) int {
	fr := &g.frame
	fr.used = true
	if fr.size == 0 {
		fr.size = busyWord
	}
	off := fr.size
	fr.size += (n + 7) &^ 7
	return off
}

// slotAddr is the register with the address of the scratch slot.
func (g *gen) slotAddr() mach.Reg {
	g.frame.used = true
	return g.frame.scratch
}

// scratchSize is the size that a scratch slot needs for this handler. What is added is never touched: the
// verifier adds the longest offset to the longest copy.
func (g *gen) scratchSize() int {
	if !g.frame.used {
		return 0
	}
	n := g.frame.size + 2*mask(g.u.P.Limits.MaxString) + 128
	if g.frame.raw {
		n += pageSize
	}
	return n
}

// acquire writes the code that takes a scratch slot of this CPU: whoever changes its first word from 0 to 1
// has it. If all are taken the hit is skipped and counted. It gives the index of the slot in the map.
func (g *gen) acquire(out *mach.Block) mach.Reg {
	cpu := g.call(asm.FnGetSmpProcessorId)
	idx := g.binI(asm.LSh, cpu, 2)
	k := g.temp(8)
	got, none := g.block(), g.cold()
	for try := range slotsPerCPU {
		next := g.cold()
		if try == slotsPerCPU-1 {
			next = none
		}
		g.storeS(k, 0, idx, asm.Word)
		v := g.call(asm.FnMapLookupElem, aMap(plan.MapScratch), aSlot(k, 0))
		g.unlessI(asm.JEq, v, 0, none)
		mine := g.imm(1)
		g.atomic(asm.Xchg, v, 0, mine, asm.Word)
		g.unlessI(asm.JNE, mine, 0, next)
		g.mov(g.frame.scratch, v)
		g.jump(got)
		g.set(next)
		if next != none {
			g.aluI(asm.Add, idx, 1)
		}
	}
	g.count(ir.SkipScratch)
	g.jump(out)
	g.set(got)
	return idx
}
