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

// removeDead computes, from the end, what is live, treating what it would remove as removed: a
// register that only feeds dead instructions is dead at once, loops included.
func removeDead(p *ir.Program, f *ir.Func, idle idlers) {
	if len(f.Regs) == 0 {
		return
	}
	sets := ir.NewRegSets(len(f.Blocks)+1, len(f.Regs))
	in, live := sets[:len(f.Blocks)], sets[len(f.Blocks)]
	dead := func(i *ir.Instr) bool {
		return (i.Dst == ir.NoReg || !live.Has(i.Dst)) && (unneeded(p, i) || i.Op == ir.OpCall && idle.calls(i.Name))
	}
	for changed := true; changed; {
		changed = false
		for b := len(f.Blocks) - 1; b >= 0; b-- {
			blk := f.Blocks[b]
			blk.LiveEnd(in, live)
			for i := len(blk.Instrs) - 1; i >= 0; i-- {
				if !dead(&blk.Instrs[i]) {
					blk.Instrs[i].LiveBefore(in, live)
				}
			}
			if in[b].Join(live) {
				changed = true
			}
		}
	}
	for _, blk := range f.Blocks {
		blk.LiveEnd(in, live)
		n := len(blk.Instrs)
		for i := len(blk.Instrs) - 1; i >= 0; i-- {
			instr := &blk.Instrs[i]
			if dead(instr) {
				continue
			}
			if instr.Dst != ir.NoReg && !live.Has(instr.Dst) {
				switch instr.Op {
				case ir.OpGAdd, ir.OpMAdd, ir.OpCall, ir.OpIntr, ir.OpEmbed:
					instr.Dst = ir.NoReg
				}
			}
			instr.LiveBefore(in, live)
			n--
			blk.Instrs[n] = *instr
		}
		blk.Instrs = append(blk.Instrs[:0], blk.Instrs[n:]...)
	}
}

// idlers knows the functions that do nothing but find something out, and come to an end: calls of them whose result
// nobody uses can go. What they read of the probed program may fault without being reported, as with unneeded reads
// elsewhere.
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
