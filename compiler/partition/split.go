package partition

import (
	"github.com/gostap/gostap/compiler/ir"
)

// A deferred handler runs in the kernel up to a point, and from there on the host. The point is behind all that decides
// whether there is anything to do at all, such as a test for the target: what ends before it sends nothing.

// point is a place between two instructions.
type point struct {
	b ir.BlockID
	i int
}

// splitPoint finds the last place that comes before everything that needs the host: what the kernel cannot do, uses of
// hosted globals, and the locks that make uses of globals one piece. It is the beginning where no better one is found.
func splitPoint(p *ir.Program, w whole, o Options, host map[*ir.Instr]string, hosted map[int]string) point {
	f := w.body
	needs := map[string]bool{} // recursive functions that need the host
	for name, sub := range w.subs {
		if why, _, _ := hostOnly(p, sub, o); why != "" {
			needs[name] = true
		} else if why, _ := usesHosted(p, whole{body: sub}, hosted); why != "" {
			needs[name] = true
		}
	}
	matched := false // what a regular expression has found is known where it was matched
	for in := range host {
		matched = matched || in.Op == ir.OpIntr && in.Builtin().Matched
	}
	first := func(b ir.BlockID) int {
		for i := range f.Blocks[b].Instrs {
			in := &f.Blocks[b].Instrs[i]
			if host[in] != "" || in.Op == ir.OpLock || matched && in.Op == ir.OpMatch || onHosted(in, hosted) ||
				in.Op == ir.OpCall && needs[in.Name] {
				return i
			}
		}
		return -1
	}
	// The blocks with such a thing that are come to first.
	var frontier []point
	seen := make([]bool, len(f.Blocks))
	todo := []ir.BlockID{0}
	seen[0] = true
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i := first(b)
		if i >= 0 {
			frontier = append(frontier, point{b, i})
		}
		succs(f, b, i, func(to ir.BlockID) {
			if !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		})
	}
	at := point{}
	switch len(frontier) {
	case 0:
		return at
	case 1:
		at = frontier[0]
	default:
		at = commonPoint(f, frontier)
	}
	if f.Recursive || goesAcross(f, at) {
		return point{}
	}
	return at
}

// succs goes through the blocks that follow b when it runs up to instruction to, or to its end if that is -1.
func succs(f *ir.Func, b ir.BlockID, to int, fn func(ir.BlockID)) {
	blk := f.Blocks[b]
	if to < 0 {
		f.Succs(b, func(s ir.BlockID, _ bool) { fn(s) })
		return
	}
	for i := range blk.Instrs[:to] {
		if in := &blk.Instrs[i]; in.Op.CanFail() && in.OnErr != ir.NoBlock {
			fn(in.OnErr)
		}
	}
}

// commonPoint is the end of the last block through which all ways to the points lead.
func commonPoint(f *ir.Func, points []point) point {
	n := len(f.Blocks)
	dom := make([]map[ir.BlockID]bool, n) // nil: not reached yet
	dom[0] = map[ir.BlockID]bool{0: true}
	rank := order(f)
	for changed := true; changed; {
		changed = false
		for _, b := range rank {
			if dom[b] == nil {
				continue
			}
			f.Succs(b, func(to ir.BlockID, _ bool) {
				now := map[ir.BlockID]bool{to: true}
				for d := range dom[b] {
					if dom[to] == nil || dom[to][d] {
						now[d] = true
					}
				}
				if dom[to] == nil || len(now) < len(dom[to]) {
					dom[to], changed = now, true
				}
			})
		}
	}
	best := point{}
	for _, b := range rank { // from the beginning on: the last one is the nearest
		all := true
		for _, pt := range points {
			all = all && dom[pt.b][b]
		}
		if !all {
			continue
		}
		best = point{b, len(f.Blocks[b].Instrs)}
		for _, pt := range points {
			if pt.b == b {
				best.i = min(best.i, pt.i)
			}
		}
	}
	return best
}

// sides gives the instructions that can run before the point and those behind it. Those of a loop around it are both.
func (p point) sides(f *ir.Func) (before, behind []*ir.Instr) {
	for b := range p.before(f) {
		end := len(f.Blocks[b].Instrs)
		if b == p.b {
			end = p.i
		}
		for i := range f.Blocks[b].Instrs[:end] {
			before = append(before, &f.Blocks[b].Instrs[i])
		}
	}
	again := false
	for b := range p.behind(f) {
		again = again || b == p.b
		for i := range f.Blocks[b].Instrs {
			behind = append(behind, &f.Blocks[b].Instrs[i])
		}
	}
	if !again {
		for i := range f.Blocks[p.b].Instrs[p.i:] {
			behind = append(behind, &f.Blocks[p.b].Instrs[p.i+i])
		}
	}
	return before, behind
}

// before is the set of the blocks that can begin to run before the point is come to.
func (p point) before(f *ir.Func) map[ir.BlockID]bool {
	return reach(0, func(b ir.BlockID, fn func(ir.BlockID)) {
		to := -1
		if b == p.b {
			to = p.i
		}
		succs(f, b, to, fn)
	})
}

