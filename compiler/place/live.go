package place

import "github.com/gostap/gostap/compiler/ir"

// Live tells which registers of a function are needed later.
type Live struct {
	f   *ir.Func
	in  []regs // by block
	out []regs
}

type regs []uint64

func (s regs) add(r ir.Reg) { s[r>>6] |= 1 << (uint(r) & 63) }
func (s regs) del(r ir.Reg) { s[r>>6] &^= 1 << (uint(r) & 63) }

func (s regs) join(t regs) bool {
	changed := false
	for i := range s {
		n := s[i] | t[i]
		changed = changed || n != s[i]
		s[i] = n
	}
	return changed
}

// Liveness computes Live. Errors are followed to where they lead.
func Liveness(f *ir.Func) *Live {
	l := &Live{f: f, in: make([]regs, len(f.Blocks)), out: make([]regs, len(f.Blocks))}
	words := len(f.Regs)/64 + 1
	for i := range l.in {
		l.in[i], l.out[i] = make(regs, words), make(regs, words)
	}
	cur := make(regs, words)
	for changed := true; changed; {
		changed = false
		for b := len(f.Blocks) - 1; b >= 0; b-- {
			for i := range cur {
				cur[i] = 0
			}
			f.Succs(ir.BlockID(b), func(to ir.BlockID, onErr bool) {
				if !onErr {
					cur.join(l.in[to])
				}
			})
			l.out[b].join(cur)
			l.back(cur, f.Blocks[b], 0)
			changed = l.in[b].join(cur) || changed
		}
	}
	return l
}

func use(s regs, vs ...ir.Val) {
	for _, v := range vs {
		if v.Kind == ir.ValReg {
			s.add(v.Reg)
		}
	}
}

// back goes from the end of a block, where cur is live, to the front of instruction i.
func (l *Live) back(cur regs, b *ir.Block, i int) {
	t := &b.Term
	if t.Kind == ir.TermFail && t.OnErr != ir.NoBlock {
		cur.join(l.in[t.OnErr])
	}
	use(cur, t.Cond)
	use(cur, t.Args...)
	for j := len(b.Instrs) - 1; j >= i; j-- {
		in := &b.Instrs[j]
		if in.Dst != ir.NoReg {
			cur.del(in.Dst)
		}
		if in.Op.CanFail() && in.OnErr != ir.NoBlock {
			cur.join(l.in[in.OnErr])
		}
		use(cur, in.Args...)
	}
}

// After lists the registers that are needed behind instruction i of block b when it succeeds, without the one that
// it writes; into is those needed at the beginning of a block.
func (l *Live) After(b ir.BlockID, i int) []ir.Reg {
	cur := append(regs(nil), l.out[b]...)
	l.back(cur, l.f.Blocks[b], i+1)
	if d := l.f.Blocks[b].Instrs[i].Dst; d != ir.NoReg {
		cur.del(d)
	}
	return cur.list()
}

// Together calls fn for every register that an instruction writes with each other one that holds something at that
// moment: what is needed further on, with or without an error, and the operands.
func (l *Live) Together(fn func(written, other ir.Reg)) {
	cur := make(regs, len(l.f.Regs)/64+1)
	at := make(regs, len(cur))
	for id, b := range l.f.Blocks {
		copy(cur, l.out[id])
		t := &b.Term
		if t.Kind == ir.TermFail && t.OnErr != ir.NoBlock {
			cur.join(l.in[t.OnErr])
		}
		use(cur, t.Cond)
		use(cur, t.Args...)
		for j := len(b.Instrs) - 1; j >= 0; j-- {
			in := &b.Instrs[j]
			if in.Dst != ir.NoReg {
				copy(at, cur)
				if in.Op.CanFail() && in.OnErr != ir.NoBlock {
					at.join(l.in[in.OnErr])
				}
				use(at, in.Args...)
				at.del(in.Dst)
				for _, r := range at.list() {
					fn(in.Dst, r)
				}
				cur.del(in.Dst)
			}
			if in.Op.CanFail() && in.OnErr != ir.NoBlock {
				cur.join(l.in[in.OnErr])
			}
			use(cur, in.Args...)
		}
	}
}

// Into lists the registers that are needed at the beginning of a block.
func (l *Live) Into(b ir.BlockID) []ir.Reg { return l.in[b].list() }

func (s regs) list() []ir.Reg {
	var out []ir.Reg
	for i, w := range s {
		for j := 0; w != 0; j++ {
			if w&1 != 0 {
				out = append(out, ir.Reg(i*64+j))
			}
			w >>= 1
		}
	}
	return out
}
