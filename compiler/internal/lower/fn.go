package lower

import (
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// fn translates one handler or function.
type fn struct {
	*lowerer
	b   *ir.Builder
	in  *elab.Info
	ctx *context

	pr    *elab.Probe // of a handler
	sites []*probe.Site
	ef    *elab.Func // of a function
	next  func()     // what "next" does

	locals map[*elab.Local]ir.Reg
	loops  []loop
	budget bool   // statements are counted
	turns  ir.Reg // of a function of the library: the turns that its loops have left; NoReg elsewhere

	// cse holds values of location programs that are computed already where control is now.
	cse map[string]ir.Val

	// store says where the entry values of a return probe are kept, entryVals what they are.
	store     *entryStore
	entryVals map[slotKey]ir.Val
	// inEntry: this is the handler at the function's entry that keeps them.
	inEntry bool
}

type loop struct{ brk, cont ir.BlockID }

func (l *lowerer) newFn(name string, in *elab.Info, ctx *context) *fn {
	return &fn{
		lowerer: l, b: ir.NewBuilder(name), in: in, ctx: ctx, turns: ir.NoReg,
		locals: map[*elab.Local]ir.Reg{}, cse: map[string]ir.Val{}, entryVals: map[slotKey]ir.Val{},
	}
}

func (f *fn) capFor(t types.Type) int {
	if t == types.String {
		return f.maxStr()
	}
	return 0
}

// initLocals makes the registers of the locals and sets them to 0 or "".
func (f *fn) initLocals() {
	for _, v := range f.in.Locals {
		if v.Param || v.Type != types.Long && v.Type != types.String {
			continue
		}
		r := f.b.Reg(v.Name, v.Type, f.capFor(v.Type))
		f.locals[v] = r
		f.b.Mov(r, zero(v.Type))
	}
}

func zero(t types.Type) ir.Val {
	if t == types.String {
		return ir.S("")
	}
	return ir.I(0)
}

// at sets the position of what is emitted next.
func (f *fn) at(sp source.Span) {
	if sp.From.IsValid() {
		f.b.Pos = sp.From
	}
}

// to goes on in block id, which only what has been emitted before can reach: shared values stay.
func (f *fn) to(id ir.BlockID) { f.b.SetBlock(id) }

// snapshot and restore keep shared values to the blocks that their computation dominates.
func (f *fn) snapshot() map[string]ir.Val {
	out := make(map[string]ir.Val, len(f.cse))
	for k, v := range f.cse {
		out[k] = v
	}
	return out
}

func (f *fn) restore(s map[string]ir.Val) {
	f.cse = make(map[string]ir.Val, len(s))
	for k, v := range s {
		f.cse[k] = v
	}
}

// stmts translates a list, and takes its statements off the budget: those up to a
// statement that branches at once.
func (f *fn) stmts(list []ast.Stmt) {
	for i := 0; i < len(list); {
		j, n := i, 0
		for j < len(list) {
			s := list[j]
			if b, ok := s.(*ast.Block); ok {
				if j > i {
					break
				}
				f.stmts(b.Stmts)
				j++
				break
			}
			n = add(n, f.ownCost(s))
			j++
			if branches(s) {
				break
			}
		}
		if f.budget && n > 0 {
			f.b.Pos = list[i].Range().From
			f.b.Budget(n)
		}
		for ; i < j; i++ {
			if _, ok := list[i].(*ast.Block); !ok {
				f.stmt(list[i])
			}
		}
	}
}

// branches reports whether other statements are inside of s.
func branches(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.If, *ast.While, *ast.For, *ast.Foreach, *ast.Try, *ast.Block:
		return true
	}
	return false
}

// ownCost is what s takes off the budget before the statements inside of it do. Functions
// that count for themselves cost nothing here.
func (f *fn) ownCost(s ast.Stmt) int {
	calls := func(n ast.Node) int {
		c := f.callCost(f.in, n)
		if c >= unbounded {
			return 0
		}
		return c
	}
	switch s := s.(type) {
	case *ast.If:
		return 1 + calls(s.Cond)
	case *ast.While, *ast.For, *ast.Foreach, *ast.Try:
		return 1
	default:
		return 1 + calls(s)
	}
}

func (f *fn) body(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.Block:
		if s != nil {
			f.stmts(s.Stmts)
		}
	default:
		f.stmts([]ast.Stmt{s})
	}
}

