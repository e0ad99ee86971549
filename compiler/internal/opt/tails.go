package opt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/internal/alike"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

const (
	// leastTail is how many instructions handlers have to have in common at their ends, called functions counted, so
	// that they are joined: a program of its own for each call is faster by the comparisons that find a call's part.
	leastTail = 48
	// fewTails is the least number of handlers that are joined, mostTails the greatest, and mostFronts how many
	// instructions they may have before what they have in common: the kernel checks all ways through a program.
	fewTails, mostTails, mostFronts = 4, 12, 12000
)

// JoinTails makes one probe of several at system calls whose handlers begin differently and end alike, as those of
// "probe syscall.* { report(name, argstr) }" do: each begins by making its own texts. The joined handler goes by the
// call's number to what is each call's own, and all go on with one copy of the rest, which the kernel has to check, and
// compilers to translate, once. Constants of the rest that differ come in registers. Handlers whose rest is short stay
// apart. As with JoinProbes, an error is told at the same place as before, the budget counts the most, and handlers at
// one site keep their order. Cost: linear in instructions, and a comparison for pairs of handlers that may be alike.
func JoinTails(p *ir.Program) { joinTails(p, leastTail) }

// joinTails is JoinTails with another bound on the length of what is shared.
func joinTails(p *ir.Program, least int) {
	n := alike.New(p)
	classes := map[string]*tails{}
	var order []*tails
	last := map[siteKey]int{}
	for i, pr := range p.Probes {
		before := -1
		for _, s := range pr.Sites {
			if j, ok := last[keyOf(s)]; ok {
				before = max(before, j)
			}
			last[keyOf(s)] = i
		}
		if !joinable(pr) {
			continue
		}
		key := header(pr)
		c := classes[key]
		if c == nil {
			c = &tails{p: p, n: n, least: least, count: map[uint64]int{}}
			classes[key] = c
			order = append(order, c)
		}
		c.add(i, pr, before)
	}
	gone := map[*ir.Probe]bool{}
	for _, c := range order {
		if len(c.members) < fewTails {
			continue
		}
		for {
			g := c.next()
			if g == nil {
				break
			}
			g.build()
			for _, m := range g.members[1:] {
				gone[m.pr] = true
			}
		}
	}
	p.Probes = slices.DeleteFunc(p.Probes, func(pr *ir.Probe) bool { return gone[pr] })
}

// header is what has to be the same of probes that are joined.
func header(pr *ir.Probe) string {
	s := pr.Sites[0]
	return fmt.Sprintf("%d %d %t %q %q %d", s.Kind, s.Program.PID, s.Program.Target, s.Program.Path, s.Program.Exe,
		pr.Cond)
}

// tails are probes of which some may be joined.
type tails struct {
	p       *ir.Program
	n       *alike.Counter
	least   int
	members []*tail
	count   map[uint64]int // how many have a block that ends so
}

// tail is one of them.
type tail struct {
	*alike.Handler
	pr *ir.Probe
	// at is its index in the program, before the index of the last one ahead of it that is at one of its sites.
	at, before int
	taken      bool
	m          *alike.Match // with the first of its group, whose own is nil
}

func (c *tails) add(at int, pr *ir.Probe, before int) {
	t := &tail{Handler: c.n.Of(pr.Handler), pr: pr, at: at, before: before}
	c.members = append(c.members, t)
	seen := map[uint64]bool{}
	for _, b := range t.Order {
		if !seen[t.Number[b]] {
			seen[t.Number[b]] = true
			c.count[t.Number[b]]++
		}
	}
}

// group is handlers with a common end: the last suffix instructions of block head of the first, and all behind it.
type group struct {
	p       *ir.Program
	members []*tail
	head    ir.BlockID
	suffix  int
}

