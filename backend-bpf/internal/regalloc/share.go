package regalloc

import (
	mathbits "math/bits"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// share gives spilled values that are never needed at the same time one slot. Spilling does so within a round only: the
// positions of two rounds cannot be compared.
func (a *allocator) share() {
	f := a.f
	if len(a.spilled) < 2 {
		return
	}
	num := make(map[mach.Slot]int, len(a.spilled)) // slot to its place in the sets
	for i, s := range a.spilled {
		num[s] = i
	}
	n := len(a.spilled)
	words := (n + 63) / 64
	set := func() []uint64 { return make([]uint64, words) }
	add := func(s []uint64, i int) { s[i/64] |= 1 << (i % 64) }
	drop := func(s []uint64, i int) { s[i/64] &^= 1 << (i % 64) }
	has := func(s []uint64, i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
	// steps goes backwards through a block; live is what is needed behind it.
	steps := func(b *mach.Block, live []uint64, written func(i int)) {
		for k := len(b.Ins) - 1; k >= 0; k-- {
			in := &b.Ins[k]
			i, ok := num[in.Slot]
			if in.Slot == mach.NoSlot || !ok {
				continue
			}
			switch in.Op {
			case mach.Store, mach.StoreI:
				if written != nil {
					written(i)
				}
				drop(live, i)
			case mach.Load:
				add(live, i)
			}
		}
	}
	in := make([][]uint64, f.NumBlocks())
	for _, b := range f.Blocks {
		in[b.ID] = set()
	}
	out := func(b *mach.Block) []uint64 {
		o := set()
		for _, s := range b.Succs() {
			for w, x := range in[s.ID] {
				o[w] |= x
			}
		}
		return o
	}
	for changed := true; changed; {
		changed = false
		for k := len(f.Blocks) - 1; k >= 0; k-- {
			b := f.Blocks[k]
			live := out(b)
			steps(b, live, nil)
			for w, x := range live {
				if in[b.ID][w] != x {
					in[b.ID][w], changed = x, true
				}
			}
		}
	}
	// Two slots meet where one is written while the other is needed.
	meet := make([][]uint64, n)
	for i := range meet {
		meet[i] = set()
	}
	for _, b := range f.Blocks {
		live := out(b)
		steps(b, live, func(i int) {
			for w, x := range live {
				for ; x != 0; x &= x - 1 {
					if j := 64*w + mathbits.TrailingZeros64(x); j != i {
						add(meet[i], j)
						add(meet[j], i)
					}
				}
			}
		})
	}
	for w, x := range in[f.Blocks[0].ID] { // needed before anything has written it: it stays alone
		for ; x != 0; x &= x - 1 {
			i := 64*w + mathbits.TrailingZeros64(x)
			for j := range n {
				if j != i {
					add(meet[i], j)
					add(meet[j], i)
				}
			}
		}
	}
	to := make([]mach.Slot, n)
	for i := range n {
		to[i] = a.spilled[i]
	next:
		for j := range i {
			if to[j] != a.spilled[j] {
				continue
			}
			for k := range i {
				if to[k] == a.spilled[j] && has(meet[i], k) {
					continue next
				}
			}
			to[i] = a.spilled[j]
			f.Slots[a.spilled[i]].Used = false
			break
		}
	}
	for _, b := range f.Blocks {
		for k := range b.Ins {
			if s := b.Ins[k].Slot; s != mach.NoSlot {
				if i, ok := num[s]; ok {
					b.Ins[k].Slot = to[i]
				}
			}
		}
	}
}
