package lower

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

const entryPhase = diag.Semantic

// target gives the value of a target expression.
func (f reading) target(e ast.Expr) ir.Val {
	t := f.in.Targets[e]
	if t == nil || t.Err != nil {
		return ir.I(0) // refused by sema
	}
	f.at(e.Range())
	if t.Procfs {
		r := f.b.Str("", f.maxStr())
		f.b.Op(ir.OpValue, r)
		return ir.R(r)
	}
	if f.printing().pretty(e) != nil {
		p := &printer{f: f.fn}
		p.pretty(t)
		return p.emit(true)
	}
	if t.AtEntry && !f.inEntry {
		if v, ok := f.entryVals[slotKey{t, -1}]; ok {
			return v
		}
		f.ds.Errorf(diag.Semantic, CodePairing, e.Range(),
			"%s is a value of the function's entry, which is not kept here", target.Text(e))
		return ir.I(0)
	}
	if t.Names != nil {
		return f.enumName(f.loc(t.Value, f.args(t)), t.Names)
	}
	if t.Type == types.String {
		v := f.readText(t.Value, t.Len, f.args(t))
		if op, ok := e.(*ast.AtOp); ok && op.Name == ast.RangeKey {
			return f.wholeKey(t, v)
		}
		return v
	}
	v := f.loc(t.Value, f.args(t))
	if t.Narrow {
		return f.soft("wide", v)
	}
	return v
}

// enumName gives the name of the enumerator with the value v, the first one of those that share it; the number in
// decimal if there is none.
func (f reading) enumName(v ir.Val, names []types.Enumerator) ir.Val {
	for _, e := range names {
		if v.Kind == ir.ValInt && e.Val == v.Int {
			return ir.S(e.Name)
		}
	}
	r := f.b.Str("", f.maxStr())
	join := f.b.Block()
	seen := map[int64]bool{}
	for _, e := range names {
		if seen[e.Val] || v.Kind == ir.ValInt {
			continue
		}
		seen[e.Val] = true
		yes, no := f.b.Block(), f.b.Block()
		f.b.Branch(f.b.Bin(ir.OpEq, v, ir.I(e.Val)), yes, no)
		f.to(yes)
		f.b.Mov(r, ir.S(e.Name))
		f.b.Jump(join)
		f.to(no)
	}
	p := &printer{f: f.fn}
	p.conv(ir.Conv('d'), v)
	f.b.Mov(r, p.emit(true))
	f.b.Jump(join)
	f.to(join)
	return ir.R(r)
}

// args translates the expressions that a target's location program takes.
func (f reading) args(t *elab.Target) []ir.Val {
	vals := f.exprs(t.Args)
	for _, i := range t.Texts {
		if x, ok := ast.Unparen(t.Args[i]).(*ast.Target); ok {
			vals[i] = f.wholeKey(f.in.Targets[x], vals[i])
		}
	}
	return vals
}

// readText reads a string of the program.
func (f reading) readText(ptr, length loc.Prog, args []ir.Val) ir.Val {
	r := f.b.Str("", f.maxStr())
	p := f.loc(ptr, args)
	name, vals := "user_string", []ir.Val{p}
	if !length.Empty() {
		n := f.loc(length, args)
		name, vals = "user_string_n", append(vals, n)
		if n.Kind == ir.ValInt {
			f.b.F.Regs[r].Cap = int(min(max(n.Int, 0), int64(f.maxStr())))
		}
	}
	f.b.Intr(name, r, vals...)
	return ir.R(r)
}

// quotedText reads a string of the program, or of the kernel, as $x$ shows it.
func (f reading) quotedText(p *elab.PrettyPart, args []ir.Val) ir.Val {
	name, n, c := "user_text", ir.I(-1), ir.I(0)
	if p.Kernel {
		name = "kernel_text"
	}
	if p.CString {
		c = ir.I(1)
	}
	addr := f.loc(p.Value, args)
	if !p.Len.Empty() {
		n = f.loc(p.Len, args)
	}
	size := f.maxStr()
	if n.Kind == ir.ValInt && n.Int >= 0 && n.Int < int64(size) {
		size = min(size, textfmt.QuotedCap(int(n.Int)))
	}
	r := f.b.Str("", size)
	f.b.Intr(name, r, addr, n, c)
	return ir.R(r)
}

// whole gives the text of values with what they lead to, which the host makes.
func (f reading) whole(p *elab.PrettyPart, args []ir.Val) ir.Val {
	vals := []ir.Val{ir.S(p.Plan)}
	for _, w := range p.Words {
		vals = append(vals, f.loc(w, args))
	}
	r := f.b.Str("", f.maxStr())
	f.b.Intr("snapshot", r, vals...)
	return ir.R(r)
}

