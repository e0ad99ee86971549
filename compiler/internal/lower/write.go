package lower

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// CodeNoEffect warns of an assignment that the program does not notice.
const CodeNoEffect diag.Code = "no-effect"

// changesProgram reports whether p assigns to variables of the traced program anywhere, or calls what changes it.
func changesProgram(p *elab.Program) bool {
	found := false
	look := func(b *ast.Block) {
		if b == nil || found {
			return
		}
		ast.Inspect(b, func(n ast.Node) bool {
			ast.Assigned(n, func(x ast.Node) {
				switch x.(type) {
				case *ast.Target, *ast.AtOp:
					found = true
				}
			})
			return !found
		})
	}
	for _, f := range p.Funcs {
		found = found || f.Intrinsic != nil && f.Intrinsic.Guru()
		look(f.Decl.Body)
	}
	for _, pr := range p.Probes {
		for _, b := range pr.Bodies {
			look(b)
		}
	}
	return found
}

// written is a variable of the traced program on the left side of an assignment.
type written struct {
	t    *elab.Target
	args []ir.Val
	addr ir.Val // of what is in memory, computed once
}

// written translates the left side. rest are expressions evaluated before the value is stored.
func (f writing) written(x ast.Expr, rest ...ast.Expr) (lv lvalue, ok bool) {
	t := f.in.Targets[x]
	if t == nil || t.Err != nil {
		return lv, false // refused by sema
	}
	if !f.assignable(x, t) {
		return lv, false
	}
	f.at(x.Range())
	w := &written{t: t}
	for i, a := range t.Args {
		w.args = append(w.args, f.keep(f.expr(a), append(append([]ast.Expr(nil), t.Args[i+1:]...), rest...)...))
	}
	if t.Place.InMemory {
		w.addr = f.reading().loc(t.Place.Addr.Strict(loc.NoKey), w.args)
	}
	return lvalue{local: ir.NoReg, glob: -1, typ: types.Long, target: w}, true
}

// assignable refuses what a number cannot be stored in, and warns where storing is in vain.
func (f writing) assignable(x ast.Expr, t *elab.Target) bool {
	name := target.Text(x)
	no := func(format string, args ...any) bool {
		f.ds.Errorf(diag.Semantic, diag.TargetWrite, x.Range(), "%s cannot be assigned to: "+format,
			append([]any{name}, args...)...)
		return false
	}
	typ := t.Place.Type
	switch {
	case t.Inner != nil || typ == nil:
		return no("it is no variable")
	case t.Pretty != nil:
		return no("it is text made of several values")
	case t.AtEntry:
		d := f.ds.Errorf(diag.Semantic, diag.TargetWrite, x.Range(),
			"%s cannot be assigned to: this is the value that it had when the function was entered", name)
		if v, ok := x.(*ast.Target); ok && v.Base == nil && len(v.Path) > 0 {
			d.Hintf("@entry(%s) in place of %s follows the pointer now; or change it in a probe at the entry, with "+
				".call", v.Name, v.Name)
		} else {
			d.Hintf("change it in a probe at the entry, with .call; $return = value changes the result")
		}
		return false
	case t.Type == types.String:
		return no("it is a %s, and writing strings of the program is not available in this version", typ.Name)
	}
	switch typ.Kind {
	case types.Int, types.Bool, types.Char, types.Enum, types.Pointer:
	default:
		return no("it is of type %s, which is more than a number", typ.Name)
	}
	if !t.Place.InMemory {
		for _, p := range t.Place.Pieces {
			if _, _, ok := f.home(p); p.Off < typ.Size && !ok {
				if f.ctx.ofCall() {
					return no("a system call has its arguments changed where it begins, its result where it returns")
				}
				return no("it is in no register or memory here, the program has computed with its value already")
			}
		}
	}
	f.warnNoEffect(x, t)
	return true
}

// setWord changes a word of a system call: an argument (0 to 5) or the result.
const setWord = "set_call_word"

// ofCall reports whether the probe is at system calls, setsWord whether it can change their n-th word.
func (c *context) ofCall() bool { return c.site != nil && c.site.Kind.Class() == probe.Syscall }

func (c *context) setsWord(n int64) bool {
	return c.ofCall() && (n < ir.SyscallNr && !c.site.IsReturn() || n == ir.SyscallRet && c.site.IsReturn())
}

// home finds what holds a piece: a step that reads a register or memory, which is the last one of p.Val
// but for shifts to its first bit.
func (f writing) home(p loc.Piece) (at int, shift int64, ok bool) {
	steps := p.Val.Steps
	at = len(steps) - 1
	for at >= 0 {
		switch s := steps[at]; s.Op {
		case loc.Reg:
			return at, shift, f.out.On().CanSet(s.N)
		case loc.Deref:
			return at, shift, shift == 0
		case loc.TraceArg:
			return at, shift, f.ctx.setsWord(s.N)
		case loc.Bits:
			shift += s.N
			at = s.A
			continue
		case loc.Shr:
			if steps[s.B].Op == loc.Const {
				shift += steps[s.B].N
				at = s.A
				continue
			}
		}
		return 0, 0, false
	}
	return 0, 0, false
}

