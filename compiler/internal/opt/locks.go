package opt

import (
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// InsertLocks makes handlers atomic towards globals: each behaves as if it ran alone. It wants
// InferSharing done, and no locks in the program.
//
// A handler is atomic by itself when on no path it makes more than one access to Shared globals,
// since a single access is atomic. (One to a string counts as two, since copying it is not, and so does
// a delete by pattern.) The Shared globals of any other handler belong together, in one lock class.
// Whoever touches a global that has a class takes its lock too; a handler that would need two makes them one.
//
// The lock is taken as late as can be, but before the first access to a global of the class and before
// anything visible that an access may follow: where the lock cannot be had the hit is skipped, and a
// skipped hit leaves no trace. It is given back behind the last access on every path, error exits included.
// Reading the probed program and testing for what does not matter stay outside:
//
//	r0 = intr pid()                       r0 = intr pid()
//	r1 = ne r0, 5                         r1 = ne r0, 5
//	branch r1, b2, b1                     branch r1, b2, b1
//	b1:                                   b1:
//	  r2 = gget @n                          lock 0
//	  r2 = add r2, 1                        r2 = gget @n
//	  gset @n, r2                           r2 = add r2, 1
//	  print "%d\n"(r2)                      gset @n, r2
//	  end                                   unlock 0
//	b2:                                     print "%d\n"(r2)
//	  end                                   end ...
//
// Cost: a few rounds over each handler.
func InsertLocks(p *ir.Program) { insert(p, newLocker(p, false)) }

// insertLocks is the name of that pass.
const insertLocks = "insert-locks"

// insertSomeLocks is InsertLocks where handlers need not be atomic. Locks are left for what is no single access:
// strings, deletions by pattern, embedded code.
func insertSomeLocks(p *ir.Program) { insert(p, newLocker(p, true)) }

func insert(p *ir.Program, l *locker) {
	p.Locks = 0
	for _, g := range p.Globals {
		g.Class = -1
	}
	classes := l.classes()
	if classes == nil {
		return
	}
	for i, c := range classes {
		p.Globals[i].Class = c
		p.Locks = max(p.Locks, c+1)
	}
	for i, pr := range p.Probes {
		if concurrent(pr) {
			if class := l.classOf(l.handlers[i]); class >= 0 {
				l.place(pr.Handler, class)
			}
		}
	}
}

// touch is what a function does to globals.
type touch struct {
	// globs are the Shared globals that it touches, with those of what it calls.
	globs []bool
	// most is the most accesses on any path: 0, 1, or 2 for more.
	most int8
	// visible: it does something that can be noticed.
	visible bool
}

type locker struct {
	p        *ir.Program
	funcs    map[string]*touch
	handlers []*touch // by probe, nil for those that run alone
	apart    bool     // accesses do not belong together
}

func newLocker(p *ir.Program, apart bool) *locker {
	l := &locker{p: p, funcs: map[string]*touch{}, apart: apart}
	for _, f := range p.Funcs {
		l.funcs[f.Name] = &touch{globs: make([]bool, len(p.Globals))}
	}
	// Functions first, until nothing changes: calls may go in circles.
	for changed := len(p.Funcs) > 0; changed; {
		changed = false
		for _, f := range slices.Backward(p.Funcs) { // those that are called stand behind their first caller
			changed = l.look(f, l.funcs[f.Name]) || changed
		}
	}
	for _, pr := range p.Probes {
		var t *touch
		if concurrent(pr) {
			t = &touch{globs: make([]bool, len(p.Globals))}
			l.look(pr.Handler, t)
		}
		l.handlers = append(l.handlers, t)
	}
	return l
}

// weight is how many accesses in makes to Shared globals.
func (l *locker) weight(in *ir.Instr) int8 {
	if in.Op == ir.OpCall {
		if t := l.funcs[in.Name]; t != nil {
			return t.most
		}
		return 0
	}
	if c := l.p.CodeOf(in); c != nil {
		for _, g := range c.Globs {
			if l.p.Globals[g.Glob].Sharing == ir.Shared {
				return 2 // the text may use it any number of times
			}
		}
		return 0
	}
	if !accesses(in.Op) || l.p.Globals[in.Glob].Sharing != ir.Shared {
		return 0
	}
	star := slices.ContainsFunc(in.Args, func(v ir.Val) bool { return v.Kind == ir.ValStar })
	switch {
	case in.Op == ir.OpMDel && star:
		return 2
	case l.p.Globals[in.Glob].Type == types.String && in.Op != ir.OpMHas && in.Op != ir.OpMDel:
		return 2
	}
	return 1
}

// look fills t in from f and reports whether that changed it.
func (l *locker) look(f *ir.Func, t *touch) bool {
	was := t.most
	changed := false
	eachInstr(f, func(in *ir.Instr) {
		if l.shows(in) && !t.visible {
			t.visible, changed = true, true
		}
		if l.weight(in) == 0 && in.Op != ir.OpCall {
			return
		}
		mark := func(g int) {
			if !t.globs[g] {
				t.globs[g], changed = true, true
			}
		}
		if in.Op != ir.OpCall {
			eachUse(l.p, in, func(g int, _, _ bool) {
				if l.p.Globals[g].Sharing == ir.Shared {
					mark(g)
				}
			})
		} else if c := l.funcs[in.Name]; c != nil {
			for g, yes := range c.globs {
				if yes {
					mark(g)
				}
			}
		}
	})
	t.most = max(t.most, l.longest(f))
	return changed || t.most != was
}

// longest is the most accesses on any path through f, at most 2. In a loop they add up.
func (l *locker) longest(f *ir.Func) int8 {
	in := make([]int8, len(f.Blocks))
	for i := range in {
		in[i] = -1
	}
	in[0] = 0
	most := int8(0)
	work := []ir.BlockID{0}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		n := in[b]
		reach := func(to ir.BlockID) {
			if n > in[to] {
				in[to] = n
				work = append(work, to)
			}
		}
		blk := f.Blocks[b]
		for i := range blk.Instrs {
			instr := &blk.Instrs[i]
			if l.apart {
				n = max(n, l.weight(instr))
			} else {
				n = min(n+l.weight(instr), 2)
			}
			if instr.Op.CanFail() && instr.OnErr != ir.NoBlock {
				reach(instr.OnErr)
			}
		}
		most = max(most, n)
		for _, to := range ends(&blk.Term) {
			reach(to)
		}
		if blk.Term.Kind == ir.TermFail && blk.Term.OnErr != ir.NoBlock {
			reach(blk.Term.OnErr)
		}
	}
	return most
}

