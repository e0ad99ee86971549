package regalloc

import (
	"slices"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// share gives spilled values that are never needed at the same time one slot. Spilling does so within a round only: the
// positions of two rounds cannot be compared. What is put where nobody needs it is not stored.
func (a *allocator) share() {
	f := a.f
	if len(a.spilled) == 0 {
		return
	}
	n := mach.Reg(len(a.spilled))
	num := make([]mach.Reg, len(f.Slots)) // slot to its place in the sets, None for others
	for i := range num {
		num[i] = mach.None
	}
	for i, s := range a.spilled {
		num[s] = mach.Reg(i)
	}
	set := func() mach.Set { return mach.NewSet(n) }
	// steps goes backwards through a block; live is what is needed behind it.
	steps := func(b *mach.Block, live mach.Set, written func(in *mach.Ins, i mach.Reg)) {
		for k := len(b.Ins) - 1; k >= 0; k-- {
			in := &b.Ins[k]
			if in.Slot == mach.NoSlot || num[in.Slot] == mach.None {
				continue
			}
			i := num[in.Slot]
			switch in.Op {
			case mach.Store, mach.StoreI:
				if written != nil {
					written(in, i)
				}
				live.Del(i)
			case mach.Load:
				live.Add(i)
			}
		}
	}
	in := make([]mach.Set, f.NumBlocks())
	for _, b := range f.Blocks {
		in[b.ID] = set()
	}
	o := set()
	out := func(b *mach.Block) mach.Set { // is valid until the next call
		clear(o)
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
	met := make([]mach.Set, n)
	for i := range met {
		met[i] = set()
	}
	meet := func(i, j mach.Reg) {
		if i != j {
			met[i].Add(j)
			met[j].Add(i)
		}
	}
	for _, b := range f.Blocks {
		live := out(b)
		steps(b, live, func(in *mach.Ins, i mach.Reg) {
			if !live.Has(i) {
				in.Op = mach.Nop
				return
			}
			live.Each(func(j mach.Reg) { meet(i, j) })
		})
		b.Ins = slices.DeleteFunc(b.Ins, func(in mach.Ins) bool { return in.Op == mach.Nop })
	}
	in[f.Blocks[0].ID].Each(func(i mach.Reg) { // needed before anything has written it: it stays alone
		for j := range n {
			meet(i, j)
		}
	})
	to := make([]mach.Slot, n)
	for i := range n {
		to[i] = a.spilled[i]
	next:
		for j := range i {
			if to[j] != a.spilled[j] {
				continue
			}
			for k := range i {
				if to[k] == a.spilled[j] && met[i].Has(k) {
					continue next
				}
			}
			to[i] = a.spilled[j]
			break
		}
	}
	for _, s := range a.spilled {
		f.Slots[s].Used = false
	}
	for _, b := range f.Blocks {
		for k := range b.Ins {
			if s := b.Ins[k].Slot; s != mach.NoSlot {
				if i := num[s]; i != mach.None {
					b.Ins[k].Slot = to[i]
					f.Slots[to[i]].Used = true
				}
			}
		}
	}
}
