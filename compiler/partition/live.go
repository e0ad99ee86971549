package partition

import "github.com/gostap/gostap/compiler/ir"

// Live tells which registers of a function are needed later. Errors are followed to where they lead.
type Live struct {
	f       *ir.Func
	in, end []ir.RegSet // by block: at its beginning, and behind its last instruction
}

// Liveness computes Live.
func Liveness(f *ir.Func) *Live {
	n := len(f.Blocks)
	sets := ir.NewRegSets(2*n+1, len(f.Regs))
	l := &Live{f: f, in: sets[:n], end: sets[n : 2*n]}
	cur := sets[2*n]
	for changed := true; changed; {
		changed = false
		for b := n - 1; b >= 0; b-- {
			blk := f.Blocks[b]
			blk.LiveEnd(l.in, l.end[b])
			copy(cur, l.end[b])
			for i := len(blk.Instrs) - 1; i >= 0; i-- {
				blk.Instrs[i].LiveBefore(l.in, cur)
			}
			changed = l.in[b].Join(cur) || changed
		}
	}
	return l
}

// After lists the registers that are needed behind instruction i of block b when it succeeds, without the one that
// it writes.
func (l *Live) After(b ir.BlockID, i int) []ir.Reg {
	cur := append(ir.RegSet(nil), l.end[b]...)
	instrs := l.f.Blocks[b].Instrs
	for j := len(instrs) - 1; j > i; j-- {
		instrs[j].LiveBefore(l.in, cur)
	}
	if d := instrs[i].Dst; d != ir.NoReg {
		cur.Del(d)
	}
	return list(cur)
}

// Together calls fn for every register that an instruction writes with each other one that holds something at that
// moment: what is needed further on, with or without an error, and the operands.
func (l *Live) Together(fn func(written, other ir.Reg)) {
	cur := ir.NewRegSets(1, len(l.f.Regs))[0]
	for id, b := range l.f.Blocks {
		copy(cur, l.end[id])
		for j := len(b.Instrs) - 1; j >= 0; j-- {
			in := &b.Instrs[j]
			in.LiveBefore(l.in, cur)
			if in.Dst == ir.NoReg {
				continue
			}
			cur.Each(func(r ir.Reg) {
				if r != in.Dst {
					fn(in.Dst, r)
				}
			})
		}
	}
}

// Into lists the registers that are needed at the beginning of a block.
func (l *Live) Into(b ir.BlockID) []ir.Reg { return list(l.in[b]) }

func list(s ir.RegSet) []ir.Reg {
	var out []ir.Reg
	s.Each(func(r ir.Reg) { out = append(out, r) })
	return out
}
