package opt

import (
	"github.com/gostap/gostap/compiler/ir"
)

// SimplifyFlow decides branches on constants, drops error exits of what cannot fail, leads jumps
// over blocks that do nothing, joins blocks that only follow each other and drops those that are
// not reached. Cost: linear in the size of each function.
func SimplifyFlow(p *ir.Program) {
	eachFunc(p, func(f *ir.Func) { simplifyFlow(p, f) })
}

func simplifyFlow(p *ir.Program, f *ir.Func) {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if in := &b.Instrs[i]; in.Op.CanFail() && in.OnErr != ir.NoBlock && !p.MayFail(in) {
				in.OnErr = ir.NoBlock
			}
		}
	}
	for _, b := range f.Blocks {
		simplifyTerm(f, &b.Term)
	}
	dropUnreached(f) // first, so that it does not count as a way into what is joined
	joinBlocks(f)
	dropUnreached(f)
}

func simplifyTerm(f *ir.Func, t *ir.Term) {
	if t.Kind == ir.TermBranch {
		t.Then, t.Else = through(f, t.Then), through(f, t.Else)
		switch {
		case t.Cond.Kind == ir.ValInt && t.Cond.Int != 0, t.Then == t.Else:
			*t = ir.Term{Kind: ir.TermJump, Then: t.Then, OnErr: ir.NoBlock, Pos: t.Pos}
		case t.Cond.Kind == ir.ValInt:
			*t = ir.Term{Kind: ir.TermJump, Then: t.Else, OnErr: ir.NoBlock, Pos: t.Pos}
		}
	}
	if t.Kind != ir.TermJump {
		return
	}
	t.Then = through(f, t.Then)
	// A jump to a block that only ends is that end.
	if to := f.Blocks[t.Then]; len(to.Instrs) == 0 {
		switch to.Term.Kind {
		case ir.TermEnd, ir.TermReturn, ir.TermSkip:
			*t = to.Term
		}
	}
}

// through follows jumps of empty blocks. It gives up on a loop of such.
func through(f *ir.Func, b ir.BlockID) ir.BlockID {
	for n := 0; n < 100; n++ {
		blk := f.Blocks[b]
		if len(blk.Instrs) > 0 || blk.Term.Kind != ir.TermJump {
			return b
		}
		b = blk.Term.Then
	}
	return b
}

// joinBlocks appends to each block what only it jumps to.
func joinBlocks(f *ir.Func) {
	in := preds(f)
	for i, b := range f.Blocks {
		if in[i] == 0 {
			continue
		}
		for b.Term.Kind == ir.TermJump {
			to := b.Term.Then
			if next := f.Blocks[to]; in[to] == 1 && to != 0 && next != b {
				b.Instrs = append(b.Instrs, next.Instrs...)
				b.Term = next.Term
				in[to] = 0
				// not reached any more
				*next = ir.Block{Term: ir.Term{Kind: ir.TermFail, Code: ir.ErrExhausted, OnErr: ir.NoBlock}}
				continue
			}
			break
		}
	}
}

// dropUnreached removes blocks and numbers the others in order.
func dropUnreached(f *ir.Func) {
	seen := make([]bool, len(f.Blocks))
	seen[0] = true
	work := []ir.BlockID{0}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		f.Succs(b, func(to ir.BlockID, _ bool) {
			if !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		})
	}
	number := make([]ir.BlockID, len(f.Blocks))
	n := ir.BlockID(0)
	for i, b := range f.Blocks {
		if seen[i] {
			f.Blocks[n] = b
			number[i] = n
			n++
		}
	}
	if int(n) == len(f.Blocks) {
		return
	}
	clear(f.Blocks[n:])
	f.Blocks = f.Blocks[:n]
	for _, b := range f.Blocks {
		renumber(b, func(id ir.BlockID) ir.BlockID { return number[id] })
	}
}

// renumber changes the blocks that b leads to.
func renumber(b *ir.Block, to func(ir.BlockID) ir.BlockID) {
	for i := range b.Instrs {
		if in := &b.Instrs[i]; in.Op.CanFail() && in.OnErr != ir.NoBlock {
			in.OnErr = to(in.OnErr)
		}
	}
	switch t := &b.Term; t.Kind {
	case ir.TermJump:
		t.Then = to(t.Then)
	case ir.TermBranch:
		t.Then, t.Else = to(t.Then), to(t.Else)
	case ir.TermFail:
		if t.OnErr != ir.NoBlock {
			t.OnErr = to(t.OnErr)
		}
	}
}
