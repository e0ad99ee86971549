package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/output"
	"github.com/gostap/gostap/backend-bpf/internal/sel/text"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/runtime/wire"
)

// notCaught ends the current block with a pending error that nobody in the current function catches.
func (g *gen) notCaught(c ir.Code) {
	if g.subs != nil && c != ir.ErrMaxAction {
		g.subs.escape()
		return
	}
	g.unlock()
	g.Jump(g.reporter())
}

// throw raises the error of a block's end.
func (g *gen) throw(t *ir.Term) {
	if isText(t.Code) {
		s := body.Literal("")
		if len(t.Args) > 0 {
			s = g.StrOf(t.Args[0])
		}
		g.str.RaiseText(t.Code, s, t.OnErr)
		return
	}
	var args [2]mach.Reg
	for i := range args {
		args[i] = mach.None
		if i < len(t.Args) {
			args[i] = g.Long(t.Args[i])
		}
	}
	g.Raise(t.Code, args[0], args[1], t.OnErr)
}

func isText(c ir.Code) bool { return c == ir.ErrUser || c == ir.ErrArgument }

func (g *gen) reporter() *mach.Block {
	if g.report == nil {
		g.report = g.Cold()
	}
	return g.report
}

// reportError sends an Error record and counts it; too many end the session. It goes on behind.
func (g *gen) reportError() {
	f := &g.Faults
	if f.Codes == nil {
		return
	}
	g.rec.PrintFirst()
	sent := g.Cold()
	text, plain := false, false
	for c := range f.Codes {
		text, plain = text || isText(c), plain || !isText(c)
	}
	if text {
		numbers := g.Cold()
		if plain {
			c := g.Copy(f.Code)
			g.AluI(asm.And, c, 0xffff)
			is, not := g.Cold(), g.Cold()
			g.CondI(asm.JEq, c, int64(ir.ErrUser), is, not)
			g.CondI(asm.JEq, c, int64(ir.ErrArgument), is, numbers)
			g.Set(is)
		}
		s := f.Text.Str()
		g.rec.ViaScratch(wire.HeaderSize+16+16+maps.StringSize(s.Cap), func(r *output.Record) {
			r.Header(wire.Error, 0)
			r.Reg(f.Code)
			r.Word(int64(g.H.Probe) | 1<<32)
			r.Word(int64(wire.Text))
			n := g.str.Length(s)
			room := g.rec.LengthWord(r, n, mach.None)
			g.str.CopyBytes(g.ArgP(r.At(0)), n, g.str.BytesOf(s))
			r.Grow(room, maps.StringSize(s.Cap))
		})
		g.Jump(sent)
		g.Set(numbers)
	}
	if plain {
		r := g.rec.Reserve(wire.HeaderSize+16+2*16, sent)
		r.Header(wire.Error, 0)
		r.Reg(f.Code)
		r.Word(int64(g.H.Probe) | 2<<32)
		r.Word(int64(wire.Int))
		r.Reg(f.A)
		r.Word(int64(wire.Int))
		r.Reg(f.B)
		r.Submit()
		g.Jump(sent)
	} else {
		g.Jump(sent) // never reached
	}
	g.Set(sent)
	ctl := g.MapVal(plan.MapControl, 0)
	old := g.Imm(1)
	g.Atomic(asm.FetchAdd, ctl, plan.CtlErrors, old, asm.Word)
	done := g.Cold()
	g.UnlessI(asm.JLT, old, int64(g.U.P.Limits.MaxErrors), done)
	g.StoreI(ctl, plan.CtlState, int64(wire.Failed), asm.Word)
	g.Here(done)
	g.CountAt(int(ir.NumCauses))
}

// afterwards has code written once the whole handler is: what it needs to know, such as which errors are
// raised, is not known before.
func (g *gen) afterwards(write func()) {
	b, on := g.Cold(), g.Block()
	g.Jump(b)
	lock, pos := g.Lock, g.Pos
	g.later = append(g.later, func() {
		g.Set(b)
		g.Lock, g.Pos = lock, pos
		write()
		g.Release()
		g.Jump(on)
	})
	g.Set(on)
}

// message sets dst to the text of the pending error, as textfmt.Fault writes it.
func (g *gen) message(dst *body.StrVar) {
	f := &g.Faults
	done := g.Cold()
	for c := ir.ErrUser; c < ir.NumCodes; c++ {
		if !f.Codes[c] {
			continue
		}
		is, not := g.Cold(), g.Cold()
		low := g.Copy(f.Code)
		g.AluI(asm.And, low, 0xffff)
		g.CondI(asm.JEq, low, int64(c), is, not)
		g.Set(is)
		g.messageOf(dst, c)
		g.Jump(done)
		g.Set(not)
	}
	g.str.Assign(dst, body.Literal(""))
	g.Here(done)
}

func (g *gen) messageOf(dst *body.StrVar, c ir.Code) {
	f := &g.Faults
	switch c {
	case ir.ErrUser, ir.ErrArgument:
		g.str.Assign(dst, f.Text.Str())
	case ir.ErrWrite:
		g.str.Format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("write fault at "),
			{Conv: 'p', Zero: true, Width: 18, Prec: -1}}}, []text.Arg{{Num: f.A}})
	case ir.ErrMemory:
		g.str.Format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("read fault at "),
			{Conv: 'p', Zero: true, Width: 18, Prec: -1}}}, []text.Arg{{Num: f.A}})
	case ir.ErrIndexRange:
		g.str.Format(dst, &ir.Format{Pieces: []ir.Piece{ir.Literal("index "), ir.Conv('d'),
			ir.Literal(" is out of range, length "), ir.Conv('d')}}, []text.Arg{{Num: f.A}, {Num: f.B}})
	case ir.ErrMapFull:
		g.messageFull(dst)
	default:
		g.str.Assign(dst, body.Literal((&textfmt.Fault{Code: c}).Message(g.U.P)))
	}
}

// messageFull: the text depends on which array is full; arrays of the same size have the same text.
func (g *gen) messageFull(dst *body.StrVar) {
	done := g.Cold()
	usual := (&textfmt.Fault{Code: ir.ErrMapFull}).Message(nil)
	for i, gl := range g.U.P.Globals {
		text := (&textfmt.Fault{Code: ir.ErrMapFull, Args: []textfmt.Val{{Int: int64(i)}}}).Message(g.U.P)
		if !gl.IsArray() || text == usual || g.U.Layout.Globals[i].Absent {
			continue
		}
		is, not := g.Cold(), g.Cold()
		g.CondI(asm.JEq, g.Faults.A, int64(i), is, not)
		g.Set(is)
		g.str.Assign(dst, body.Literal(text))
		g.Jump(done)
		g.Set(not)
	}
	g.str.Assign(dst, body.Literal(usual))
	g.Here(done)
}

// spend takes n statements off the budget.
func (g *gen) spend(n int64) {
	if !g.Prescan.Budget {
		return
	}
	g.AluI(asm.Sub, g.budget, n)
	over, on := g.Cold(), g.Block()
	g.CondI(asm.JSLT, g.budget, 0, over, on)
	g.Set(over)
	g.Raise(ir.ErrMaxAction, mach.None, mach.None, ir.NoBlock)
	g.Set(on)
}
