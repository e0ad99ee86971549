package lower

import (
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
)

// gostack is the stack of the goroutine that the thread runs: of the thread while that is on the goroutine's own stack.
// On that of a signal's handler it is what of the thread's lies on the goroutine's, and on the one where the runtime
// does its own work and C runs it is where the goroutine goes on once the thread is back. With created, the go
// statement that made the goroutine lies below.
func (f builtins) gostack(c *call, created bool) ir.Val {
	if !f.knowsG(c) {
		return ir.I(0)
	}
	g := f.ctx.g
	for _, off := range []int64{g.StackLo, g.StackHi, g.M, g.SchedPC, g.SchedSP, g.SchedBP, g.CurG, g.GSignal, g.GoPC} {
		if off < 0 {
			f.wrongContext(c.sp, "%s(): the layout of runtime.g is not known for this program", c.called)
			return ir.I(0)
		}
	}
	// What is read of the site is read once, so this is not the place of a branch.
	own, sp := f.reading().loc(g.G, nil), f.reading().loc(loc.Register(f.out.On().SP), nil)
	r := f.b.Long("")
	none, join := f.b.Block(), f.b.Block()
	next := func(cond ir.Val) {
		b := f.b.Block()
		f.b.Branch(cond, b, none)
		f.to(b)
	}
	at := func(p ir.Val, off int64, size int) ir.Val {
		return f.b.Load(f.b.Bin(ir.OpAdd, p, ir.I(off)), size, true, false)
	}
	next(own)
	m := at(own, g.M, 8)
	next(m)
	if g.System { // C that Go has not called may run beside a goroutine
		next(f.b.Bin(ir.OpGt, at(m, g.NCgo, 4), ir.I(0)))
	}
	cur := at(m, g.CurG, 8)
	next(cur)
	low, high := at(cur, g.StackLo, 8), at(cur, g.StackHi, 8)
	below := ir.I(0)
	if created {
		below = at(cur, g.GoPC, 8)
	}

	elsewhere, above, here := f.b.Block(), f.b.Block(), f.b.Block()
	f.b.Branch(f.b.Bin(ir.OpULt, sp, low), elsewhere, above)
	f.to(above)
	f.b.Branch(f.b.Bin(ir.OpULt, sp, high), here, elsewhere)
	f.to(here)
	if created {
		f.b.Intr("ustack_below", r, below)
	} else {
		f.b.Intr("ustack_kept", r)
	}
	f.b.Jump(join)

	// The thread may still have the goroutine for its own in the first instructions of a signal's handler, when what
	// the runtime keeps of the goroutine is of before.
	f.to(elsewhere)
	pc, from, fp := f.b.Long(""), f.b.Long(""), f.b.Long("")
	for _, v := range []ir.Reg{pc, from, fp} {
		f.b.Mov(v, ir.I(0))
	}
	other, left, walk := f.b.Block(), f.b.Block(), f.b.Block()
	f.b.Branch(f.b.Bin(ir.OpEq, own, cur), walk, other)
	f.to(other)
	f.b.Branch(f.b.Bin(ir.OpEq, own, at(m, g.GSignal, 8)), walk, left)
	f.to(left)
	f.b.Mov(pc, at(cur, g.SchedPC, 8))
	f.b.Mov(from, at(cur, g.SchedSP, 8))
	f.b.Mov(fp, at(cur, g.SchedBP, 8))
	f.b.Jump(walk)
	f.to(walk)
	f.b.Intr("gostack_kept", r, ir.R(pc), ir.R(from), ir.R(fp), low, high, below)
	f.b.Jump(join)

	f.to(none)
	f.b.Mov(r, ir.I(0))
	f.b.Jump(join)
	f.to(join)
	return ir.R(r)
}
