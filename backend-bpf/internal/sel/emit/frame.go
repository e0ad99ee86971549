package emit

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// Builder writes a handler: code, and the memory that it hands out for it.
type Builder struct {
	Code
	Frame Frame
}

// busyWord is at the beginning of a scratch slot.
const busyWord = 8

// Frame hands out memory: pieces of the stack for what is small, of a scratch slot for the rest.
type Frame struct {
	// StackMax is the most bytes of the stack that one object may take, StackLeft what all of them may take.
	StackMax, StackLeft int

	Scratch mach.Reg // address of the slot
	Used    bool     // scratch memory is needed at all
	Raw     bool     // memory of a stack is copied into it, by the page
	Size    int      // bytes of the slot given out
	// Reserved are the bytes of all slots behind the first word that are the same for all handlers.
	Reserved int

	Temps []tempSlot // stack slots for use within one instruction
	Areas []tempArea // likewise pieces of the scratch slot
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

// Mem is some bytes of memory: on the stack, or at an offset from a register.
type Mem struct {
	Slot mach.Slot // mach.NoSlot: base
	Base mach.Reg
	Off  int
}

// At is memory at a distance from an address.
func At(base mach.Reg, off int) Mem { return Mem{Slot: mach.NoSlot, Base: base, Off: off} }

// Plus is what lies n bytes behind p.
func (p Mem) Plus(n int) Mem { p.Off += n; return p }

// LoadP loads from p + off.
func (g *Code) LoadP(dst mach.Reg, p Mem, off int, size asm.Size) {
	if p.Slot != mach.NoSlot {
		g.LoadS(dst, p.Slot, p.Off+off, size)
		return
	}
	g.Load(dst, p.Base, p.Off+off, size)
}

// GetP loads from p + off into a new register.
func (g *Code) GetP(p Mem, off int, size asm.Size) mach.Reg {
	d := g.Reg()
	g.LoadP(d, p, off, size)
	return d
}

// StoreP stores src at p + off.
func (g *Code) StoreP(p Mem, off int, src mach.Reg, size asm.Size) {
	if p.Slot != mach.NoSlot {
		g.StoreS(p.Slot, p.Off+off, src, size)
		return
	}
	g.Store(p.Base, p.Off+off, src, size)
}

// StoreIP stores a number at p + off.
func (g *Code) StoreIP(p Mem, off int, v int64, size asm.Size) {
	if p.Slot != mach.NoSlot {
		g.StoreIS(p.Slot, p.Off+off, v, size)
		return
	}
	g.StoreI(p.Base, p.Off+off, v, size)
}

// AddrP gives the address of p in a register.
func (g *Code) AddrP(p Mem) mach.Reg {
	if p.Slot != mach.NoSlot {
		return g.addr(p.Slot, p.Off)
	}
	if p.Off == 0 {
		return p.Base
	}
	return g.BinI(asm.Add, p.Base, int64(p.Off))
}

// ArgP is p's address as an argument of a helper.
func (g *Code) ArgP(p Mem) Arg {
	if p.Slot != mach.NoSlot {
		return OnStack(p.Slot, p.Off)
	}
	return InReg(g.AddrP(p))
}

// Temp gives a stack slot of n bytes for use within the current instruction.
func (g *Builder) Temp(n int) mach.Slot {
	n = (n + 7) &^ 7
	for i := range g.Frame.Temps {
		if t := &g.Frame.Temps[i]; !t.busy && t.size == n {
			t.busy = true
			return t.slot
		}
	}
	s := g.F.NewSlot(n)
	g.Frame.Temps = append(g.Frame.Temps, tempSlot{s, n, true})
	return s
}

// Free ends the use of a slot that Temp gave before the instruction ends.
func (g *Builder) Free(s mach.Slot) {
	for i := range g.Frame.Temps {
		if t := &g.Frame.Temps[i]; t.slot == s {
			t.busy = false
		}
	}
}

// Room gives n bytes for use within the current instruction, on the stack if they are few.
func (g *Builder) Room(n int) Mem {
	if n <= g.Frame.StackMax {
		return Mem{Slot: g.Temp(n)}
	}
	n = (n + 7) &^ 7
	for i := range g.Frame.Areas {
		if t := &g.Frame.Areas[i]; !t.busy && t.size >= n {
			t.busy = true
			return At(g.SlotAddr(), t.off)
		}
	}
	off := g.Area(n)
	g.Frame.Areas = append(g.Frame.Areas, tempArea{off, n, true})
	return At(g.SlotAddr(), off)
}

// Release ends the use of everything that temp and room gave.
func (g *Builder) Release() {
	for i := range g.Frame.Temps {
		g.Frame.Temps[i].busy = false
	}
	for i := range g.Frame.Areas {
		g.Frame.Areas[i].busy = false
	}
}

// Area takes n bytes of the scratch slot for the whole handler.
func (g *Builder) Area(n int) int {
	fr := &g.Frame
	fr.Used = true
	if fr.Size == 0 {
		fr.Size = busyWord + fr.Reserved
	}
	off := fr.Size
	fr.Size += (n + 7) &^ 7
	return off
}

// ReservedAt is where the bytes are that are the same for all handlers.
func (g *Builder) ReservedAt() Mem { return At(g.SlotAddr(), busyWord) }

// SlotAddr is the register with the address of the scratch slot.
func (g *Builder) SlotAddr() mach.Reg {
	g.Frame.Used = true
	return g.Frame.Scratch
}

// TempBuffer gives the address of n bytes of scratch memory for use within the current instruction.
func (g *Builder) TempBuffer(n int) mach.Reg {
	stack := g.Frame.StackMax
	g.Frame.StackMax = 0
	p := g.Room(n)
	g.Frame.StackMax = stack
	return g.AddrP(p)
}
