package mach

import (
	"math/bits"
	"slices"
)

// Link drops blocks that cannot be reached, joins chains of blocks, lays them out so that the usual ways
// fall through and cold blocks come last, numbers them in that order and fills Preds and Depth.
func (f *Func) Link() {
	f.thread()
	seen := make([]bool, f.nblocks)
	order := make([]*Block, 0, len(f.Blocks))
	var cold []*Block
	trace := func(stack []*Block) {
		for len(stack) > 0 {
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for b != nil && !seen[b.ID] {
				seen[b.ID] = true
				order = append(order, b)
				next := b.Then
				if b.Kind == Cond || b.Kind == MayGoto {
					next = b.Else
					if other := b.Then; !seen[other.ID] {
						if other.Cold && !b.Cold {
							cold = append(cold, other)
						} else {
							stack = append(stack, other)
						}
					}
				}
				if b.Kind == Exit {
					next = nil
				}
				if next != nil && next.Cold && !b.Cold {
					cold = append(cold, next)
					next = nil
				}
				b = next
			}
		}
	}
	trace([]*Block{f.Blocks[0]})
	for i := 0; i < len(cold); i++ {
		trace(cold[i : i+1 : i+1])
	}
	trace(append([]*Block(nil), f.Roots...))
	f.Blocks = order
	f.preds()
	f.join()
	for i, b := range f.Blocks {
		b.ID = i
	}
	f.nblocks = len(f.Blocks)
	f.depths()
}

func (f *Func) preds() {
	for _, b := range f.Blocks {
		b.Preds = b.Preds[:0]
	}
	for _, b := range f.Blocks {
		for _, s := range b.Succs() {
			s.Preds = append(s.Preds, b)
		}
	}
}

// thread makes jumps to empty blocks go to where those go.
func (f *Func) thread() {
	final := func(b *Block) *Block {
		for n := 0; n < 64 && len(b.Ins) == 0 && b.Kind == Jump && b.Then != b && b.Then != nil; n++ {
			b = b.Then
		}
		return b
	}
	for _, b := range f.Blocks {
		if b.Then == nil {
			continue // the end of the function, or code that nothing leads to and that has none
		}
		switch b.Kind {
		case Jump:
			b.Then = final(b.Then)
		case Cond, MayGoto:
			b.Then, b.Else = final(b.Then), final(b.Else)
			if b.Then == b.Else && b.Kind == Cond {
				b.Term = Term{Kind: Jump, Then: b.Then, Pos: b.Term.Pos}
			}
		}
	}
}

// join appends a block to its only predecessor where that goes nowhere else.
func (f *Func) join() {
	gone, any := make([]bool, f.nblocks), false
	for _, b := range f.Blocks {
		if gone[b.ID] {
			continue
		}
		for b.Kind == Jump && len(b.Then.Preds) == 1 && b.Then != b && b.Then != f.Blocks[0] &&
			!slices.Contains(f.Roots, b.Then) && b.Then.Cold == b.Cold {
			n := b.Then
			b.Ins = append(b.Ins, n.Ins...)
			b.Term = n.Term
			for _, s := range n.Succs() {
				for i, p := range s.Preds {
					if p == n {
						s.Preds[i] = b
					}
				}
			}
			gone[n.ID], any = true, true
		}
	}
	if !any {
		return
	}
	out := f.Blocks[:0]
	for _, b := range f.Blocks {
		if !gone[b.ID] {
			out = append(out, b)
		}
	}
	f.Blocks = out
}

// Loop is a natural loop: all blocks from which Latch is reached without leaving through Head.
type Loop struct {
	Head, Latch *Block
	Blocks      map[*Block]bool
}

// Loops finds the loops of f, outer and inner ones, each with one jump back.
func (f *Func) Loops() []Loop {
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, f.nblocks)
	type frame struct {
		b *Block
		i int
	}
	var loops []Loop
	stack := []frame{{f.Blocks[0], 0}}
	state[f.Blocks[0].ID] = open
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		succs := top.b.Succs()
		if top.i == len(succs) {
			state[top.b.ID] = done
			stack = stack[:len(stack)-1]
			continue
		}
		s := succs[top.i]
		top.i++
		switch state[s.ID] {
		case fresh:
			state[s.ID] = open
			stack = append(stack, frame{s, 0})
		case open:
			loops = append(loops, f.body(s, top.b))
		}
	}
	return loops
}

func (f *Func) body(head, latch *Block) Loop {
	l := Loop{Head: head, Latch: latch, Blocks: map[*Block]bool{head: true}}
	todo := []*Block{latch}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if l.Blocks[b] {
			continue
		}
		l.Blocks[b] = true
		todo = append(todo, b.Preds...)
	}
	return l
}

func (f *Func) depths() {
	for _, b := range f.Blocks {
		b.Depth = 0
	}
	for _, l := range f.Loops() {
		for b := range l.Blocks {
			b.Depth++
		}
	}
}

// Set is a set of registers.
type Set []uint64

// NewSet makes a set for registers below n.
func NewSet(n Reg) Set { return make(Set, (int(n)+63)/64) }

// Has reports whether r is in s.
func (s Set) Has(r Reg) bool { return s[r>>6]&(1<<(uint(r)&63)) != 0 }

// Add puts r into s.
func (s Set) Add(r Reg) { s[r>>6] |= 1 << (uint(r) & 63) }

// Del takes r out.
func (s Set) Del(r Reg) { s[r>>6] &^= 1 << (uint(r) & 63) }

