// Package alike finds the part at the ends of two handlers that is the same.
//
// In: handlers of an ir.Program. Out: what of one, from a place in a block on to all ends behind it, is what the other
// has too, but for the numbers of registers and blocks and for constants, with these told. Nothing is changed.
package alike

import (
	"encoding/binary"
	"hash/maphash"
	"maps"

	"github.com/gostap/gostap/compiler/ir"
)

// Handler is a handler with what is needed to find the part of it that another one has too: blocks in an order in which
// each comes before those that it leads to (but for loops), a number for what follows at the end of each block and
// behind it, and how many instructions that are.
type Handler struct {
	F      *ir.Func
	Order  []ir.BlockID
	Number []uint64 // by block: of how it ends and of all that it leads to, without registers and constants
	Weight []int    // by block: instructions from its begin on, those of called functions with them
	Own    []int    // by block: of it alone
}

// Counter counts and numbers the blocks of handlers.
type Counter struct {
	p     *ir.Program
	seed  maphash.Seed
	funcs map[string]int
}

// numberRounds is how often numbers are made of those of the blocks that follow. Without loops once is enough.
const numberRounds = 3

// New makes one for the handlers of p. Numbers of different Counters do not compare.
func New(p *ir.Program) *Counter {
	return &Counter{p: p, seed: maphash.MakeSeed(), funcs: map[string]int{}}
}

// Of numbers f.
func (n *Counter) Of(f *ir.Func) *Handler {
	h := &Handler{F: f, Number: make([]uint64, len(f.Blocks)), Weight: make([]int, len(f.Blocks)),
		Own: make([]int, len(f.Blocks))}
	post := f.PostOrder()
	whole := make([]uint64, len(f.Blocks))
	for range numberRounds {
		for _, b := range post {
			h.Number[b], whole[b] = n.block(f.Blocks[b], whole)
		}
	}
	for _, b := range post {
		h.Own[b] = n.Instrs(f.Blocks[b].Instrs)
	}
	for i := len(post) - 1; i >= 0; i-- {
		b := post[i]
		h.Order = append(h.Order, b)
		for _, to := range From(f, b) {
			h.Weight[b] += h.Own[to]
		}
	}
	return h
}

// From gives the blocks of f that can be reached from b, b first.
func From(f *ir.Func, b ir.BlockID) []ir.BlockID {
	seen := make([]bool, len(f.Blocks))
	seen[b] = true
	out := []ir.BlockID{b}
	for i := 0; i < len(out); i++ {
		f.Succs(out[i], func(to ir.BlockID, _ bool) {
			if !seen[to] {
				seen[to] = true
				out = append(out, to)
			}
		})
	}
	return out
}

// Instrs counts instructions, a call as what it calls.
func (n *Counter) Instrs(ins []ir.Instr) int {
	sum := len(ins)
	for i := range ins {
		if ins[i].Op != ir.OpCall {
			continue
		}
		w, ok := n.funcs[ins[i].Name]
		if !ok {
			n.funcs[ins[i].Name] = 0 // one that calls itself counts once
			if f := n.p.Func(ins[i].Name); f != nil {
				for _, b := range f.Blocks {
					w += n.Instrs(b.Instrs)
				}
			}
			n.funcs[ins[i].Name] = w
		}
		sum += w
	}
	return sum
}

// block gives the number of a block's end and that of the whole block; next has those of the blocks that follow.
func (n *Counter) block(b *ir.Block, next []uint64) (end, whole uint64) {
	var h maphash.Hash
	h.SetSeed(n.seed)
	word := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	to := func(id ir.BlockID) {
		if id == ir.NoBlock {
			word(1)
		} else {
			word(next[id])
		}
	}
	t := &b.Term
	word(uint64(t.Kind))
	switch t.Kind {
	case ir.TermJump:
		to(t.Then)
	case ir.TermBranch:
		to(t.Then)
		to(t.Else)
	case ir.TermFail:
		to(t.OnErr)
	}
	end = h.Sum64()
	for i := range b.Instrs {
		in := &b.Instrs[i]
		word(uint64(in.Op))
		word(uint64(in.Glob))
		h.WriteString(in.Name)
		word(uint64(len(in.Args)))
		if in.Op.CanFail() {
			to(in.OnErr)
		}
	}
	return end, h.Sum64()
}

