package regalloc

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// spill moves values to the stack: each use loads the value into a register of its own,
// each definition stores it. What can be made again is made again instead.
func (a *allocator) spill(ivs []*interval) {
	slot := map[mach.Reg]mach.Slot{}
	again := map[mach.Reg]mach.Ins{}
	// Slots are shared only between values of one round, whose positions are comparable.
	used := map[mach.Slot]bits{}
	var mine []mach.Slot
	for _, iv := range ivs {
		if iv.def != nil {
			again[iv.reg] = *iv.def
			continue
		}
		s := mach.NoSlot
		for _, c := range mine {
			if !used[c].any(iv.spans) {
				s = c
				break
			}
		}
		if s == mach.NoSlot {
			if len(a.f.Slots) > StackSize {
				return // Run gives up
			}
			s = a.f.NewSlot(8)
			mine = append(mine, s)
			used[s] = make(bits, (a.npos+63)/64)
		}
		for _, sp := range iv.spans {
			used[s].set(sp)
		}
		slot[iv.reg] = s
	}
	for _, b := range a.f.Blocks {
		out := make([]mach.Ins, 0, len(b.Ins)+8)
		load := func(r mach.Reg) mach.Reg {
			t := a.f.NewReg()
			a.temp[t] = true
			if in, ok := again[r]; ok {
				in.Dst = t
				out = append(out, in)
			} else {
				out = append(out, mach.Ins{Op: mach.Load, Dst: t, Src: mach.FP, Size: asm.DWord, Slot: slot[r]})
			}
			return t
		}
		gone := func(r mach.Reg) bool {
			_, s := slot[r]
			_, g := again[r]
			return s || g
		}
		for i := range b.Ins {
			in := b.Ins[i]
			def := in.Def()
			if def.IsVirtual() {
				if _, ok := again[def]; ok {
					continue
				}
			}
			// A move from or to a spilled value is the load or store itself.
			if in.Op == mach.Mov && !in.W32 {
				if s, ok := slot[in.Dst]; ok {
					src := in.Src
					if gone(src) {
						src = load(src)
					}
					out = append(out, mach.Ins{Op: mach.Store, Dst: mach.FP, Src: src, Size: asm.DWord, Slot: s,
						Pos: in.Pos})
					continue
				}
				if gone(in.Src) {
					if g, ok := again[in.Src]; ok {
						g.Dst, g.Pos = in.Dst, in.Pos
						out = append(out, g)
					} else {
						out = append(out, mach.Ins{Op: mach.Load, Dst: in.Dst, Src: mach.FP, Size: asm.DWord,
							Slot: slot[in.Src], Pos: in.Pos})
					}
					continue
				}
			}
			if in.Op == mach.MovI {
				if s, ok := slot[in.Dst]; ok && in.Imm == int64(int32(in.Imm)) {
					out = append(out, mach.Ins{Op: mach.StoreI, Dst: mach.FP, Imm: in.Imm, Size: asm.DWord, Slot: s,
						Pos: in.Pos})
					continue
				}
			}
			reads := map[mach.Reg]bool{}
			in.Uses(func(r mach.Reg) { reads[r] = true })
			var nd, ns mach.Reg = in.Dst, in.Src
			if in.Dst.IsVirtual() && gone(in.Dst) {
				if reads[in.Dst] {
					nd = load(in.Dst)
				} else {
					nd = a.f.NewReg()
					a.temp[nd] = true
				}
			}
			if in.Src.IsVirtual() && gone(in.Src) {
				switch {
				case in.Src == in.Dst:
					ns = nd
				case reads[in.Src]:
					ns = load(in.Src)
				default:
					ns = a.f.NewReg()
					a.temp[ns] = true
				}
			}
			in.Dst, in.Src = nd, ns
			out = append(out, in)
			if s, ok := slot[def]; ok {
				out = append(out, mach.Ins{Op: mach.Store, Dst: mach.FP, Src: in.Def(), Size: asm.DWord, Slot: s,
					Pos: in.Pos})
			}
		}
		if b.Kind == mach.Cond {
			x, y := b.A, b.B
			if gone(x) {
				b.A = load(x)
			}
			if y != mach.None && gone(y) {
				if y == x {
					b.B = b.A
				} else {
					b.B = load(y)
				}
			}
		}
		b.Ins = out
	}
}