// next finds some that are joined, nil when there are no more.
func (c *tails) next() *group {
	for _, first := range c.members {
		if first.taken {
			continue
		}
		first.taken = true
		head, most := ir.NoBlock, 0
		for _, b := range first.Order {
			if gain := (c.count[first.Number[b]] - 1) * first.Weight[b]; gain > most && first.Weight[b] >= c.least {
				head, most = b, gain
			}
		}
		if head == ir.NoBlock {
			continue
		}
		g := &group{p: c.p, members: []*tail{first}, head: head, suffix: len(first.F.Blocks[head].Instrs)}
		behind := first.Weight[head] - first.Own[head]
		fronts := first.Weight[0] - behind
		for _, t := range c.members {
			if t.taken || t.before >= first.at || len(g.members) == mostTails {
				continue
			}
			own := t.Weight[0] - behind
			if fronts+own > mostFronts {
				continue
			}
			if t.m = g.match(t); t.m == nil {
				continue
			}
			suffix := min(g.suffix, t.m.Suffix)
			ins := first.F.Blocks[head].Instrs
			if behind+c.n.Instrs(ins[len(ins)-suffix:]) < c.least {
				continue
			}
			g.suffix = suffix
			g.members = append(g.members, t)
			fronts += own
		}
		if len(g.members) < fewTails {
			continue
		}
		for _, t := range g.members {
			t.taken = true
		}
		return g
	}
	return nil
}

// match finds the common end in t.
func (g *group) match(t *tail) *alike.Match {
	first := g.members[0]
	for _, b := range t.Order {
		if t.Number[b] != first.Number[g.head] {
			continue
		}
		m := alike.At(g.p, first.F, t.F, g.head, b)
		if m != nil && !g.loops(t, m) {
			return m
		}
	}
	return nil
}

// loops reports whether what is t's own goes over elements of arrays: loops are told apart by numbers.
func (g *group) loops(t *tail, m *alike.Match) bool {
	for _, b := range t.Order {
		ins := t.F.Blocks[b].Instrs
		if _, ok := m.Blocks[b]; ok {
			continue
		}
		if b == m.B {
			ins = ins[:len(ins)-m.Suffix]
		}
		if slices.ContainsFunc(ins, func(in ir.Instr) bool {
			return in.Op == ir.OpIterOpen || in.Op == ir.OpIterNext || in.Op == ir.OpIterKey || in.Op == ir.OpIterVal ||
				in.Op == ir.OpSGet || in.Op == ir.OpPrintHist || in.Op == ir.OpSprintHist
		}) {
			return true
		}
	}
	return false
}

// build makes the first member's probe that of all.
func (g *group) build() {
	first := g.members[0]
	first.m = alike.At(g.p, first.F, first.F, g.head, g.head)
	j := &joined{group: g, f: &ir.Func{Pos: first.F.Pos, Regs: slices.Clone(first.F.Regs)},
		rest: map[ir.BlockID]ir.BlockID{}}
	j.region()
	j.params()
	tree := j.block()
	starts := map[int64]ir.BlockID{}
	for i, m := range g.members {
		at := j.front(i, m)
		for _, s := range m.pr.Sites {
			starts[int64(s.Syscall.Nr)] = at
		}
	}
	j.byNumber(tree, starts)
	if more := ", ..."; !strings.HasSuffix(first.pr.Name, more) {
		first.pr.Name += more
	}
	first.pr.Handler = j.f
	sites := slices.Clone(first.pr.Sites)
	for _, m := range g.members[1:] {
		sites = append(sites, m.pr.Sites...)
	}
	first.pr.Sites = sites
}

// joined is a handler that is being made.
type joined struct {
	*group
	f *ir.Func
	// rest has the blocks of the common end by those of the first member; that of the head is its suffix.
	rest map[ir.BlockID]ir.BlockID
	// moves fill, by member, the registers that constants of the common end come in.
	moves [][]ir.Instr
}

// block adds a block, which is the next.
func (j *joined) block() ir.BlockID {
	j.f.Blocks = append(j.f.Blocks, &ir.Block{})
	return ir.BlockID(len(j.f.Blocks) - 1)
}

