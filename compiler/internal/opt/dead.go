package opt

import (
	"github.com/gostap/gostap/compiler/ir"
)

// RemoveDead takes out instructions whose result nobody uses and that do nothing else, drops results
// that are optional, and closes the gaps among the registers. Cost: liveness by blocks, a few
// rounds over each function.
func RemoveDead(p *ir.Program) {
	idle := idlers{p: p, known: map[string]bool{}}
	eachFunc(p, func(f *ir.Func) {
		removeDead(p, f, idle)
		compactRegs(f)
	})
}

// set is a set of registers.
type set []uint64

func newSets(n, bits int) []set {
	words := (bits + 63) / 64
	all := make(set, n*words)
	out := make([]set, n)
	for i := range out {
		out[i] = all[i*words : (i+1)*words : (i+1)*words]
	}
	return out
}

func (s set) has(r ir.Reg) bool { return s[r>>6]>>(r&63)&1 != 0 }
func (s set) add(r ir.Reg)      { s[r>>6] |= 1 << (r & 63) }
func (s set) del(r ir.Reg)      { s[r>>6] &^= 1 << (r & 63) }

// join adds t to s and reports whether that changed s.
func (s set) join(t set) bool {
	changed := false
	for i := range s {
		n := s[i] | t[i]
		changed = changed || n != s[i]
		s[i] = n
	}
	return changed
}

// liveOut makes live what is used behind the last instruction of b, given what is live at the
// beginning of blocks.
func liveOut(f *ir.Func, b *ir.Block, in []set, live set) {
	clear(live)
	t := &b.Term
	switch t.Kind {
	case ir.TermJump:
		live.join(in[t.Then])
	case ir.TermBranch:
		live.join(in[t.Then])
		live.join(in[t.Else])
	case ir.TermFail:
		if t.OnErr != ir.NoBlock {
			live.join(in[t.OnErr])
		}
	}
	termUses(t, func(v *ir.Val) { live.add(v.Reg) })
}

// liveBefore steps live back over in. An error exit leaves without the result: what that
// block needs is live before, the old value of the result included.
func liveBefore(i *ir.Instr, in []set, live set) {
	if i.Dst != ir.NoReg {
		live.del(i.Dst)
	}
	if i.Op.CanFail() && i.OnErr != ir.NoBlock {
		live.join(in[i.OnErr])
	}
	uses(i.Args, func(v *ir.Val) { live.add(v.Reg) })
}

// removeDead computes, from the end, what is live, treating what it would remove as removed: a
// register that only feeds dead instructions is dead at once, loops included.
func removeDead(p *ir.Program, f *ir.Func, idle idlers) {
	if len(f.Regs) == 0 {
		return
	}
	sets := newSets(len(f.Blocks)+1, len(f.Regs))
	in, live := sets[:len(f.Blocks)], sets[len(f.Blocks)]
	dead := func(i *ir.Instr) bool {
		return (i.Dst == ir.NoReg || !live.has(i.Dst)) && (unneeded(p, i) || i.Op == ir.OpCall && idle.calls(i.Name))
	}
	for changed := true; changed; {
		changed = false
		for b := len(f.Blocks) - 1; b >= 0; b-- {
			blk := f.Blocks[b]
			liveOut(f, blk, in, live)
			for i := len(blk.Instrs) - 1; i >= 0; i-- {
				if !dead(&blk.Instrs[i]) {
					liveBefore(&blk.Instrs[i], in, live)
				}
			}
			if in[b].join(live) {
				changed = true
			}
		}
	}
	for _, blk := range f.Blocks {
		liveOut(f, blk, in, live)
		n := len(blk.Instrs)
		for i := len(blk.Instrs) - 1; i >= 0; i-- {
			instr := &blk.Instrs[i]
			if dead(instr) {
				continue
			}
			if instr.Dst != ir.NoReg && !live.has(instr.Dst) {
				switch instr.Op {
				case ir.OpGAdd, ir.OpMAdd, ir.OpCall, ir.OpIntr, ir.OpEmbed:
					instr.Dst = ir.NoReg
				}
			}
			liveBefore(instr, in, live)
			n--
			blk.Instrs[n] = *instr
		}
		blk.Instrs = append(blk.Instrs[:0], blk.Instrs[n:]...)
	}
}

// idlers knows the functions that do nothing but find something out, and come to an end: calls of them whose result nobody uses
// can go. What they read of the probed program may fault without being reported, as with unneeded reads elsewhere.
type idlers struct {
	p     *ir.Program
	known map[string]bool
}

func (d idlers) calls(name string) bool {
	if idle, ok := d.known[name]; ok {
		return idle
	}
	d.known[name] = false // while it is looked at, and if it calls itself
	f := d.p.Func(name)
	idle := f != nil && !f.Recursive && !loops(f)
	for i := 0; idle && i < len(f.Blocks); i++ {
		b := f.Blocks[i]
		for k := range b.Instrs {
			in := &b.Instrs[k]
			idle = idle && (in.Op == ir.OpBudget || unneeded(d.p, in) || in.Op == ir.OpCall && d.calls(in.Name))
		}
		switch b.Term.Kind {
		case ir.TermFail:
			idle = idle && b.Term.OnErr != ir.NoBlock
		case ir.TermJump, ir.TermBranch, ir.TermReturn:
		default:
			idle = false
		}
	}
	d.known[name] = idle
	return idle
}

// loops reports whether a block of f can be reached from itself.
func loops(f *ir.Func) bool {
	const open, done = 1, 2
	state := make([]uint8, len(f.Blocks))
	found := false
	var visit func(ir.BlockID)
	visit = func(b ir.BlockID) {
		state[b] = open
		f.Succs(b, func(to ir.BlockID, _ bool) {
			switch state[to] {
			case 0:
				visit(to)
			case open:
				found = true
			}
		})
		state[b] = done
	}
	visit(0)
	return found
}

// compactRegs numbers the registers that are mentioned without gaps.
func compactRegs(f *ir.Func) {
	number := make([]ir.Reg, len(f.Regs))
	used := make([]bool, len(f.Regs))
	mark := func(v *ir.Val) { used[v.Reg] = true }
	for _, r := range f.Params {
		used[r] = true
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			uses(b.Instrs[i].Args, mark)
			if d := b.Instrs[i].Dst; d != ir.NoReg {
				used[d] = true
			}
		}
		termUses(&b.Term, mark)
	}
	n := ir.Reg(0)
	for r, u := range used {
		if u {
			number[r] = n
			f.Regs[n] = f.Regs[r]
			n++
		}
	}
	if int(n) == len(f.Regs) {
		return
	}
	f.Regs = f.Regs[:n]
	change := func(v *ir.Val) { v.Reg = number[v.Reg] }
	for i, r := range f.Params {
		f.Params[i] = number[r]
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			uses(b.Instrs[i].Args, change)
			if d := b.Instrs[i].Dst; d != ir.NoReg {
				b.Instrs[i].Dst = number[d]
			}
		}
		termUses(&b.Term, change)
	}
}