// shows reports whether in does something that must not have happened when the hit is skipped.
func (l *locker) shows(in *ir.Instr) bool {
	switch in.Op {
	case ir.OpPrint, ir.OpPrintHist, ir.OpReport, ir.OpStore, ir.OpSetReg, ir.OpReply:
		return true
	case ir.OpEmbed:
		return !pure(l.p, in)
	case ir.OpIntr:
		return !in.Builtin().Silent()
	case ir.OpCall:
		t := l.funcs[in.Name]
		return t == nil || t.visible
	}
	return writes(in.Op)
}

// classes gives each global its lock class, -1 for none; nil when no handler needs a lock.
func (l *locker) classes() []int {
	n := len(l.p.Globals)
	up := make([]int, n) // union-find
	for i := range up {
		up[i] = i
	}
	root := func(i int) int {
		for up[i] != i {
			i = up[i]
		}
		return i
	}
	classed := make([]bool, n) // by root
	join := func(t *touch, only func(g int) bool) bool {
		first, changed := -1, false
		for g, yes := range t.globs {
			if !yes || !only(g) {
				continue
			}
			r := root(g)
			if first < 0 {
				first = r
				continue
			}
			if r != first {
				up[r] = first
				classed[first] = classed[first] || classed[r]
				changed = true
			}
		}
		if first >= 0 && !classed[first] {
			classed[first], changed = true, true
		}
		return changed
	}
	any := false
	for _, t := range l.handlers {
		if t != nil && t.most > 1 {
			join(t, func(int) bool { return true })
			any = true
		}
	}
	if !any {
		return nil
	}
	for changed := true; changed; {
		changed = false
		for _, t := range l.handlers {
			if t != nil {
				changed = join(t, func(g int) bool { return classed[root(g)] }) || changed
			}
		}
	}
	out := make([]int, n)
	number := map[int]int{}
	for g := range out {
		out[g] = -1
		r := root(g)
		if !classed[r] || l.p.Globals[g].Sharing != ir.Shared {
			continue
		}
		if _, ok := number[r]; !ok {
			number[r] = len(number)
		}
		out[g] = number[r]
	}
	return out
}

