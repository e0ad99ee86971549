package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/runtime/wire"
)

// faults is the pending error: ir.Code and the place of the instruction that raised it in one register, the
// arguments in two more, the text of error() in a string. They are set on the way out of the
// instruction, so an error that is not raised costs nothing.
type faults struct {
	code, a, b mach.Reg
	text       *strVar
	codes      map[ir.Code]bool // that are raised
}

// raise ends the current block with an error; a and b are its arguments or None.
func (g *gen) raise(c ir.Code, a, b mach.Reg, to ir.BlockID) {
	f := &g.faults
	if f.codes == nil {
		f.codes = map[ir.Code]bool{}
		f.code, f.a, f.b = g.reg(), g.reg(), g.reg()
	}
	f.codes[c] = true
	g.movI(f.code, int64(c)|int64(g.pos)<<32)
	for i, r := range [2]mach.Reg{a, b} {
		dst := [2]mach.Reg{f.a, f.b}[i]
		if r == mach.None {
			g.movI(dst, 0)
		} else {
			g.mov(dst, r)
		}
	}
	if to != ir.NoBlock {
		g.jump(g.blocks[to])
		return
	}
	g.uncaught(c)
}

// notCaught ends the current block with a pending error that nobody in the current function catches.
func (g *gen) notCaught(c ir.Code) {
	if g.subs != nil && c != ir.ErrMaxAction {
		g.subs.escape()
		return
	}
	g.unlock()
	g.jump(g.reporter())
}

// raiseText ends the current block with an error whose argument is a text.
func (g *gen) raiseText(c ir.Code, s str, to ir.BlockID) {
	if g.faults.text == nil {
		n := g.u.P.Limits.MaxString - 1
		g.faults.text = g.newStr(n, false)
	}
	g.assign(g.faults.text, s)
	g.raise(c, mach.None, mach.None, to)
}

// throw raises the error of a block's end.
func (g *gen) throw(t *ir.Term) {
	if isText(t.Code) {
		s := literal("")
		if len(t.Args) > 0 {
			s = g.strOf(t.Args[0])
		}
		g.raiseText(t.Code, s, t.OnErr)
		return
	}
	var args [2]mach.Reg
	for i := range args {
		args[i] = mach.None
		if i < len(t.Args) {
			args[i] = g.long(t.Args[i])
		}
	}
	g.raise(t.Code, args[0], args[1], t.OnErr)
}

func isText(c ir.Code) bool { return c == ir.ErrUser || c == ir.ErrArgument }

func (g *gen) reporter() *mach.Block {
	if g.report == nil {
		g.report = g.cold()
	}
	return g.report
}

// reportError sends an Error record and counts it; too many end the session. It goes on behind.
func (g *gen) reportError() {
	f := &g.faults
	if f.codes == nil {
		return
	}
	g.printFirst()
	sent := g.cold()
	text, plain := false, false
	for c := range f.codes {
		text, plain = text || isText(c), plain || !isText(c)
	}
	if text {
		numbers := g.cold()
		if plain {
			c := g.copy(f.code)
			g.aluI(asm.And, c, 0xffff)
			is, not := g.cold(), g.cold()
			g.condI(asm.JEq, c, int64(ir.ErrUser), is, not)
			g.condI(asm.JEq, c, int64(ir.ErrArgument), is, numbers)
			g.set(is)
		}
		s := f.text.str()
		g.viaScratch(wire.HeaderSize+16+16+maps.StringSize(s.cap), func(r *record) {
			r.header(wire.Error, 0)
			r.reg(f.code)
			r.word(int64(g.h.Probe) | 1<<32)
			r.word(int64(wire.Text))
			n := g.length(s)
			room := g.lengthWord(r, n, mach.None)
			g.copyBytes(g.argP(r.at(0)), n, g.bytesOf(s))
			r.grow(room, maps.StringSize(s.cap))
		})
		g.jump(sent)
		g.set(numbers)
	}
	if plain {
		r := g.reserve(wire.HeaderSize+16+2*16, sent)
		r.header(wire.Error, 0)
		r.reg(f.code)
		r.word(int64(g.h.Probe) | 2<<32)
		r.word(int64(wire.Int))
		r.reg(f.a)
		r.word(int64(wire.Int))
		r.reg(f.b)
		r.submit()
		g.jump(sent)
	} else {
		g.jump(sent) // never reached
	}
	g.set(sent)
	ctl := g.mapVal(plan.MapControl, 0)
	old := g.imm(1)
	g.atomic(asm.FetchAdd, ctl, plan.CtlErrors, old, asm.Word)
	done := g.cold()
	g.unlessI(asm.JLT, old, int64(g.u.P.Limits.MaxErrors), done)
	g.storeI(ctl, plan.CtlState, int64(wire.Failed), asm.Word)
	g.here(done)
	g.countAt(int(ir.NumCauses))
}