// region copies the common end. Block 0, where the handler begins, is kept for the tree of numbers.
func (j *joined) region() {
	first := j.members[0]
	j.f.Blocks = nil
	ins := first.F.Blocks[j.head].Instrs
	suffix := &ir.Func{Blocks: slices.Clone(first.F.Blocks)}
	suffix.Blocks[j.head] = &ir.Block{Instrs: ins[len(ins)-j.suffix:], Term: first.F.Blocks[j.head].Term}
	blocks := alike.From(suffix, j.head)
	j.block()
	for _, b := range blocks {
		j.rest[b] = j.block()
	}
	for _, b := range blocks {
		from := suffix.Blocks[b]
		j.copy(j.rest[b], from.Instrs, from.Term, func(r ir.Reg) ir.Reg { return r },
			func(b ir.BlockID) ir.BlockID { return j.rest[b] })
	}
}

// copy fills block at with instructions and an end whose registers and blocks have other numbers.
func (j *joined) copy(at ir.BlockID, ins []ir.Instr, term ir.Term, reg func(ir.Reg) ir.Reg,
	block func(ir.BlockID) ir.BlockID) {
	to := func(v *ir.Val) { v.Reg = reg(v.Reg) }
	blk := j.f.Blocks[at]
	blk.Instrs, blk.Term = slices.Clone(ins), term
	for i := range blk.Instrs {
		in := &blk.Instrs[i]
		in.Args = slices.Clone(in.Args)
		uses(in.Args, to)
		if in.Dst != ir.NoReg {
			in.Dst = reg(in.Dst)
		}
	}
	blk.Term.Args = slices.Clone(term.Args)
	termUses(&blk.Term, to)
	renumber(blk, block)
}

// params makes registers of the constants that differ, one of those that differ alike, and counts budgets by the most.
func (j *joined) params() {
	first := j.members[0]
	regs := map[string]ir.Reg{}
	j.moves = make([][]ir.Instr, len(j.members))
	for b, at := range j.rest {
		off := 0
		if b == j.head {
			off = len(first.F.Blocks[b].Instrs) - j.suffix
		}
		blk := j.f.Blocks[at]
		for i := range blk.Instrs {
			in := &blk.Instrs[i]
			if in.Op == ir.OpBudget {
				in.N = j.budget(b, off+i)
			}
			for k := range in.Args {
				if _, ok := first.m.Consts[alike.Place{Block: b, At: off + i, Arg: k}]; ok {
					j.param(&in.Args[k], alike.Place{Block: b, At: off + i, Arg: k}, regs)
				}
			}
		}
	}
}

// param makes a register of constant v at a place of the first member if another member has another one there.
func (j *joined) param(v *ir.Val, at alike.Place, regs map[string]ir.Reg) {
	var key strings.Builder
	differ, room := false, 0
	for _, m := range j.members {
		c := m.m.Consts[at]
		differ = differ || c != *v
		room = max(room, len(c.Str))
		fmt.Fprintf(&key, "%d %d %q ", c.Kind, c.Int, c.Str)
	}
	if !differ {
		return
	}
	r, ok := regs[key.String()]
	if !ok {
		info := ir.RegInfo{Type: types.Long}
		if v.Kind == ir.ValStr {
			info = ir.RegInfo{Type: types.String, Cap: room}
		}
		r = j.reg(info)
		regs[key.String()] = r
		for i, m := range j.members {
			j.moves[i] = append(j.moves[i], ir.Instr{Op: ir.OpMov, Dst: r, Args: []ir.Val{m.m.Consts[at]}, Glob: -1,
				OnErr: ir.NoBlock, Pos: j.f.Pos})
		}
	}
	*v = ir.R(r)
}

func (j *joined) reg(info ir.RegInfo) ir.Reg {
	j.f.Regs = append(j.f.Regs, info)
	return ir.Reg(len(j.f.Regs) - 1)
}

// budget is the most that a member counts where the first has its at-th instruction of block b.
func (j *joined) budget(b ir.BlockID, at int) int64 {
	most := int64(0)
	fromEnd := len(j.members[0].F.Blocks[b].Instrs) - at
	for _, m := range j.members {
		blk := m.m.B
		for y, x := range m.m.Blocks {
			if x == b {
				blk = y
			}
		}
		ins := m.F.Blocks[blk].Instrs
		most = max(most, ins[len(ins)-fromEnd].N)
	}
	return most
}

