package lower

import (
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// effect translates an expression whose value nobody looks at.
func (f *fn) effect(e ast.Expr) {
	if e == nil {
		return
	}
	f.at(e.Range())
	if _, ok := f.in.Const[e]; ok {
		return
	}
	switch e := e.(type) {
	case *ast.Paren:
		f.effect(e.X)
	case *ast.Assign:
		f.writing().assign(e, false)
	case *ast.Postfix:
		f.writing().step(e.X, e.Op, false, false)
	case *ast.Unary:
		if e.Op == "++" || e.Op == "--" {
			f.writing().step(e.X, e.Op, true, false)
			return
		}
		f.expr(e)
	case *ast.Call:
		f.call(e, false)
	case *ast.Binary:
		if e.Op == "&&" || e.Op == "||" {
			// Only the right side's effects matter behind the decision.
			run, join := f.b.Block(), f.b.Block()
			if e.Op == "&&" {
				f.cond(e.X, run, join)
			} else {
				f.cond(e.X, join, run)
			}
			shared := f.snapshot()
			f.to(run)
			f.effect(e.Y)
			f.b.Jump(join)
			f.restore(shared)
			f.to(join)
			return
		}
		f.expr(e)
	case *ast.Ternary:
		f.ternary(e, false)
	default:
		f.expr(e)
	}
}

// typ is the script type of e.
func (f *fn) typ(e ast.Expr) types.Type {
	if _, ok := f.in.Const[e]; ok {
		return types.Long
	}
	if t, ok := f.in.Types[e]; ok && t != types.Unknown {
		return t
	}
	switch e := e.(type) {
	case *ast.Paren:
		return f.typ(e.X)
	case *ast.Literal:
		if e.IsString {
			return types.String
		}
	case *ast.Binary:
		if e.Op == "." {
			return types.String
		}
	case *ast.Ternary:
		return f.typ(e.Then)
	}
	if t := f.in.Targets[e]; t != nil && t.Type != types.Unknown {
		return t.Type
	}
	return types.Long
}

// valueOf translates a call whose value is looked at, which is 0 or "" where it has none.
func (f *fn) valueOf(c *ast.Call) ir.Val {
	v := f.call(c, true)
	if v.Kind == ir.ValNone {
		return zero(f.typ(c))
	}
	return v
}

// expr translates e and gives its value. A register that comes back may be that of a
// variable, which a later assignment changes: see keep.
func (f *fn) expr(e ast.Expr) ir.Val { return f.become(e, f.plain(e)) }

// plain is expr before its value becomes another one.
func (f *fn) plain(e ast.Expr) ir.Val {
	if n, ok := f.in.Const[e]; ok {
		return ir.I(n)
	}
	f.at(e.Range())
	switch e := e.(type) {
	case *ast.Literal:
		if e.IsString {
			return ir.S(f.text(e.Str))
		}
		return ir.I(e.Num)
	case *ast.Paren:
		return f.expr(e.X)
	case *ast.Name:
		return f.name(e)
	case *ast.Unary:
		switch e.Op {
		case "++", "--":
			return f.writing().step(e.X, e.Op, true, true)
		case "&":
			return f.reading().target(e)
		}
		return f.unary(e)
	case *ast.Postfix:
		return f.writing().step(e.X, e.Op, false, true)
	case *ast.Binary:
		return f.binary(e)
	case *ast.Assign:
		return f.writing().assign(e, true)
	case *ast.Ternary:
		return f.ternary(e, true)
	case *ast.In:
		return f.arrays().member(e)
	case *ast.Index:
		return f.arrays().element(e)
	case *ast.HistIndex:
		return f.arrays().histIndex(e)
	case *ast.Call:
		return f.valueOf(e)
	case *ast.AtOp:
		if statOf(e.Name) {
			return f.arrays().stat(e)
		}
		if e.Name == "@const" {
			return f.builtins().embeddedExpr(e)
		}
		return f.reading().target(e)
	case *ast.Target:
		return f.reading().target(e)
	case *ast.EmbeddedExpr:
		return f.builtins().embeddedExpr(e)
	}
	return ir.I(0)
}

// changes reports whether evaluating one of es can change a local variable.
func changes(es ...ast.Expr) bool {
	found := false
	for _, e := range es {
		if e == nil {
			continue
		}
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Assign, *ast.Postfix:
				found = true
			case *ast.Unary:
				found = found || n.Op == "++" || n.Op == "--"
			}
			return !found
		})
	}
	return found
}