// Each calls fn for every member.
func (s Set) Each(fn func(Reg)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			fn(Reg(i*64 + bits.TrailingZeros64(w)))
		}
	}
}

// Live holds which virtual registers are needed at the beginning and at the end of each block. Most are used
// in one block only and are not in it, so the sets are over a numbering of the others.
type Live struct {
	words   int     // of a set
	in, out Set     // one set behind the other, by Block.ID
	regs    []Reg   // by number
	num     []int32 // by register, -1
}

// at is the set of b among sets.
func (l *Live) at(sets Set, b *Block) Set { return sets[l.words*b.ID : l.words*(b.ID+1)] }

// In reports whether r is needed at the beginning of b.
func (l *Live) In(b *Block, r Reg) bool {
	n := l.num[r]
	return n >= 0 && l.at(l.in, b).Has(Reg(n))
}

// EachIn calls fn for every register that is needed at the beginning of b, EachOut at its end.
func (l *Live) EachIn(b *Block, fn func(Reg)) {
	l.at(l.in, b).Each(func(n Reg) { fn(l.regs[n]) })
}

// EachOut: see EachIn.
func (l *Live) EachOut(b *Block, fn func(Reg)) {
	l.at(l.out, b).Each(func(n Reg) { fn(l.regs[n]) })
}

// Liveness computes which registers are needed where. Link must have run.
func (f *Func) Liveness() *Live {
	l := &Live{num: make([]int32, f.NRegs)}
	for i := range l.num {
		l.num[i] = -1
	}
	// What a block reads before it writes it lives in more than one block.
	written := make([]int32, f.NRegs) // 1 + the last block that wrote it
	for _, b := range f.Blocks {
		mark := int32(b.ID) + 1
		read := func(r Reg) {
			if r.IsVirtual() && written[r] != mark && l.num[r] < 0 {
				l.num[r] = int32(len(l.regs))
				l.regs = append(l.regs, r)
			}
		}
		for i := range b.Ins {
			x, y := b.Ins[i].Reads()
			read(x)
			read(y)
			if r := b.Ins[i].Def(); r.IsVirtual() {
				written[r] = mark
			}
		}
		b.TermUses(read)
	}
	if l.words = (len(l.regs) + 63) / 64; l.words == 0 {
		return l
	}
	n := l.words * f.nblocks
	all := make(Set, 4*n)
	l.in, l.out = all[:n:n], all[n:2*n:2*n]
	use, def := all[2*n:3*n], all[3*n:]
	for _, b := range f.Blocks {
		u, d := l.at(use, b), l.at(def, b)
		read := func(r Reg) {
			if r.IsVirtual() {
				if n := l.num[r]; n >= 0 && !d.Has(Reg(n)) {
					u.Add(Reg(n))
				}
			}
		}
		for i := range b.Ins {
			x, y := b.Ins[i].Reads()
			read(x)
			read(y)
			if r := b.Ins[i].Def(); r.IsVirtual() && l.num[r] >= 0 {
				d.Add(Reg(l.num[r]))
			}
		}
		b.TermUses(read)
	}
	// A block is looked at again when a block behind it has changed since.
	now := 1
	seen, grew := make([]int, f.nblocks), make([]int, f.nblocks)
	for changed := true; changed; {
		changed = false
		for i := len(f.Blocks) - 1; i >= 0; i-- {
			b := f.Blocks[i]
			out := l.at(l.out, b)
			first, more := seen[b.ID] == 0, false
			for _, s := range b.Succs() {
				if !first && grew[s.ID] <= seen[b.ID] {
					continue
				}
				more = true
				for w, x := range l.at(l.in, s) {
					out[w] |= x
				}
			}
			seen[b.ID] = now
			if !first && !more {
				continue
			}
			now++
			in, u, d := l.at(l.in, b), l.at(use, b), l.at(def, b)
			for w := range in {
				n := u[w] | out[w]&^d[w]
				if n != in[w] {
					in[w] = n
					grew[b.ID], changed = now, true
				}
			}
		}
	}
	return l
}

// DropDead removes instructions whose result nobody needs.
func (f *Func) DropDead() {
	needed := make([]int32, f.NRegs) // 1 + the block in which the register is needed further on
	for again := true; again; {
		again = false
		l := f.Liveness()
		clear(needed)
		for _, b := range f.Blocks {
			mark := int32(b.ID) + 1
			read := func(r Reg) {
				if r.IsVirtual() {
					needed[r] = mark
				}
			}
			l.EachOut(b, read)
			b.TermUses(read)
			dropped := false
			for i := len(b.Ins) - 1; i >= 0; i-- {
				in := &b.Ins[i]
				d := in.Def()
				if in.Pure() && (in.Op == Nop || d.IsVirtual() && needed[d] != mark && d != f.Far.Base ||
					in.Op == Mov && in.Dst == in.Src && !in.W32) {
					// What it read from other blocks may be dead there now.
					in.Uses(func(r Reg) { again = again || r.IsVirtual() && l.num[r] >= 0 })
					in.Op, dropped = Nop, true
					continue
				}
				if d.IsVirtual() {
					needed[d] = 0
				}
				in.Uses(read)
			}
			if dropped {
				out := b.Ins[:0]
				for _, in := range b.Ins {
					if in.Op != Nop {
						out = append(out, in)
					}
				}
				b.Ins = out
			}
		}
	}
}