// afterwards has code written once the whole handler is: what it needs to know, such as which errors are
// raised, is not known before.
func (g *gen) afterwards(write func()) {
	b, on := g.cold(), g.block()
	g.jump(b)
	lock, pos := g.lock, g.pos
	g.later = append(g.later, func() {
		g.set(b)
		g.lock, g.pos = lock, pos
		write()
		g.release()
		g.jump(on)
	})
	g.set(on)
}

// message sets dst to the text of the pending error, as textfmt.Fault writes it.
func (g *gen) message(dst *strVar) {
	f := &g.faults
	done := g.cold()
	for c := ir.ErrUser; c < ir.NumCodes; c++ {
		if !f.codes[c] {
			continue
		}
		is, not := g.cold(), g.cold()
		low := g.copy(f.code)
		g.aluI(asm.And, low, 0xffff)
		g.condI(asm.JEq, low, int64(c), is, not)
		g.set(is)
		g.messageOf(dst, c)
		g.jump(done)
		g.set(not)
	}
	g.assign(dst, literal(""))
	g.here(done)
}

func (g *gen) messageOf(dst *strVar, c ir.Code) {
	f := &g.faults
	switch c {
	case ir.ErrUser, ir.ErrArgument:
		g.assign(dst, f.text.str())
	case ir.ErrWrite:
		g.format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("write fault at "), {Conv: 'p', Zero: true, Width: 18, Prec: -1}}}, []fmtArg{{num: f.a}})
	case ir.ErrMemory:
		g.format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("read fault at "), {Conv: 'p', Zero: true, Width: 18, Prec: -1}}}, []fmtArg{{num: f.a}})
	case ir.ErrIndexRange:
		g.format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("index "), ir.Conv('d'), ir.Literal(" is out of range, length "), ir.Conv('d')}},
			[]fmtArg{{num: f.a}, {num: f.b}})
	case ir.ErrMapFull:
		g.messageFull(dst)
	default:
		g.assign(dst, literal((&textfmt.Fault{Code: c}).Message(g.u.P)))
	}
}

// messageFull: the text depends on which array is full; arrays of the same size have the same text.
func (g *gen) messageFull(dst *strVar) {
	done := g.cold()
	usual := (&textfmt.Fault{Code: ir.ErrMapFull}).Message(nil)
	for i, gl := range g.u.P.Globals {
		text := (&textfmt.Fault{Code: ir.ErrMapFull, Args: []textfmt.Val{{Int: int64(i)}}}).Message(g.u.P)
		if !gl.IsArray() || text == usual || g.u.Layout.Globals[i].Absent {
			continue
		}
		is, not := g.cold(), g.cold()
		g.condI(asm.JEq, g.faults.a, int64(i), is, not)
		g.set(is)
		g.assign(dst, literal(text))
		g.jump(done)
		g.set(not)
	}
	g.assign(dst, literal(usual))
	g.here(done)
}

// count adds to the counter of a cause.
func (g *gen) count(c ir.Cause) { g.countAt(int(c)) }

func (g *gen) countAt(i int) {
	n := g.binI(asm.Mul, g.call(asm.FnGetSmpProcessorId), int64(plan.CounterRow))
	g.aluI(asm.Add, n, int64(i))
	k := g.temp(8)
	g.storeS(k, 0, n, asm.Word)
	v := g.call(asm.FnMapLookupElem, aMap(plan.MapCounters), aSlot(k, 0))
	done := g.cold()
	g.unlessI(asm.JEq, v, 0, done)
	g.atomic(asm.AddAtomic, v, 0, g.imm(1), asm.DWord)
	g.here(done)
}

// spend takes n statements off the budget.
func (g *gen) spend(n int64) {
	if !g.look.budget {
		return
	}
	g.aluI(asm.Sub, g.budget, n)
	over, on := g.cold(), g.block()
	g.condI(asm.JSLT, g.budget, 0, over, on)
	g.set(over)
	g.raise(ir.ErrMaxAction, mach.None, mach.None, ir.NoBlock)
	g.set(on)
}