// behind is the set of the blocks that can be come to behind the point, its own if there is a way back to its
// beginning.
func (p point) behind(f *ir.Func) map[ir.BlockID]bool {
	set := map[ir.BlockID]bool{}
	all := func(b ir.BlockID, fn func(ir.BlockID)) { succs(f, b, -1, fn) }
	into := func(to ir.BlockID) {
		for b := range reach(to, all) {
			set[b] = true
		}
	}
	blk := f.Blocks[p.b]
	for i := range blk.Instrs[p.i:] {
		if in := &blk.Instrs[p.i+i]; in.Op.CanFail() && in.OnErr != ir.NoBlock {
			into(in.OnErr)
		}
	}
	// its successors, without the instructions'
	rest := ir.Func{Blocks: append([]*ir.Block{{Term: blk.Term}}, f.Blocks...)}
	rest.Succs(0, func(to ir.BlockID, _ bool) { into(to) })
	return set
}

func reach(from ir.BlockID, succs func(ir.BlockID, func(ir.BlockID))) map[ir.BlockID]bool {
	set := map[ir.BlockID]bool{from: true}
	todo := []ir.BlockID{from}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		succs(b, func(to ir.BlockID) {
			if !set[to] {
				set[to] = true
				todo = append(todo, to)
			}
		})
	}
	return set
}

// goesAcross reports whether something that is no register is begun before the point and needed behind it: a loop over
// an array, or an error, whose text is asked for in the block that it leads to.
func goesAcross(f *ir.Func, at point) bool {
	before, behind := at.sides(f)
	open := map[int]bool{}
	for _, in := range before {
		if in.Op == ir.OpIterOpen {
			open[in.Iter] = true
		}
	}
	for _, in := range behind {
		if in.Op.OnLoop() && open[in.Iter] {
			return true
		}
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if in := &b.Instrs[i]; in.Op.CanFail() && in.OnErr == at.b {
				return true
			}
		}
		if b.Term.Kind == ir.TermFail && b.Term.OnErr == at.b {
			return true
		}
	}
	return false
}

// split gives the two parts of f: the kernel's, whose last block of all ends at the point, and the host's, which begins
// there. Both have f's registers.
func (p point) split(f *ir.Func) (kernel *ir.Func, last ir.BlockID, host *ir.Func) {
	k := &pruner{from: f, blocks: map[ir.BlockID]ir.BlockID{},
		out: &ir.Func{Pos: f.Pos, Regs: append([]ir.RegInfo(nil), f.Regs...)}}
	k.cut, k.silent = p, true
	k.copy(0)
	// The beginning of the host's part stands for the rest of the point's block.
	h := &pruner{from: f, blocks: map[ir.BlockID]ir.BlockID{}, out: &ir.Func{Pos: f.Pos, Regs: k.out.Regs},
		cut: point{b: ir.NoBlock}}
	blk := f.Blocks[p.b]
	h.out.Blocks = []*ir.Block{{}}
	h.fill(0, &ir.Block{Instrs: blk.Instrs[p.i:], Term: blk.Term})
	return k.out, k.last, h.out
}

// pruner copies the blocks of a function that can be come to.
type pruner struct {
	from   *ir.Func
	out    *ir.Func
	blocks map[ir.BlockID]ir.BlockID
	cut    point // where the copy ends
	silent bool  // other ends send nothing
	last   ir.BlockID
}

func (c *pruner) copy(b ir.BlockID) ir.BlockID {
	if to, ok := c.blocks[b]; ok {
		return to
	}
	to := ir.BlockID(len(c.out.Blocks))
	c.blocks[b] = to
	c.out.Blocks = append(c.out.Blocks, &ir.Block{})
	blk := *c.from.Blocks[b]
	if b == c.cut.b {
		c.last = to
		blk.Instrs, blk.Term = blk.Instrs[:c.cut.i], ir.Term{Kind: ir.TermEnd, OnErr: ir.NoBlock, Pos: blk.Term.Pos}
	} else if c.silent && blk.Term.Kind == ir.TermEnd {
		blk.Term = ir.Term{Kind: ir.TermSkip, Cause: ir.SkipStopping, OnErr: ir.NoBlock, Pos: blk.Term.Pos}
	}
	c.fill(to, &blk)
	return to
}

// fill writes block to with what blk has, its successors renamed.
func (c *pruner) fill(to ir.BlockID, blk *ir.Block) {
	out := c.out.Blocks[to]
	out.Instrs, out.Term = append([]ir.Instr(nil), blk.Instrs...), blk.Term
	for i := range out.Instrs {
		if in := &out.Instrs[i]; in.Op.CanFail() && in.OnErr != ir.NoBlock {
			in.OnErr = c.copy(in.OnErr)
		}
	}
	switch t := &out.Term; t.Kind {
	case ir.TermJump:
		t.Then = c.copy(t.Then)
	case ir.TermBranch:
		t.Then, t.Else = c.copy(t.Then), c.copy(t.Else)
	case ir.TermFail:
		if t.OnErr != ir.NoBlock {
			t.OnErr = c.copy(t.OnErr)
		}
	}
}