// Place is an operand: the Arg-th of the At-th instruction of a block.
type Place struct {
	Block   ir.BlockID
	At, Arg int
}

// Match is a part of a handler, the second, that is the same as a part of the first, from the head of each on to the
// ends of both: the last Suffix instructions of a block and all that it leads to.
type Match struct {
	p    *ir.Program
	f, g *ir.Func
	// A and B are the heads, in the first and in the second.
	A, B   ir.BlockID
	Suffix int
	// Blocks gives for blocks of the second those of the first, without the heads, and To the registers.
	Blocks map[ir.BlockID]ir.BlockID
	To     map[ir.Reg]ir.Reg
	back   map[ir.Reg]ir.Reg
	// Consts has, for places of the first that hold a constant which may be another, what the second holds there.
	Consts map[Place]ir.Val
}

// At compares what follows block a of f with what follows b of g; nil if that is not the same. Neither head may be in
// a loop.
func At(p *ir.Program, f, g *ir.Func, a, b ir.BlockID) *Match {
	m := &Match{p: p, f: f, g: g, A: a, B: b, Blocks: map[ir.BlockID]ir.BlockID{}, To: map[ir.Reg]ir.Reg{},
		back: map[ir.Reg]ir.Reg{}, Consts: map[Place]ir.Val{}}
	var work []ir.BlockID
	paired := map[ir.BlockID]bool{}
	pair := func(x, y ir.BlockID) bool {
		if x == ir.NoBlock || y == ir.NoBlock {
			return x == y
		}
		if x == a || y == b {
			return false
		}
		if got, ok := m.Blocks[y]; ok || paired[x] {
			return ok && got == x
		}
		m.Blocks[y], paired[x] = x, true
		work = append(work, y)
		return true
	}
	if !m.ends(&f.Blocks[a].Term, &g.Blocks[b].Term, pair) {
		return nil
	}
	behind := func() bool {
		for len(work) > 0 {
			y := work[len(work)-1]
			work = work[:len(work)-1]
			x := m.Blocks[y]
			fx, gy := f.Blocks[x], g.Blocks[y]
			if len(fx.Instrs) != len(gy.Instrs) || !m.ends(&fx.Term, &gy.Term, pair) {
				return false
			}
			for i := range fx.Instrs {
				if !m.same(&fx.Instrs[i], &gy.Instrs[i], Place{Block: x, At: i}, pair) {
					return false
				}
			}
		}
		return true
	}
	if !behind() {
		return nil
	}
	fa, gb := f.Blocks[a].Instrs, g.Blocks[b].Instrs
	for m.Suffix < min(len(fa), len(gb)) {
		x, y := &fa[len(fa)-1-m.Suffix], &gb[len(gb)-1-m.Suffix]
		undo := m.saved(x, y, paired)
		if !m.same(x, y, Place{Block: a, At: len(fa) - 1 - m.Suffix}, pair) || !behind() {
			undo()
			break
		}
		m.Suffix++
	}
	return m
}

// saved gives a function that forgets what comparing x and y may note: registers, and blocks where an error of theirs
// leads to what nothing has led to before.
func (m *Match) saved(x, y *ir.Instr, paired map[ir.BlockID]bool) func() {
	if x.Op.CanFail() && x.OnErr != ir.NoBlock && !paired[x.OnErr] {
		was, pairs := *m, maps.Clone(paired)
		was.Blocks, was.To, was.back = maps.Clone(m.Blocks), maps.Clone(m.To), maps.Clone(m.back)
		return func() {
			*m = was
			clear(paired)
			maps.Copy(paired, pairs)
		}
	}
	type pair struct{ f, g ir.Reg }
	var fresh []pair
	note := func(r, s ir.Reg) {
		if r == ir.NoReg || s == ir.NoReg {
			return
		}
		_, f := m.back[r]
		_, g := m.To[s]
		if !f && !g {
			fresh = append(fresh, pair{r, s})
		}
	}
	note(x.Dst, y.Dst)
	for i := range min(len(x.Args), len(y.Args)) {
		if x.Args[i].IsReg() && y.Args[i].IsReg() {
			note(x.Args[i].Reg, y.Args[i].Reg)
		}
	}
	return func() {
		for _, p := range fresh {
			delete(m.back, p.f)
			delete(m.To, p.g)
		}
	}
}

