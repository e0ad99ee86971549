package ir

import "math/bits"

// RegSet is a set of the registers of one function.
type RegSet []uint64

// NewRegSets makes n empty sets for registers below regs.
func NewRegSets(n, regs int) []RegSet {
	words := (regs + 63) / 64
	all := make(RegSet, n*words)
	out := make([]RegSet, n)
	for i := range out {
		out[i] = all[i*words : (i+1)*words : (i+1)*words]
	}
	return out
}

// Has reports whether r is in s.
func (s RegSet) Has(r Reg) bool { return s[r>>6]>>(r&63)&1 != 0 }

// Add puts r into s.
func (s RegSet) Add(r Reg) { s[r>>6] |= 1 << (r & 63) }

// Del takes r out of s.
func (s RegSet) Del(r Reg) { s[r>>6] &^= 1 << (r & 63) }

// Join adds t to s and reports whether that changed s.
func (s RegSet) Join(t RegSet) bool {
	changed := false
	for i := range s {
		n := s[i] | t[i]
		changed = changed || n != s[i]
		s[i] = n
	}
	return changed
}

// Each calls fn for every register of s, in order.
func (s RegSet) Each(fn func(Reg)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			fn(Reg(i*64 + bits.TrailingZeros64(w)))
		}
	}
}

func (s RegSet) uses(vs ...Val) {
	for _, v := range vs {
		if v.IsReg() {
			s.Add(v.Reg)
		}
	}
}

// LiveEnd makes live the registers that are needed behind the last instruction of b, given those that are needed at the
// beginning of blocks.
func (b *Block) LiveEnd(begin []RegSet, live RegSet) {
	clear(live)
	t := &b.Term
	switch t.Kind {
	case TermJump:
		live.Join(begin[t.Then])
	case TermBranch:
		live.Join(begin[t.Then])
		live.Join(begin[t.Else])
	case TermFail:
		if t.OnErr != NoBlock {
			live.Join(begin[t.OnErr])
		}
	}
	live.uses(t.Cond)
	live.uses(t.Args...)
}

// LiveBefore steps live back over in: from the registers that are needed behind it to those in front of it. An error
// exit leaves without the result: what that block needs is live in front, the old value of the result included.
func (in *Instr) LiveBefore(begin []RegSet, live RegSet) {
	if in.Dst != NoReg {
		live.Del(in.Dst)
	}
	if in.Op.CanFail() && in.OnErr != NoBlock {
		live.Join(begin[in.OnErr])
	}
	live.uses(in.Args...)
}