// prettyValue gives the value of part i of t.
func (f reading) prettyValue(t *elab.Target, i int) ir.Val {
	p := &t.Pretty[i]
	if p.AtEntry && !f.inEntry {
		if v, ok := f.entryVals[slotKey{t, i}]; ok {
			return v
		}
		return ir.S("?")
	}
	switch p.Conv {
	case 's':
		return f.quotedText(p, f.args(t))
	case 'v':
		return f.whole(p, f.args(t))
	}
	return f.loc(p.Value, f.args(t))
}

// loc translates a location program. Steps that are computed already are shared.
func (f reading) loc(p loc.Prog, args []ir.Val) ir.Val {
	vals := make([]ir.Val, len(p.Steps))
	near := make([]bool, len(p.Steps)) // in the group of a map that was just searched
	for i, s := range p.Steps {
		switch s.Op {
		case loc.Find:
			near[i] = !f.writes
		case loc.Else:
			near[i] = near[s.A]
		case loc.Add:
			near[i] = near[s.A] && p.Steps[s.B].Op == loc.Const
		}
		vals[i] = f.locStep(s, vals, args, s.Op == loc.Deref && near[s.A] && !s.Kernel)
	}
	if len(vals) == 0 {
		return ir.I(0)
	}
	return vals[len(vals)-1]
}

var locOps = map[loc.Op]ir.Op{
	loc.Add: ir.OpAdd, loc.Sub: ir.OpSub, loc.Mul: ir.OpMul, loc.And: ir.OpAnd, loc.Or: ir.OpOr, loc.Xor: ir.OpXor,
	loc.Shl: ir.OpShl, loc.Shr: ir.OpShr, loc.Sar: ir.OpSar, loc.Neg: ir.OpNeg, loc.Not: ir.OpNot,
	loc.Equal: ir.OpEq, loc.Less: ir.OpULt,
}

func (f reading) locStep(s loc.Step, vals, args []ir.Val, near bool) ir.Val {
	switch s.Op {
	case loc.Const:
		return ir.I(s.N)
	case loc.Arg:
		if s.N >= 0 && int(s.N) < len(args) {
			return args[s.N]
		}
		return ir.I(0)
	}
	var a, b ir.Val
	key := fmt.Sprintf("%d %d %d %t %t %q", s.Op, s.N, s.Size, s.Signed, s.Kernel, s.Text)
	if s.Map != nil {
		key += fmt.Sprintf(" %+v", *s.Map)
	}
	switch s.Op {
	case loc.Reg, loc.TLS, loc.Image, loc.TraceArg, loc.Offset:
	case loc.Neg, loc.Not, loc.Deref, loc.Bits, loc.Through:
		a = vals[s.A]
		key += " " + operand(a)
	default:
		a, b = vals[s.A], vals[s.B]
		key += " " + operand(a) + " " + operand(b)
	}
	var more []ir.Val
	if s.Chain != nil {
		more = f.chainOperands(s.Chain, args)
		key += " " + s.Chain.String()
	}
	named := func(v ir.Val) bool { return v.Kind == ir.ValReg && f.b.F.Regs[v.Reg].Name != "" }
	for _, v := range more {
		key += " " + operand(v)
	}
	if named(a) || named(b) || slices.ContainsFunc(more, named) {
		key = "" // a variable of the script may change
	}
	if f.writes {
		key = ""
	}
	if v, ok := f.cse[key]; ok && key != "" {
		return v
	}
	v := f.compute(s, a, b, more, near)
	if key != "" {
		f.cse[key] = v
	}
	return v
}

func operand(v ir.Val) string {
	switch v.Kind {
	case ir.ValReg:
		return fmt.Sprintf("r%d", v.Reg)
	case ir.ValStr:
		return fmt.Sprintf("%q", v.Str)
	}
	return fmt.Sprint(v.Int)
}

