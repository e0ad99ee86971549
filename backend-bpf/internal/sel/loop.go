package sel

import (
	"maps"
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// loops makes loops such that the verifier sees their end.
type loops struct{ *gen }

// closeLoops puts may_goto on every jump back whose loop is not bounded. It makes the verifier forget what it
// knows about all numbers in front of such a loop, and at each turn about those that the loop changes. So the
// first state in which it sees the loop's head covers all later ones, by whatever way they come, and it
// walks the body once or twice however often it will run. (Where the numbers keep what is known of them, nested
// loops are walked thousands of times; the kernel's own widening leaves ranges and links between registers.) When the
// kernel's budget for such jumps (8 million, or a quarter of a second) is used up, the handler ends as if MAXACTION had
// been reached.
func (g loops) closeLoops(f *mach.Func) error {
	if f == g.F {
		for _, class := range g.stopClasses() {
			f.Roots = append(f.Roots, g.stopped[class])
		}
		if g.Steps {
			f.Roots = append(f.Roots, g.step.begin) // stays apart from the callback's beginning
		}
		defer func() { f.Roots = nil }()
	}
	f.Link()
	f.DropDead()
	loops := f.Loops()
	var open []mach.Loop
	for _, l := range loops {
		if !l.Head.Bounded {
			open = append(open, l)
		}
	}
	if len(open) == 0 {
		return nil
	}
	switch {
	case g.Steps:
		g.cutLoops(f, open)
		return nil
	case !g.U.Feat.MayGoto || tangled(open):
		return errSteps
	}
	live := f.Liveness()
	pointers := g.pointers(f)
	var slot mach.Slot = mach.NoSlot
	heads := map[*mach.Block]*mach.Block{} // head -> block in front of it
	for _, l := range open {
		changed := mach.NewSet(f.NRegs)
		for b := range l.Blocks {
			for i := range b.Ins {
				if d := b.Ins[i].Def(); d.IsVirtual() {
					changed.Add(d)
				}
			}
		}
		pre := heads[l.Head]
		if pre == nil {
			pre = f.NewBlock()
			pre.Cold = l.Head.Cold
			pre.Term = mach.Term{Kind: mach.Jump, Then: l.Head}
			heads[l.Head] = pre
			for _, p := range l.Head.Preds {
				if !g.latch(loops, l.Head, p) {
					p.Redirect(l.Head, pre)
				}
			}
		}
		back := f.NewBlock()
		back.Cold = l.Latch.Cold
		live.EachIn(l.Head, func(r mach.Reg) {
			if pointers.Has(r) {
				return
			}
			if slot == mach.NoSlot {
				slot = f.NewSlot(8)
			}
			for _, b := range []*mach.Block{pre, back} {
				if forgets(b, r) || b == back && !changed.Has(r) {
					continue
				}
				b.Ins = append(b.Ins,
					mach.Ins{Op: mach.Store, Dst: mach.FP, Src: r, Size: asm.DWord, Slot: slot},
					mach.Ins{Op: mach.Store, Dst: mach.FP, Src: r, Size: asm.Byte, Slot: slot},
					mach.Ins{Op: mach.Load, Dst: r, Src: mach.FP, Size: asm.DWord, Slot: slot})
			}
		})
		back.Term = mach.Term{Kind: mach.MayGoto, Then: g.stopped[l.Latch.Tag], Else: l.Head}
		l.Latch.Redirect(l.Head, back)
	}
	return nil
}

// maxForks is the most branches in a loop that the verifier is asked to walk in one piece. While it is inside a loop
// it takes two ways for the same only if all numbers have the same ranges, so that the ways multiply; between
// steps of bpf_loop they do not.
const maxForks = 12

// tangled reports whether a loop has more branches than that.
func tangled(loops []mach.Loop) bool {
	for _, l := range loops {
		n := 0
		for b := range l.Blocks {
			if b.Kind == mach.Cond {
				n++
			}
		}
		if n > maxForks {
			return true
		}
	}
	return false
}

// isPointer reports whether a register that is live over loops holds an address.
func (g loops) isPointer(r mach.Reg) bool {
	return r == g.Ctx || r == g.Frame.Scratch || g.subs != nil && r == g.subs.fp
}

// keepNear sees to it that addresses, and numbers of which the verifier has to know something, stay on the stack.
func (g loops) keepNear() {
	if g.F.Far.May == nil {
		return
	}
	pointers := g.pointers(g.F)
	for r := range g.F.Far.May {
		if pointers.Has(r) || g.F.Keep[r] {
			delete(g.F.Far.May, r)
		}
	}
}

// pointers finds the registers that hold addresses, as the verifier will.
func (g loops) pointers(f *mach.Func) mach.Set {
	set := mach.NewSet(f.NRegs)
	for _, r := range []mach.Reg{g.Ctx, g.Frame.Scratch} {
		set.Add(r)
	}
	has := func(r mach.Reg) bool { return r.IsVirtual() && set.Has(r) }
	for again := true; again; {
		again = false
		for _, b := range f.Blocks {
			result := false // r0 is an address
			for i := range b.Ins {
				in := &b.Ins[i]
				is := false
				switch in.Op {
				case mach.Call:
					switch asm.BuiltinFunc(in.Imm) {
					case asm.FnMapLookupElem, asm.FnMapLookupPercpuElem, asm.FnRingbufReserve, asm.FnGetCurrentTaskBtf:
						result = true
					default:
						result = false
					}
				case mach.Mov:
					is = has(in.Src) || in.Src == mach.R0 && result
				case mach.MapPtr, mach.MapVal, mach.Addr, mach.FuncPtr:
					is = true
				case mach.ALU:
					is = in.Alu == asm.Add && has(in.Src)
				}
				if is && in.Dst.IsVirtual() && !set.Has(in.Dst) {
					set.Add(in.Dst)
					again = true
				}
			}
		}
	}
	return set
}

func (g loops) latch(loops []mach.Loop, head, b *mach.Block) bool {
	for _, l := range loops {
		if l.Head == head && l.Latch == b {
			return true
		}
	}
	return false
}

func forgets(b *mach.Block, r mach.Reg) bool {
	for i := range b.Ins {
		if b.Ins[i].Op == mach.Load && b.Ins[i].Dst == r {
			return true
		}
	}
	return false
}

// stopClasses are the locks of stopped, sorted: a script makes the same program each time.
func (g loops) stopClasses() []int { return slices.Sorted(maps.Keys(g.stopped)) }

// prepareStops writes where loops go that the kernel ends: with the handler, since an error is reported.
func (g loops) prepareStops() {
	g.stopped = map[int]*mach.Block{}
	stop := func(class int) {
		if g.stopped[class] != nil {
			return
		}
		g.stopped[class] = g.Cold()
		g.Set(g.stopped[class])
		g.Lock = class
		g.Raise(ir.ErrMaxAction, mach.None, mach.None, ir.NoBlock)
	}
	stop(-1)
	if g.subs != nil {
		stop(lockUnknown)
	}
	for _, b := range g.Fn.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Op == ir.OpLock {
				stop(int(b.Instrs[i].N))
			}
		}
	}
}