// signed reports whether a value of type t has a sign.
func signed(t *types.Ctype) bool {
	return t.Signed && (t.Kind == types.Int || t.Kind == types.Char || t.Kind == types.Enum)
}

func (f writing) readTarget(w *written) ir.Val {
	if pl := w.t.Place; pl.InMemory && w.t.BitSize == 0 {
		return f.b.Load(w.addr, int(pl.Type.Size), signed(pl.Type), pl.Kernel)
	}
	return f.reading().loc(w.t.Value, w.args)
}

// stored is what reading w gives after v was assigned.
func (f writing) stored(w *written, v ir.Val) ir.Val {
	t := w.t.Place.Type
	switch {
	case t.Kind == types.Bool:
		return f.truth(v)
	case w.t.BitSize > 0:
		return f.cutTo(v, w.t.BitSize, t.Signed)
	}
	return f.cutTo(v, 8*t.Size, signed(t))
}

func (f writing) truth(v ir.Val) ir.Val {
	if v.Kind == ir.ValInt {
		if v.Int != 0 {
			return ir.I(1)
		}
		return v
	}
	return f.b.Bin(ir.OpNe, v, ir.I(0))
}

// cutTo is f.bits from bit 0 on, done at once for constants.
func (f writing) cutTo(v ir.Val, size int64, signed bool) ir.Val {
	if v.Kind != ir.ValInt || size <= 0 || size >= 64 {
		return f.reading().bits(v, 0, size, signed)
	}
	n := v.Int << (64 - size)
	if signed {
		return ir.I(n >> (64 - size))
	}
	return ir.I(int64(uint64(n) >> (64 - size)))
}

// writeTarget stores v.
func (f writing) writeTarget(w *written, v ir.Val) {
	pl, t := w.t.Place, w.t.Place.Type
	if t.Kind == types.Bool {
		v = f.truth(v)
	}
	if n := w.t.BitSize; n > 0 {
		// The bits around the field stay what they are.
		var old ir.Val
		if pl.InMemory {
			old = f.b.Load(w.addr, int(t.Size), false, pl.Kernel)
		} else {
			old = f.word(pl, w.args)
		}
		v = f.insert(old, v, w.t.BitOff, n)
	}
	if pl.InMemory {
		f.b.Store(w.addr, v, int(t.Size), pl.Kernel)
		return
	}
	for _, p := range pl.Pieces {
		if p.Off >= t.Size {
			continue
		}
		n := min(p.Size, t.Size-p.Off)
		part := v
		if p.Off > 0 {
			part = f.b.Bin(ir.OpShr, v, ir.I(8*p.Off))
		}
		at, shift, _ := f.home(p)
		s := p.Val.Steps[at]
		switch {
		case s.Op == loc.Deref:
			f.b.Store(f.reading().loc(loc.Prog{Steps: p.Val.Steps[:s.A+1]}, w.args), part, int(n), s.Kernel)
			continue
		case p.Part || shift > 0:
			part = f.insert(f.reading().loc(loc.Value(s), nil), part, shift, 8*n)
		default:
			// Alone in its register: the rest is what the program's own instructions would leave there. Go's
			// compiler takes nothing but zeros for granted, those of C extend by the sign.
			part = f.cutTo(part, 8*n, n == t.Size && signed(t) && !t.Go && w.t.BitSize == 0)
		}
		if s.Op == loc.TraceArg {
			f.b.Intr(setWord, ir.NoReg, ir.I(s.N), part)
			continue
		}
		f.b.SetReg(s.N, part)
	}
}

// word is the whole integer that a bit field in registers is part of.
func (f writing) word(pl loc.Place, args []ir.Val) ir.Val {
	sum := ir.I(0)
	for _, p := range pl.Pieces {
		v := f.reading().bits(f.reading().loc(p.Val, args), 0, 8*p.Size, false)
		if p.Off > 0 {
			v = f.b.Bin(ir.OpShl, v, ir.I(8*p.Off))
		}
		if sum == ir.I(0) {
			sum = v
		} else {
			sum = f.b.Bin(ir.OpOr, sum, v)
		}
	}
	return sum
}

// insert is old with size bits from bit n on replaced by the low bits of v.
func (f writing) insert(old, v ir.Val, n, size int64) ir.Val {
	if size >= 64 {
		return v
	}
	mask := int64(uint64(1)<<size - 1)
	v = f.cutTo(v, size, false)
	if n > 0 && v.Kind == ir.ValInt {
		v = ir.I(v.Int << n)
	} else if n > 0 {
		v = f.b.Bin(ir.OpShl, v, ir.I(n))
	}
	return f.b.Bin(ir.OpOr, f.b.Bin(ir.OpAnd, old, ir.I(^(mask<<n))), v)
}
