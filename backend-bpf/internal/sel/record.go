package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// A record whose size is known is written where it will be read: in the ring buffer. Others are put
// together in scratch memory and copied with their true length. Handlers that may print more than
// once gather their output there, so that it comes out in one piece.

// bufferSize is how much output a handler gathers before it sends a part of it: a number that a mask can bound.
const bufferSize = 4095

// directMax is the largest record that is written in the ring buffer itself.
const directMax = 2048

// record is a record being written.
type record struct {
	g    *gen
	base mach.Reg // address of the byte at offset 0 from here on
	off  int      // bytes written behind base
	dyn  mach.Reg // bytes in front of base, None while there are none
	max  int      // most bytes in front of base
}

func (r *record) at(n int) mem { return at(r.base, r.off+n) }

func (r *record) word(v int64) {
	r.g.storeIP(r.at(0), 0, v, asm.DWord)
	r.off += 8
}

func (r *record) reg(v mach.Reg) {
	r.g.storeP(r.at(0), 0, v, asm.DWord)
	r.off += 8
}

// grow moves the base behind what has been written and n bytes more.
func (r *record) grow(n mach.Reg, most int) {
	g := r.g
	total := g.binI(asm.Add, n, int64(r.off))
	r.max += r.off + most
	r.base = g.bin(asm.Add, r.base, total)
	if r.dyn == mach.None {
		r.dyn = total
	} else {
		r.dyn = g.bin(asm.Add, r.dyn, total)
	}
	r.off = 0
}

// size gives the record's length as an argument.
func (r *record) size() arg {
	if r.dyn == mach.None {
		return aImm(int64(r.off))
	}
	return aReg(r.g.binI(asm.Add, r.dyn, int64(r.off)))
}

// reserve takes n bytes of the ring buffer. The record must be submitted on every way from here on; when there
// is no room, that is counted and lost is gone to.
func (g *gen) reserve(n int, lost *mach.Block) *record {
	p := g.call(asm.FnRingbufReserve, aMap(plan.MapOutput), aImm(int64(n)), aImm(0))
	none := g.cold()
	g.unlessI(asm.JEq, p, 0, none)
	on := g.cur
	g.set(none)
	g.count(ir.LostRing)
	g.jump(lost)
	g.set(on)
	return &record{g: g, base: p, dyn: mach.None}
}

// header writes a record's header.
func (r *record) header(k wire.Kind, f wire.Flags) {
	g := r.g
	h := g.call(asm.FnGetSmpProcessorId)
	g.aluI(asm.LSh, h, 32)
	g.aluI(asm.Or, h, int64(k)|int64(f)<<8)
	if g.gathers() {
		// The slot tells the parts of this run's output from those of others.
		slot := g.get(g.slotAddr(), 4, asm.Word)
		g.aluI(asm.And, slot, 0xffff)
		g.aluI(asm.LSh, slot, 16)
		g.alu(asm.Or, h, slot)
	}
	r.reg(h)
}

// submit hands over a reserved record.
func (r *record) submit() {
	g := r.g
	g.args([]arg{aReg(r.base), aImm(plan.OutputFlags)})
	g.emit(mach.Ins{Op: mach.Call, Imm: int64(asm.FnRingbufSubmit), NArgs: 2, Dst: mach.None, Src: mach.None, Slot: mach.NoSlot})
}

// output copies a record from scratch memory into the ring buffer.
func (g *gen) output(from arg, size arg) {
	r := g.call(asm.FnRingbufOutput, aMap(plan.MapOutput), from, size, aImm(plan.OutputFlags))
	lost, on := g.cold(), g.block()
	g.condI(asm.JNE, r, 0, lost, on)
	g.set(lost)
	g.count(ir.LostRing)
	g.jump(on)
	g.set(on)
}

// gathers reports whether the handler's output is collected in scratch memory first.
func (g *gen) gathers() bool { return g.look.prints > 1 }

// Offsets in the output area: the length so far with the header's 8 bytes, whether a part went out,
// and the record.
const (
	outLen  = 0
	outMore = 8
	outData = 16
)

// outArea is the offset of the output area in the scratch slot.
func (g *gen) outArea() int {
	if g.outAt == 0 {
		g.outAt = g.area(outData + bufferSize + g.look.entryMax)
	}
	return g.outAt
}

// startOutput makes the output area empty.
func (g *gen) startOutput() {
	o := at(g.slotAddr(), g.outArea())
	g.storeIP(o, outLen, wire.HeaderSize, asm.DWord)
	g.storeIP(o, outMore, 0, asm.DWord)
}

// gather begins an entry of at most n bytes; done ends it.
func (g *gen) gather(n int) *record {
	o := at(g.slotAddr(), g.outArea())
	cur := g.getP(o, outLen, asm.DWord)
	full, on := g.cold(), g.block()
	g.condI(asm.JGT, cur, int64(bufferSize), full, on)
	g.set(full)
	g.flush(wire.More, cur)
	g.storeIP(o, outMore, 1, asm.DWord)
	g.movI(cur, wire.HeaderSize)
	g.jump(on)
	g.set(on)
	g.bound(cur, bufferSize)
	base := g.bin(asm.Add, g.slotAddr(), cur)
	return &record{g: g, base: base, off: g.outArea() + outData, dyn: cur}
}

// done adds a gathered entry to the output.
func (r *record) done() {
	g := r.g
	// Offsets count from the slot's beginning.
	n := g.binI(asm.Add, r.dyn, int64(r.off-g.outArea()-outData))
	g.storeP(at(g.slotAddr(), g.outArea()), outLen, n, asm.DWord)
}

// flush sends the cur bytes of the output area.
func (g *gen) flush(f wire.Flags, cur mach.Reg) {
	data := g.outArea() + outData
	r := &record{g: g, base: g.slotAddr(), off: data, dyn: mach.None}
	r.header(wire.Print, f)
	n := g.tight(cur, bufferSize+g.look.entryMax)
	g.output(aReg(g.binI(asm.Add, g.slotAddr(), int64(data))), aReg(n))
}

// endOutput sends what is left.
func (g *gen) endOutput() {
	o := at(g.slotAddr(), g.outArea())
	cur := g.getP(o, outLen, asm.DWord)
	send, done := g.block(), g.block()
	more := g.block()
	g.condI(asm.JGT, cur, wire.HeaderSize, send, more)
	g.condI(asm.JNE, g.getP(o, outMore, asm.DWord), 0, send, done)
	g.set(send)
	g.flush(0, cur)
	g.jump(done)
	g.set(done)
}

// printFirst sends what the handler has printed so far, in front of a record that is not gathered.
func (g *gen) printFirst() {
	if g.gathers() {
		g.endOutput()
		g.startOutput()
	}
}