func (f *fn) stmt(s ast.Stmt) {
	f.at(s.Range())
	switch s := s.(type) {
	case *ast.Empty:
	case *ast.Block:
		f.body(s)
	case *ast.ExprStmt:
		f.effect(s.X)
	case *ast.If:
		f.ifStmt(s)
	case *ast.While:
		f.loop(nil, s.Cond, nil, s.Body)
	case *ast.For:
		f.loop(s.Init, s.Cond, s.Post, s.Body)
	case *ast.Foreach:
		if s.Loop != nil {
			f.stmt(s.Loop)
			break
		}
		f.foreach(s)
	case *ast.Return:
		f.ret(s)
	case *ast.Delete:
		f.delete(s)
	case *ast.Next:
		f.next()
	case *ast.Break:
		if n := len(f.loops); n > 0 {
			f.b.Jump(f.loops[n-1].brk)
		}
	case *ast.Continue:
		if n := len(f.loops); n > 0 {
			f.b.Jump(f.loops[n-1].cont)
		}
	case *ast.Try:
		f.try(s)
	}
}

func (f *fn) ifStmt(s *ast.If) {
	if v, ok := sema.Number(f.in, s.Cond); ok {
		if v != 0 {
			f.body(s.Then)
		} else {
			f.body(s.Else)
		}
		return
	}
	then, join := f.b.Block(), f.b.Block()
	els := join
	if s.Else != nil {
		els = f.b.Block()
	}
	f.cond(s.Cond, then, els)
	shared := f.snapshot()
	f.to(then)
	f.body(s.Then)
	f.b.Jump(join)
	if s.Else != nil {
		f.restore(shared)
		f.to(els)
		f.body(s.Else)
		f.b.Jump(join)
	}
	f.restore(shared)
	f.to(join)
}

// loop translates while and for.
func (f *fn) loop(init, cond, post ast.Expr, body ast.Stmt) {
	if init != nil {
		f.effect(init)
	}
	head, in, step, out := f.b.Block(), f.b.Block(), f.b.Block(), f.b.Block()
	f.b.Jump(head)
	shared := f.snapshot()
	f.to(head)
	if cond == nil {
		f.b.Jump(in)
	} else {
		f.at(cond.Range())
		f.cond(cond, in, out)
	}
	f.to(in)
	f.inLoop(loop{out, step}, body, cond, post)
	f.b.Jump(step)
	f.restore(shared)
	f.to(step)
	if post != nil {
		f.effect(post)
	}
	f.b.Jump(head)
	f.restore(shared)
	f.to(out)
}

// inLoop translates the body of a loop. Every turn takes something off the budget, also
// when the body is empty.
func (f *fn) inLoop(l loop, body ast.Stmt, heads ...ast.Expr) {
	n := 1
	for _, h := range heads {
		if h != nil {
			if c := f.callCost(f.in, h); c < unbounded {
				n = add(n, c)
			}
		}
	}
	f.b.Pos = body.Range().From
	if f.free() {
		f.turn()
	} else {
		f.b.Budget(n)
	}
	f.loops = append(f.loops, l)
	f.body(body)
	f.loops = f.loops[:len(f.loops)-1]
}

func (f *fn) ret(s *ast.Return) {
	if f.ef == nil {
		return // refused by sema
	}
	if s.X == nil || f.b.F.Result == types.Unknown {
		if s.X != nil {
			f.effect(s.X)
		}
		if f.b.F.Result == types.Unknown {
			f.b.Return(ir.Val{})
		} else {
			f.b.Return(zero(f.b.F.Result))
		}
		return
	}
	f.b.Return(f.expr(s.X))
}

func (f *fn) try(s *ast.Try) {
	outer := f.b.OnErr
	catch, join := f.b.Block(), f.b.Block()
	shared := f.snapshot()
	f.b.OnErr = catch
	f.body(s.Body)
	f.b.OnErr = outer
	f.b.Jump(join)
	f.restore(shared)
	f.to(catch)
	if s.Msg != nil {
		f.at(s.Msg.Span)
		t := f.b.Str("", f.maxStr())
		f.b.Op(ir.OpErrMsg, t)
		f.assignIdent(s.Msg, ir.R(t))
	}
	f.body(s.Catch)
	f.b.Jump(join)
	f.restore(shared)
	f.to(join)
}

