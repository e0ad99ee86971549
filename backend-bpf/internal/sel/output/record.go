// Package output writes the code that sends records (package wire): what print statements show, values for the host's
// part of a handler, stacks.
//
// In: values. Out: code that puts them into the ring buffer, and print sites in the schema.
package output

import (
	"github.com/cilium/ebpf/asm"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/hook"
	"github.com/gostap/gostap/backend-bpf/internal/sel/task"
	"github.com/gostap/gostap/backend-bpf/internal/sel/text"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// Output writes what handlers send to the tracer.
type Output struct {
	*body.Body
	str  *text.Text
	task *task.Task
	hook *hook.Hook

	OutAt int        // of the output area in scratch memory
	Sent  []wire.Arg // of a deferred handler's record
}

// New gives the Output of a handler.
func New(b *body.Body, str *text.Text, t *task.Task, h *hook.Hook) *Output {
	return &Output{Body: b, str: str, task: t, hook: h}
}

// A record whose size is known is written where it will be read: in the ring buffer. Others are put
// together in scratch memory and copied with their true length. Handlers that may print more than
// once gather their output there, so that it comes out in one piece.

// bufferSize is how much output a handler gathers before it sends a part of it: a number that a mask can bound.
const bufferSize = 4095

// directMax is the largest record that is written in the ring buffer itself.
const directMax = 2048

// Record is a record being written.
type Record struct {
	g    *Output
	base mach.Reg // address of the byte at offset 0 from here on
	off  int      // bytes written behind base
	dyn  mach.Reg // bytes in front of base, None while there are none
	max  int      // most bytes in front of base
}

// At is the place n bytes behind what has been written.
func (r *Record) At(n int) emit.Mem { return emit.At(r.base, r.off+n) }

// Word adds a number.
func (r *Record) Word(v int64) {
	r.g.StoreIP(r.At(0), 0, v, asm.DWord)
	r.off += 8
}

// Reg adds a register.
func (r *Record) Reg(v mach.Reg) {
	r.g.StoreP(r.At(0), 0, v, asm.DWord)
	r.off += 8
}

// Grow moves the base behind what has been written and n bytes more.
func (r *Record) Grow(n mach.Reg, most int) {
	g := r.g
	total := g.BinI(asm.Add, n, int64(r.off))
	r.max += r.off + most
	r.base = g.Bin(asm.Add, r.base, total)
	if r.dyn == mach.None {
		r.dyn = total
	} else {
		r.dyn = g.Bin(asm.Add, r.dyn, total)
	}
	r.off = 0
}

// size gives the record's length as an argument.
func (r *Record) size() emit.Arg {
	if r.dyn == mach.None {
		return emit.Const(int64(r.off))
	}
	return emit.InReg(r.g.BinI(asm.Add, r.dyn, int64(r.off)))
}

// Reserve takes n bytes of the ring buffer. The record must be submitted on every way from here on; when there
// is no room, that is counted and lost is gone to.
func (g *Output) Reserve(n int, lost *mach.Block) *Record {
	p := g.Call(asm.FnRingbufReserve, emit.Map(plan.MapOutput), emit.Const(int64(n)), emit.Const(0))
	none := g.Cold()
	g.UnlessI(asm.JEq, p, 0, none)
	on := g.Cur
	g.Set(none)
	g.Count(ir.LostRing)
	g.Jump(lost)
	g.Set(on)
	return &Record{g: g, base: p, dyn: mach.None}
}

// Header writes a record's header.
func (r *Record) Header(k wire.Kind, f wire.Flags) {
	g := r.g
	h := g.Call(asm.FnGetSmpProcessorId)
	g.AluI(asm.LSh, h, 32)
	g.AluI(asm.Or, h, int64(k)|int64(f)<<8)
	if g.gathers() {
		// The slot tells the parts of this run's output from those of others.
		slot := g.Get(g.SlotAddr(), 4, asm.Word)
		g.AluI(asm.And, slot, 0xffff)
		g.AluI(asm.LSh, slot, 16)
		g.Alu(asm.Or, h, slot)
	}
	r.Reg(h)
}

// Submit hands over a reserved record.
func (r *Record) Submit() {
	g := r.g
	g.Args([]emit.Arg{emit.InReg(r.base), emit.Const(plan.OutputFlags)})
	g.Emit(mach.Ins{Op: mach.Call, Imm: int64(asm.FnRingbufSubmit), NArgs: 2, Dst: mach.None, Src: mach.None,
		Slot: mach.NoSlot})
}

// output copies a record from scratch memory into the ring buffer.
func (g *Output) output(from emit.Arg, size emit.Arg) {
	r := g.Call(asm.FnRingbufOutput, emit.Map(plan.MapOutput), from, size, emit.Const(plan.OutputFlags))
	lost, on := g.Cold(), g.Block()
	g.CondI(asm.JNE, r, 0, lost, on)
	g.Set(lost)
	g.Count(ir.LostRing)
	g.Jump(on)
	g.Set(on)
}

// gathers reports whether the handler's output is collected in scratch memory first.
func (g *Output) gathers() bool { return g.Prescan.Prints > 1 }

// Offsets in the output area: the length so far with the header's 8 bytes, whether a part went out,
// and the record.
const (
	outLen  = 0
	outMore = 8
	outData = 16
)

// OutArea is the offset of the output area in the scratch slot.
func (g *Output) OutArea() int {
	if g.OutAt == 0 {
		g.OutAt = g.Area(outData + bufferSize + g.Prescan.EntryMax)
	}
	return g.OutAt
}

// StartOutput makes the output area empty.
func (g *Output) StartOutput() {
	o := emit.At(g.SlotAddr(), g.OutArea())
	g.StoreIP(o, outLen, wire.HeaderSize, asm.DWord)
	g.StoreIP(o, outMore, 0, asm.DWord)
}

// gather begins an entry of at most n bytes; done ends it.
func (g *Output) gather(n int) *Record {
	o := emit.At(g.SlotAddr(), g.OutArea())
	cur := g.GetP(o, outLen, asm.DWord)
	full, on := g.Cold(), g.Block()
	g.CondI(asm.JGT, cur, int64(bufferSize), full, on)
	g.Set(full)
	g.flush(wire.More, cur)
	g.StoreIP(o, outMore, 1, asm.DWord)
	g.MovI(cur, wire.HeaderSize)
	g.Jump(on)
	g.Set(on)
	g.Bound(cur, bufferSize)
	base := g.Bin(asm.Add, g.SlotAddr(), cur)
	return &Record{g: g, base: base, off: g.OutArea() + outData, dyn: cur}
}

// done adds a gathered entry to the output.
func (r *Record) done() {
	g := r.g
	// Offsets count from the slot's beginning.
	n := g.BinI(asm.Add, r.dyn, int64(r.off-g.OutArea()-outData))
	g.StoreP(emit.At(g.SlotAddr(), g.OutArea()), outLen, n, asm.DWord)
}

// flush sends the cur bytes of the output area.
func (g *Output) flush(f wire.Flags, cur mach.Reg) {
	data := g.OutArea() + outData
	r := &Record{g: g, base: g.SlotAddr(), off: data, dyn: mach.None}
	r.Header(wire.Print, f)
	n := g.Tight(cur, bufferSize+g.Prescan.EntryMax)
	g.output(emit.InReg(g.BinI(asm.Add, g.SlotAddr(), int64(data))), emit.InReg(n))
}

// EndOutput sends what is left.
func (g *Output) EndOutput() {
	o := emit.At(g.SlotAddr(), g.OutArea())
	cur := g.GetP(o, outLen, asm.DWord)
	send, done := g.Block(), g.Block()
	more := g.Block()
	g.CondI(asm.JGT, cur, wire.HeaderSize, send, more)
	g.CondI(asm.JNE, g.GetP(o, outMore, asm.DWord), 0, send, done)
	g.Set(send)
	g.flush(0, cur)
	g.Jump(done)
	g.Set(done)
}

// PrintFirst sends what the handler has printed so far, in front of a record that is not gathered.
func (g *Output) PrintFirst() {
	if g.gathers() {
		g.EndOutput()
		g.StartOutput()
	}
}