// keep gives a value that stays what it is while rest is evaluated.
func (f *fn) keep(v ir.Val, rest ...ast.Expr) ir.Val {
	if v.Kind != ir.ValReg || f.b.F.Regs[v.Reg].Name == "" || !changes(rest...) {
		return v
	}
	info := f.b.F.Regs[v.Reg]
	r := f.b.Reg("", info.Type, info.Cap)
	f.b.Mov(r, v)
	return ir.R(r)
}

// exprs translates a list; nil entries are stars.
func (f *fn) exprs(es []ast.Expr) []ir.Val {
	var out []ir.Val
	for i, e := range es {
		if e == nil {
			out = append(out, ir.Star())
			continue
		}
		out = append(out, f.keep(f.expr(e), es[i+1:]...))
	}
	return out
}

func (f *fn) keys(es []ast.Expr) []ir.Val { return f.exprs(es) }

func (f *fn) name(e *ast.Name) ir.Val {
	if l := f.in.Locs[e]; l != nil {
		if f.inEntry {
			f.ds.Errorf(entryPhase, CodePairing, e.Span,
				"@entry is evaluated when the function is entered, where the local variable %s has no value", e.Name).
				Hintf("only globals, functions and variables of the program are known there")
		}
		if r, ok := f.locals[l]; ok {
			return ir.R(r)
		}
		return zero(l.Type)
	}
	g, ok := f.globs[f.in.Globs[e]]
	if !ok {
		return zero(f.typ(e))
	}
	gl := f.out.Globals[g]
	r := f.b.Reg("", gl.Type, gl.Cap)
	f.b.OnGlobal(ir.OpGGet, g, r)
	return ir.R(r)
}

func (f *fn) unary(e *ast.Unary) ir.Val {
	if e.Op == "!" {
		return f.logic(e)
	}
	v := f.expr(e.X)
	switch e.Op {
	case "-":
		if f.in.Floats[e] {
			return f.negative(v)
		}
		if v.Kind == ir.ValInt {
			return ir.I(-v.Int)
		}
		return f.b.Un(ir.OpNeg, v)
	case "~":
		if v.Kind == ir.ValInt {
			return ir.I(^v.Int)
		}
		return f.b.Un(ir.OpNot, v)
	}
	return v
}

var arith = map[string]ir.Op{
	"+": ir.OpAdd, "-": ir.OpSub, "*": ir.OpMul, "/": ir.OpDiv, "%": ir.OpMod, "&": ir.OpAnd, "|": ir.OpOr,
	"^":  ir.OpXor,
	"<<": ir.OpShl, ">>": ir.OpSar, ">>>": ir.OpShr,
}

var compare = map[string]ir.Op{"==": ir.OpEq, "!=": ir.OpNe, "<": ir.OpLt, "<=": ir.OpLe, ">": ir.OpGt, ">=": ir.OpGe}

func (f *fn) binary(e *ast.Binary) ir.Val {
	switch e.Op {
	case "&&", "||":
		return f.logic(e)
	case "=~", "!~":
		return f.match(e)
	}
	x := f.keep(f.expr(e.X), e.Y)
	y := f.expr(e.Y)
	f.b.Pos = f.opPos(e)
	if f.in.Floats[e.X] {
		return f.floats(e.Op, x, y)
	}
	if e.Op == "." {
		return f.cat(x, y)
	}
	if op, ok := compare[e.Op]; ok {
		if f.typ(e.X) == types.String {
			return f.b.Bin(op, f.b.Bin(ir.OpSCmp, x, y), ir.I(0))
		}
		return f.b.Bin(op, x, y)
	}
	return f.arith(e.Op, x, y)
}

// match translates =~ and !~.
func (f *fn) match(e *ast.Binary) ir.Val {
	pat, ok := ast.Unparen(e.Y).(*ast.Literal)
	if !ok {
		return ir.I(0) // refused by sema
	}
	n, err := f.out.AddRegex(pat.Str)
	if err != nil {
		return ir.I(0) // refused by sema
	}
	x := f.expr(e.X)
	f.b.Pos = f.opPos(e)
	v := f.b.Match(n, x)
	if e.Op == "!~" {
		v = f.b.Bin(ir.OpEq, v, ir.I(0))
	}
	return v
}

// arith computes x op y on longs, with the check for division by zero.
func (f *fn) arith(op string, x, y ir.Val) ir.Val {
	o := arith[op]
	if o == ir.OpDiv || o == ir.OpMod {
		if y.Kind == ir.ValInt && y.Int == 0 {
			f.b.Fail(ir.ErrDivZero)
			f.to(f.b.Block()) // nothing leads here
			return ir.I(0)
		}
		f.notZero(y)
	}
	return f.b.Bin(o, x, y)
}