// assignIdent gives a variable that a statement names a value.
func (f *fn) assignIdent(id *ast.Ident, v ir.Val) {
	if l := f.in.Locs[id]; l != nil {
		if r, ok := f.locals[l]; ok {
			f.b.Mov(r, v)
		}
		return
	}
	if g, ok := f.globs[f.in.Globs[id]]; ok {
		f.b.OnGlobal(ir.OpGSet, g, ir.NoReg, v)
	}
}

// delete translates "delete x".
func (f *fn) delete(s *ast.Delete) {
	switch x := ast.Unparen(s.X).(type) {
	case *ast.Name:
		if l := f.in.Locs[x]; l != nil {
			if r, ok := f.locals[l]; ok {
				f.b.Mov(r, zero(l.Type))
			}
			return
		}
		if g, ok := f.globs[f.in.Globs[x]]; ok {
			f.b.OnGlobal(ir.OpMClear, g, ir.NoReg)
		}
	case *ast.Index:
		if g, ok := f.globs[f.in.Globs[x.Array]]; ok {
			f.b.OnGlobal(ir.OpMDel, g, ir.NoReg, f.keys(x.Keys)...)
		}
	}
}

// foreach translates the loop over an array or over the buckets of a histogram.
func (f *fn) foreach(s *ast.Foreach) {
	if s.Hist != nil {
		f.arrays().foreachHist(s)
		return
	}
	g, ok := f.globs[f.in.Globs[s.Array]]
	if !ok {
		return
	}
	order := ""
	if s.Sort != 0 {
		mark := "+"
		if s.Sort < 0 {
			mark = "-"
		}
		switch {
		case s.SortKey != ast.SortByValue:
			order = "k" + string(rune('0'+s.SortKey)) + mark
		case s.SortAgg != "":
			order = "@" + strings.TrimPrefix(s.SortAgg, "@") + mark
			if s.SortAgg == "@variance" {
				f.out.Globals[g].Stat.Variance = true
			}
		default:
			order = "v" + mark
		}
	}
	var slice []ir.Val
	if len(s.Slice) > 0 {
		slice = f.keys(s.Slice)
	}
	limit := ir.I(-1)
	if s.Limit != nil {
		limit = f.limit(f.expr(s.Limit))
	}
	f.at(s.Array.Span)
	it := f.b.IterOpen(g, order, slice, limit)
	if it >= ir.MaxIters {
		f.ds.Errorf(diag.Semantic, CodeNotYet, s.Span,
			"more than %d foreach loops in one handler or function are not available in this version", ir.MaxIters)
		return
	}
	head, in, out := f.b.Block(), f.b.Block(), f.b.Block()
	f.b.Jump(head)
	shared := f.snapshot()
	f.to(head)
	f.b.Branch(f.b.IterNext(g, it), in, out)
	f.to(in)
	for i, k := range s.Keys {
		f.loopVar(k, f.out.Globals[g].Keys[i].Type, func(r ir.Reg) { f.b.IterKey(g, it, i, r) })
	}
	if s.Value != nil {
		f.loopVar(s.Value, f.out.Globals[g].Type, func(r ir.Reg) { f.b.IterVal(g, it, r) })
	}
	f.inLoop(loop{out, head}, s.Body)
	f.b.Jump(head)
	f.restore(shared)
	f.to(out)
}

// limit makes sure that a computed limit below 0 is not taken for "none".
func (f *fn) limit(v ir.Val) ir.Val {
	if v.Kind == ir.ValInt {
		return ir.I(max(v.Int, 0))
	}
	ok, neg, join := f.b.Block(), f.b.Block(), f.b.Block()
	r := f.b.Long("")
	f.b.Branch(f.b.Bin(ir.OpLt, v, ir.I(0)), neg, ok)
	f.to(neg)
	f.b.Mov(r, ir.I(0))
	f.b.Jump(join)
	f.to(ok)
	f.b.Mov(r, v)
	f.b.Jump(join)
	f.to(join)
	return ir.R(r)
}

// loopVar sets a variable that a loop names: get writes to a register.
func (f *fn) loopVar(id *ast.Ident, t types.Type, get func(ir.Reg)) {
	if l := f.in.Locs[id]; l != nil {
		if r, ok := f.locals[l]; ok {
			get(r)
		}
		return
	}
	r := f.b.Reg("", t, f.capFor(t))
	get(r)
	f.assignIdent(id, ir.R(r))
}