// reg pairs registers.
func (m *Match) reg(x, y ir.Reg) bool {
	if x == ir.NoReg || y == ir.NoReg {
		return x == y
	}
	s, ok1 := m.To[y]
	r, ok2 := m.back[x]
	if ok1 || ok2 {
		return ok1 && ok2 && s == x && r == y
	}
	if m.f.Regs[x].Type != m.g.Regs[y].Type {
		return false
	}
	m.To[y], m.back[x] = x, y
	return true
}

// val compares operands; constants may differ where at is a place.
func (m *Match) val(x, y ir.Val, at *Place) bool {
	if x.Kind == ir.ValReg && y.Kind == ir.ValReg {
		return m.reg(x.Reg, y.Reg)
	}
	if at != nil && x.Kind == y.Kind && (x.Kind == ir.ValInt || x.Kind == ir.ValStr) {
		m.Consts[*at] = y
		return true
	}
	return x == y
}

// Varies reports whether op is an operation whose constant operands may come from a register as well, at no cost that
// shows.
func Varies(op ir.Op) bool {
	switch op {
	case ir.OpMov, ir.OpCall, ir.OpMGet, ir.OpMSet, ir.OpMAdd, ir.OpMHas, ir.OpMDel, ir.OpSAdd, ir.OpGSet, ir.OpGAdd,
		ir.OpPrint, ir.OpSprint, ir.OpSCmp, ir.OpCat, ir.OpEq, ir.OpNe:
		return true
	}
	return false
}

// same compares instructions. Where they stand may differ unless an error would tell.
func (m *Match) same(x, y *ir.Instr, at Place, pair func(x, y ir.BlockID) bool) bool {
	if x.Op != y.Op || x.Glob != y.Glob || x.Name != y.Name || x.Signed != y.Signed || x.Kernel != y.Kernel ||
		x.Iter != y.Iter || len(x.Args) != len(y.Args) || x.N != y.N && x.Op != ir.OpBudget {
		return false
	}
	if m.p.MayFail(x) && (x.Pos != y.Pos || x.Via != y.Via) {
		return false
	}
	if x.Op.CanFail() && !pair(x.OnErr, y.OnErr) || !m.reg(x.Dst, y.Dst) {
		return false
	}
	for i := range x.Args {
		var p *Place
		if Varies(x.Op) {
			p = &Place{at.Block, at.At, i}
		}
		if !m.val(x.Args[i], y.Args[i], p) {
			return false
		}
	}
	return true
}

// ends compares the ends of blocks.
func (m *Match) ends(x, y *ir.Term, pair func(x, y ir.BlockID) bool) bool {
	if x.Kind != y.Kind || x.Code != y.Code || x.Cause != y.Cause || len(x.Args) != len(y.Args) ||
		x.Kind == ir.TermFail && x.Pos != y.Pos || !m.val(x.Cond, y.Cond, nil) {
		return false
	}
	for i := range x.Args {
		if !m.val(x.Args[i], y.Args[i], nil) {
			return false
		}
	}
	switch x.Kind {
	case ir.TermJump:
		return pair(x.Then, y.Then)
	case ir.TermBranch:
		return pair(x.Then, y.Then) && pair(x.Else, y.Else)
	case ir.TermFail:
		return pair(x.OnErr, y.OnErr)
	}
	return true
}
