package regalloc

import (
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/source"
)

// home is where a spilled value lies: in a slot of the stack, or at off in the far memory, where slot is NoSlot.
type home struct {
	slot mach.Slot
	off  int
}

// spill moves values to the stack, or to far memory: each use loads the value into a register of its own, each
// definition stores it. What can be made again is made again instead.
func (a *allocator) spill(ivs []*interval) {
	slot := map[mach.Reg]home{}
	again := map[mach.Reg]mach.Ins{}
	away := mach.NewSet(a.f.NRegs) // the registers in either
	gone := func(r mach.Reg) bool { return r.IsVirtual() && int(r>>6) < len(away) && away.Has(r) }
	// Slots are shared only between values of one round, whose positions are comparable.
	used := map[home]bits{}
	var mine, far []home
	for _, iv := range ivs {
		away.Add(iv.reg)
		if iv.def != nil {
			again[iv.reg] = *iv.def
			continue
		}
		var s home
		found := false
		among := &mine
		if a.f.Far.May[iv.reg] && a.f.Far.Used+8 <= a.f.Far.Room {
			among = &far
		}
		for _, c := range *among {
			if !used[c].any(iv.spans) {
				s, found = c, true
				break
			}
		}
		if !found {
			if among == &far {
				s = home{mach.NoSlot, a.f.Far.Off + a.f.Far.Used}
				a.f.Far.Used += 8
			} else {
				if len(a.f.Slots) > StackSize {
					return // Run gives up
				}
				s = home{slot: a.f.NewSlot(8)}
				a.spilled = append(a.spilled, s.slot)
			}
			*among = append(*among, s)
			used[s] = make(bits, (a.npos+63)/64)
		}
		for _, sp := range iv.spans {
			used[s].set(sp)
		}
		slot[iv.reg] = s
	}
	for _, b := range a.f.Blocks {
		if !slices.ContainsFunc(b.Ins, func(in mach.Ins) bool { return gone(in.Dst) || gone(in.Src) }) &&
			!(b.Kind == mach.Cond && (gone(b.A) || gone(b.B))) {
			continue
		}
		out := make([]mach.Ins, 0, len(b.Ins)+8)
		var load func(r mach.Reg) mach.Reg
		// base is what a home's memory is addressed by.
		base := func(h home) mach.Reg {
			if h.slot != mach.NoSlot {
				return mach.FP
			}
			if _, ok := slot[a.f.Far.Base]; ok {
				return load(a.f.Far.Base)
			}
			return a.f.Far.Base
		}
		get := func(dst mach.Reg, h home, at source.Pos) {
			out = append(out, mach.Ins{Op: mach.Load, Dst: dst, Src: base(h), Size: asm.DWord, Slot: h.slot,
				Off: int32(h.off), Pos: at})
		}
		put := func(h home, src mach.Reg, at source.Pos) {
			out = append(out, mach.Ins{Op: mach.Store, Dst: base(h), Src: src, Size: asm.DWord, Slot: h.slot,
				Off: int32(h.off), Pos: at})
		}
		load = func(r mach.Reg) mach.Reg {
			t := a.f.NewReg()
			a.temp[t] = true
			if in, ok := again[r]; ok {
				in.Dst = t
				out = append(out, in)
			} else {
				get(t, slot[r], source.NoPos)
			}
			return t
		}
		for i := range b.Ins {
			in := b.Ins[i]
			if !gone(in.Dst) && !gone(in.Src) {
				out = append(out, in)
				continue
			}
			def := in.Def()
			if gone(def) {
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
					put(s, src, in.Pos)
					continue
				}
				if gone(in.Src) {
					if g, ok := again[in.Src]; ok {
						g.Dst, g.Pos = in.Dst, in.Pos
						out = append(out, g)
					} else {
						get(in.Dst, slot[in.Src], in.Pos)
					}
					continue
				}
			}
			if in.Op == mach.MovI {
				if s, ok := slot[in.Dst]; ok && in.Imm == int64(int32(in.Imm)) {
					out = append(out, mach.Ins{Op: mach.StoreI, Dst: base(s), Imm: in.Imm, Size: asm.DWord,
						Slot: s.slot, Off: int32(s.off), Pos: in.Pos})
					continue
				}
			}
			x, y := in.Reads()
			reads := func(r mach.Reg) bool { return x == r || y == r }
			var nd, ns mach.Reg = in.Dst, in.Src
			if in.Dst.IsVirtual() && gone(in.Dst) {
				if reads(in.Dst) {
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
				case reads(in.Src):
					ns = load(in.Src)
				default:
					ns = a.f.NewReg()
					a.temp[ns] = true
				}
			}
			in.Dst, in.Src = nd, ns
			out = append(out, in)
			if s, ok := slot[def]; ok {
				put(s, in.Def(), in.Pos)
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