// front copies what is m's own and gives the block where it begins.
func (j *joined) front(i int, m *tail) ir.BlockID {
	regs := map[ir.Reg]ir.Reg{}
	reg := func(r ir.Reg) ir.Reg {
		if to, ok := m.m.To[r]; ok {
			return to
		}
		to, ok := regs[r]
		if !ok {
			to = j.reg(m.F.Regs[r])
			regs[r] = to
		}
		return to
	}
	for r, to := range m.m.To {
		j.f.Regs[to].Cap = max(j.f.Regs[to].Cap, m.F.Regs[r].Cap)
	}
	start := j.block()
	to := map[ir.BlockID]ir.BlockID{}
	var own []ir.BlockID
	for _, b := range m.Order {
		x, ok := m.m.Blocks[b]
		if b == m.m.B {
			if j.suffix == len(m.F.Blocks[b].Instrs) {
				to[b] = j.rest[j.head]
				continue
			}
		} else if at, in := j.rest[x]; ok && in {
			to[b] = at
			continue
		}
		to[b] = j.block()
		own = append(own, b)
	}
	block := func(b ir.BlockID) ir.BlockID { return to[b] }
	for _, b := range own {
		blk := m.F.Blocks[b]
		ins, term := blk.Instrs, blk.Term
		if b == m.m.B {
			ins = ins[:len(ins)-j.suffix]
			term = ir.Term{Kind: ir.TermJump, OnErr: ir.NoBlock, Pos: blk.Term.Pos}
		}
		j.copy(to[b], ins, term, reg, block)
		if b == m.m.B {
			j.f.Blocks[to[b]].Term.Then = j.rest[j.head]
		}
	}
	*j.f.Blocks[start] = ir.Block{Instrs: j.moves[i],
		Term: ir.Term{Kind: ir.TermJump, Then: to[0], OnErr: ir.NoBlock, Pos: j.f.Pos}}
	return start
}

// byNumber fills block at with the way to the call's own part: halves of the numbers, until one part is left.
func (j *joined) byNumber(at ir.BlockID, starts map[int64]ir.BlockID) {
	nr := j.reg(ir.RegInfo{Type: types.Long})
	nrs := make([]int64, 0, len(starts))
	for n := range starts {
		nrs = append(nrs, n)
	}
	slices.Sort(nrs)
	nrs = slices.CompactFunc(nrs, func(a, b int64) bool { return starts[a] == starts[b] }) // runs of one part
	at0 := j.f.Blocks[0]
	at0.Instrs = []ir.Instr{{Op: ir.OpTraceArg, Dst: nr, N: ir.SyscallNr, Glob: -1, OnErr: ir.NoBlock, Pos: j.f.Pos}}
	at0.Term = ir.Term{Kind: ir.TermJump, Then: at, OnErr: ir.NoBlock, Pos: j.f.Pos}
	var half func(at ir.BlockID, nrs []int64)
	half = func(at ir.BlockID, nrs []int64) {
		if len(nrs) == 1 {
			j.f.Blocks[at].Term = ir.Term{Kind: ir.TermJump, Then: starts[nrs[0]], OnErr: ir.NoBlock, Pos: j.f.Pos}
			return
		}
		less := j.reg(ir.RegInfo{Type: types.Long})
		mid := len(nrs) / 2
		low, high := j.block(), j.block()
		j.f.Blocks[at].Instrs = []ir.Instr{{Op: ir.OpLt, Dst: less, Args: []ir.Val{ir.R(nr), ir.I(nrs[mid])}, Glob: -1,
			OnErr: ir.NoBlock, Pos: j.f.Pos}}
		j.f.Blocks[at].Term = ir.Term{Kind: ir.TermBranch, Cond: ir.R(less), Then: low, Else: high, OnErr: ir.NoBlock,
			Pos: j.f.Pos}
		half(low, nrs[:mid])
		half(high, nrs[mid:])
	}
	half(at, nrs)
}