// classOf is the class whose lock a handler takes, -1 for none.
func (l *locker) classOf(t *touch) int {
	for g, yes := range t.globs {
		if yes && l.p.Globals[g].Class >= 0 {
			return l.p.Globals[g].Class
		}
	}
	return -1
}

// needs reports whether in touches a global of the class.
func (l *locker) needs(in *ir.Instr, class int) bool {
	if in.Op == ir.OpCall {
		if t := l.funcs[in.Name]; t != nil {
			for g, yes := range t.globs {
				if yes && l.p.Globals[g].Class == class {
					return true
				}
			}
		}
		return false
	}
	found := false
	eachUse(l.p, in, func(g int, _, _ bool) { found = found || l.p.Globals[g].Class == class })
	return found
}

// place puts the lock of class into handler f.
//
// ahead says for each block whether an access may still come from its beginning on. Where none
// does the lock is not held; where one does it is held if it is held on any way in. So it is never
// taken twice, and a loop with an access holds it all the way.
func (l *locker) place(f *ir.Func, class int) {
	pl := &placer{l: l, f: f, class: class, ahead: make([]bool, len(f.Blocks)), held: make([]bool, len(f.Blocks)),
		fixed: map[fix]ir.BlockID{}}
	for changed := true; changed; {
		changed = false
		for b := len(f.Blocks) - 1; b >= 0; b-- {
			if !pl.ahead[b] && pl.scan(ir.BlockID(b), nil) {
				pl.ahead[b], changed = true, true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for b := range f.Blocks {
			pl.flow(ir.BlockID(b), pl.held[b], func(to ir.BlockID, held bool) {
				if held && pl.ahead[to] && !pl.held[to] {
					pl.held[to], changed = true, true
				}
			})
		}
	}
	for b, n := 0, len(f.Blocks); b < n; b++ {
		pl.rewrite(ir.BlockID(b))
	}
}

// fix is an edge that needs a lock or unlock of its own on the way to a block.
type fix struct {
	op ir.Op
	to ir.BlockID
}

type placer struct {
	l     *locker
	f     *ir.Func
	class int
	ahead []bool
	held  []bool // when the block begins
	fixed map[fix]ir.BlockID
	bail  ir.BlockID // block that unlocks, reports and ends; 0 while there is none
}

// scan goes back through block b and reports whether an access may come from its beginning on. after,
// if not nil, gets the same for the place behind each instruction.
func (pl *placer) scan(b ir.BlockID, after []bool) bool {
	blk := pl.f.Blocks[b]
	more := false
	for _, to := range ends(&blk.Term) {
		more = more || pl.ahead[to]
	}
	if blk.Term.Kind == ir.TermFail && blk.Term.OnErr != ir.NoBlock {
		more = more || pl.ahead[blk.Term.OnErr]
	}
	for i := len(blk.Instrs) - 1; i >= 0; i-- {
		if after != nil {
			after[i] = more
		}
		in := &blk.Instrs[i]
		more = more || pl.l.needs(in, pl.class) || in.Op.CanFail() && in.OnErr != ir.NoBlock && pl.ahead[in.OnErr]
	}
	return more
}

// flow goes through block b and calls edge for each way out with whether the lock is held there. It gives the
// instructions before which it is taken and behind which it is given back, -1 for none; and whether
// it is held at the end.
func (pl *placer) flow(b ir.BlockID, held bool, edge func(to ir.BlockID, held bool)) (take, give int, atEnd bool) {
	blk := pl.f.Blocks[b]
	after := make([]bool, len(blk.Instrs))
	pl.scan(b, after)
	take, give = -1, -1
	for i := range blk.Instrs {
		in := &blk.Instrs[i]
		if needs := pl.l.needs(in, pl.class); !held && (needs || pl.l.shows(in) && pl.reaches(in, after[i])) {
			take, held = i, true
		}
		if in.Op.CanFail() && in.OnErr != ir.NoBlock {
			edge(in.OnErr, held)
		}
		if held && !after[i] {
			give, held = i, false
		}
	}
	for _, to := range ends(&blk.Term) {
		edge(to, held)
	}
	if t := &blk.Term; t.Kind == ir.TermFail && t.OnErr != ir.NoBlock {
		edge(t.OnErr, held)
	}
	return take, give, held
}

// reaches reports whether an access may follow in: behind it, or by its error exit.
func (pl *placer) reaches(in *ir.Instr, after bool) bool {
	return after || in.Op.CanFail() && in.OnErr != ir.NoBlock && pl.ahead[in.OnErr]
}

func (pl *placer) instr(op ir.Op, at *ir.Instr) ir.Instr {
	in := ir.Instr{Op: op, Dst: ir.NoReg, Glob: -1, OnErr: ir.NoBlock, N: int64(pl.class)}
	if at != nil {
		in.Pos = at.Pos
	}
	return in
}

func (pl *placer) rewrite(b ir.BlockID) {
	blk := pl.f.Blocks[b]
	held := pl.held[b]
	take, give, atEnd := pl.flow(b, held, func(ir.BlockID, bool) {})
	out := make([]ir.Instr, 0, len(blk.Instrs)+2)
	for i := range blk.Instrs {
		in := blk.Instrs[i]
		if i == take {
			out = append(out, pl.instr(ir.OpLock, &in))
			held = true
		}
		if in.Op.CanFail() {
			switch {
			case in.OnErr != ir.NoBlock:
				in.OnErr = pl.edge(in.OnErr, held)
			case held && pl.l.p.MayFail(&in):
				in.OnErr = pl.bailOut()
			}
		}
		out = append(out, in)
		if i == give {
			out = append(out, pl.instr(ir.OpUnlock, &in))
			held = false
		}
	}
	t := &blk.Term
	tos := ends(t)
	same := len(tos) > 0
	for _, to := range tos {
		same = same && pl.held[to] != atEnd
	}
	switch {
	case same: // all ways out want the same: do it here
		op := ir.OpUnlock
		if !atEnd {
			op = ir.OpLock
		}
		out = append(out, pl.instr(op, nil))
	case t.Kind == ir.TermJump:
		t.Then = pl.edge(t.Then, atEnd)
	case t.Kind == ir.TermBranch:
		t.Then, t.Else = pl.edge(t.Then, atEnd), pl.edge(t.Else, atEnd)
	case t.Kind == ir.TermFail && t.OnErr != ir.NoBlock:
		t.OnErr = pl.edge(t.OnErr, atEnd)
	case atEnd: // a way out of the handler
		out = append(out, pl.instr(ir.OpUnlock, nil))
	}
	blk.Instrs = slices.Clip(out)
}

// edge gives the block to go to instead of to when the lock is held or not: to itself, or one
// that sets it right first.
func (pl *placer) edge(to ir.BlockID, held bool) ir.BlockID {
	if held == pl.held[to] {
		return to
	}
	fx := fix{ir.OpUnlock, to}
	if !held {
		fx.op = ir.OpLock
	}
	id, ok := pl.fixed[fx]
	if !ok {
		id = pl.add(&ir.Block{Instrs: []ir.Instr{pl.instr(fx.op, nil)},
			Term: ir.Term{Kind: ir.TermJump, Then: to, OnErr: ir.NoBlock}})
		pl.fixed[fx] = id
	}
	return id
}

// bailOut is where an error goes that leaves the handler while the lock is held.
func (pl *placer) bailOut() ir.BlockID {
	if pl.bail == 0 {
		pl.bail = pl.add(&ir.Block{
			Instrs: []ir.Instr{pl.instr(ir.OpUnlock, nil), pl.instr(ir.OpReport, nil)},
			Term:   ir.Term{Kind: ir.TermEnd, OnErr: ir.NoBlock},
		})
	}
	return pl.bail
}

func (pl *placer) add(b *ir.Block) ir.BlockID {
	pl.f.Blocks = append(pl.f.Blocks, b)
	pl.ahead, pl.held = append(pl.ahead, false), append(pl.held, false)
	return ir.BlockID(len(pl.f.Blocks) - 1)
}