func (f *fn) notZero(y ir.Val) {
	if y.Kind == ir.ValInt {
		return
	}
	ok, bad := f.b.Block(), f.b.Block()
	f.b.Branch(y, ok, bad)
	f.to(bad)
	f.b.Fail(ir.ErrDivZero)
	f.to(ok)
}

// opPos is the place of a binary operator: between its operands.
func (f *fn) opPos(e *ast.Binary) source.Pos {
	from, to := e.X.Range().To, e.Y.Range().From
	if f.p.Files == nil {
		return e.Span.From
	}
	file := f.p.Files.File(from)
	if file == nil || to <= from || f.p.Files.File(to) != file {
		return e.Span.From
	}
	a, b := file.Offset(from), file.Offset(to)
	if a < 0 || b > len(file.Text) {
		return e.Span.From
	}
	if i := strings.Index(string(file.Text[a:b]), e.Op); i >= 0 {
		return from + source.Pos(i)
	}
	return e.Span.From
}

func (f *fn) capOf(v ir.Val) int {
	if v.Kind == ir.ValStr {
		return len(v.Str)
	}
	return f.b.F.Regs[v.Reg].Cap
}

func (f *fn) cat(x, y ir.Val) ir.Val {
	if x.Kind == ir.ValStr && y.Kind == ir.ValStr {
		return ir.S(f.text(x.Str + y.Str))
	}
	r := f.b.Str("", min(f.capOf(x)+f.capOf(y), f.maxStr()))
	f.b.Op(ir.OpCat, r, x, y)
	return ir.R(r)
}

// cond branches on e.
func (f *fn) cond(e ast.Expr, then, els ir.BlockID) {
	if n, ok := sema.Number(f.in, e); ok {
		if n != 0 {
			f.b.Jump(then)
		} else {
			f.b.Jump(els)
		}
		return
	}
	switch x := e.(type) {
	case *ast.Paren:
		f.cond(x.X, then, els)
		return
	case *ast.Unary:
		if x.Op == "!" {
			f.cond(x.X, els, then)
			return
		}
	case *ast.Binary:
		if x.Op == "&&" || x.Op == "||" {
			mid := f.b.Block()
			if x.Op == "&&" {
				f.cond(x.X, mid, els)
			} else {
				f.cond(x.X, then, mid)
			}
			// What the right side computes is not there where the left one decides.
			shared := f.snapshot()
			f.to(mid)
			f.cond(x.Y, then, els)
			f.restore(shared)
			return
		}
	}
	f.b.Branch(f.expr(e), then, els)
}

// logic gives e, a logical expression, as 0 or 1.
func (f *fn) logic(e ast.Expr) ir.Val {
	r := f.b.Long("")
	yes, no, join := f.b.Block(), f.b.Block(), f.b.Block()
	f.cond(e, yes, no)
	f.to(yes)
	f.b.Mov(r, ir.I(1))
	f.b.Jump(join)
	f.to(no)
	f.b.Mov(r, ir.I(0))
	f.b.Jump(join)
	f.to(join)
	return ir.R(r)
}

func (f *fn) ternary(e *ast.Ternary, value bool) ir.Val {
	if n, ok := sema.Number(f.in, e.Cond); ok {
		arm := e.Then
		if n == 0 {
			arm = e.Else
		}
		if !value {
			f.effect(arm)
			return ir.Val{}
		}
		return f.expr(arm)
	}
	then, els, join := f.b.Block(), f.b.Block(), f.b.Block()
	f.cond(e.Cond, then, els)
	shared := f.snapshot()
	if !value {
		f.to(then)
		f.effect(e.Then)
		f.b.Jump(join)
		f.restore(shared)
		f.to(els)
		f.effect(e.Else)
		f.b.Jump(join)
		f.restore(shared)
		f.to(join)
		return ir.Val{}
	}
	t := f.typ(e)
	r := f.b.Reg("", t, f.capFor(t))
	width := 0
	arm := func(b ir.BlockID, x ast.Expr) {
		f.restore(shared)
		f.to(b)
		v := f.expr(x)
		if t == types.String {
			width = max(width, f.capOf(v))
		}
		f.b.Mov(r, v)
		f.b.Jump(join)
	}
	arm(then, e.Then)
	arm(els, e.Else)
	if t == types.String {
		f.b.F.Regs[r].Cap = width
	}
	f.restore(shared)
	f.to(join)
	return ir.R(r)
}
