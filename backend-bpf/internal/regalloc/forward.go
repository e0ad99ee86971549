package regalloc

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// forward takes a spilled value from a register that still holds it, where spilling has it loaded again: within blocks,
// and along ways that no other joins. Rounds of spilling see one use at a time, so most values are loaded more than
// once between two calls; each load is also an instruction at which the verifier notes that the stack is read.
func (a *allocator) forward() {
	if len(a.spilled) == 0 {
		return
	}
	spilled := make([]bool, len(a.f.Slots))
	for _, s := range a.spilled {
		spilled[s] = true
	}
	ends := make([]*held, a.f.NumBlocks())
	for i, b := range a.f.Blocks {
		h := &held{}
		if i > 0 && len(b.Preds) == 1 && ends[b.Preds[0].ID] != nil {
			*h = *ends[b.Preds[0].ID]
		}
		out := b.Ins[:0]
		for _, in := range b.Ins {
			mine := in.Slot != mach.NoSlot && spilled[in.Slot]
			if mine && in.Op == mach.Load && in.Size == asm.DWord {
				switch r := h.in(in.Slot); r {
				case mach.None:
				case in.Dst:
					continue
				default:
					in = mach.Ins{Op: mach.Mov, Dst: in.Dst, Src: r, Slot: mach.NoSlot, Pos: in.Pos}
				}
			}
			h.step(&in, mine)
			out = append(out, in)
		}
		b.Ins = out
		ends[b.ID] = h
	}
}

// held says of which spilled value a register holds the same as its slot: 1 + the slot, 0 for none.
type held [mach.FP]mach.Slot

// in gives a register that holds what slot does.
func (h *held) in(slot mach.Slot) mach.Reg {
	for r, s := range h {
		if s == slot+1 {
			return mach.Reg(r)
		}
	}
	return mach.None
}

// step is what holds behind an instruction; mine says that its slot is that of a spilled value.
func (h *held) step(in *mach.Ins, mine bool) {
	same := mach.Slot(0) // what the register that is written holds then
	switch {
	case in.Op == mach.Mov && !in.W32 && in.Src < mach.FP:
		same = h[in.Src]
	case mine && in.Op == mach.Load && in.Size == asm.DWord:
		same = in.Slot + 1
	case mine && in.Op != mach.Load: // the slot changes
		for r, s := range h {
			if s == in.Slot+1 {
				h[r] = 0
			}
		}
		if in.Op == mach.Store && in.Size == asm.DWord {
			h[in.Src] = in.Slot + 1
		}
	}
	if in.IsCall() {
		clear(h[mach.R1 : mach.R5+1])
	}
	if d := in.Def(); d != mach.None && d < mach.FP {
		h[d] = same
	}
}