func (f reading) compute(s loc.Step, a, b ir.Val, more []ir.Val, near bool) ir.Val {
	emit := func(op ir.Op, n int64, args ...ir.Val) ir.Val {
		r := f.b.Long("")
		in := f.b.Make(op, r, args...)
		in.N = n
		f.b.Emit(in)
		return ir.R(r)
	}
	switch s.Op {
	case loc.Reg:
		return emit(ir.OpReg, s.N)
	case loc.TraceArg:
		return emit(ir.OpTraceArg, s.N)
	case loc.TLS:
		return emit(ir.OpTLS, 0)
	case loc.Image:
		return emit(ir.OpBias, 0)
	case loc.Offset:
		r := f.b.Long("")
		in := f.b.Make(ir.OpOffset, r)
		in.N, in.Name = s.N, s.Text
		f.b.Emit(in)
		return ir.R(r)
	case loc.Neg, loc.Not:
		return f.b.Un(locOps[s.Op], a)
	case loc.Deref:
		if name := fmt.Sprintf("near_uint%d", 8*s.Size); near && intrinsic.Lookup(name) != nil {
			r := f.b.Long("")
			f.b.Intr(name, r, a)
			return f.bits(ir.R(r), 0, int64(8*s.Size), s.Signed)
		}
		return f.b.Load(a, s.Size, s.Signed, s.Kernel)
	case loc.Bits:
		return f.bits(a, s.N, int64(s.Size), s.Signed)
	case loc.Below:
		return f.below(a, b)
	case loc.Within:
		return f.within(a, b)
	case loc.Through:
		return f.through(s, a)
	case loc.Else:
		return f.orElse(a, b)
	case loc.Check:
		return f.check(a, b, s.Text)
	case loc.Find, loc.Next, loc.KeyAt, loc.ElemAt:
		return f.inMap(s.Op, s.Map, a, b)
	case loc.Stored:
		return f.stored(s.Chain, append([]ir.Val{a, b}, more...))
	}
	if a.Kind == ir.ValInt && b.Kind == ir.ValInt {
		switch s.Op {
		case loc.Add:
			return ir.I(a.Int + b.Int)
		case loc.Sub:
			return ir.I(a.Int - b.Int)
		case loc.Mul:
			return ir.I(a.Int * b.Int)
		}
	}
	return f.b.Bin(locOps[s.Op], a, b)
}

// bits takes size bits of v from bit n on.
func (f reading) bits(v ir.Val, n, size int64, signed bool) ir.Val {
	if size <= 0 || size >= 64 && n == 0 {
		return v
	}
	if signed {
		if up := 64 - n - size; up > 0 {
			v = f.b.Bin(ir.OpShl, v, ir.I(up))
		}
		return f.b.Bin(ir.OpSar, v, ir.I(64-size))
	}
	if n > 0 {
		v = f.b.Bin(ir.OpShr, v, ir.I(n))
	}
	if n+size < 64 {
		v = f.b.Bin(ir.OpAnd, v, ir.I(int64(uint64(1)<<size-1)))
	}
	return v
}

// below is a if it is an index below b; anything else is a run-time error.
func (f reading) below(a, b ir.Val) ir.Val {
	if a.Kind == ir.ValInt && b.Kind == ir.ValInt && uint64(a.Int) < uint64(b.Int) {
		return a
	}
	ok, bad := f.b.Block(), f.b.Block()
	f.b.Branch(f.b.Bin(ir.OpULt, a, b), ok, bad)
	f.to(bad)
	f.b.Fail(ir.ErrIndexRange, a, b)
	f.to(ok)
	return a
}

// within is a if it is at most b; anything else is a run-time error.
func (f reading) within(a, b ir.Val) ir.Val {
	if a.Kind == ir.ValInt && b.Kind == ir.ValInt && uint64(a.Int) <= uint64(b.Int) {
		return a
	}
	ok, bad := f.b.Block(), f.b.Block()
	f.b.Branch(f.b.Bin(ir.OpULt, b, a), bad, ok)
	f.to(bad)
	f.b.Fail(ir.ErrIndexRange, a, b)
	f.to(ok)
	return a
}

// through is what lies at a + s.N, 0 where a is 0.
func (f reading) through(s loc.Step, a ir.Val) ir.Val {
	r := f.b.Long("")
	f.b.Mov(r, ir.I(0))
	some, join := f.b.Block(), f.b.Block()
	f.b.Branch(a, some, join)
	f.to(some)
	at := a
	if s.N != 0 {
		at = f.b.Bin(ir.OpAdd, a, ir.I(s.N))
	}
	f.b.Mov(r, f.b.Load(at, s.Size, s.Signed, s.Kernel))
	f.b.Jump(join)
	f.to(join)
	return ir.R(r)
}

// orElse is a if that is not 0, else b.
func (f reading) orElse(a, b ir.Val) ir.Val {
	r := f.b.Long("")
	f.b.Mov(r, a)
	none, join := f.b.Block(), f.b.Block()
	f.b.Branch(a, join, none)
	f.to(none)
	f.b.Mov(r, b)
	f.b.Jump(join)
	f.to(join)
	return ir.R(r)
}

// check is a if holds is not 0, else a run-time error.
func (f reading) check(a, holds ir.Val, text string) ir.Val {
	ok, bad := f.b.Block(), f.b.Block()
	f.b.Branch(holds, ok, bad)
	f.to(bad)
	f.b.Fail(ir.ErrUser, ir.S(f.text(text)))
	f.to(ok)
	return a
}
