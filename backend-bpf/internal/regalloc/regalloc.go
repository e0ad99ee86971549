// Package regalloc gives the virtual registers of a mach.Func machine registers, and
// what does not fit a place on the stack.
//
// In: a linked function. Out: the same function with machine registers, spill code and
// an offset for every stack slot. Registers are handed out by weight (uses, more in
// loops, by length), so a value that lives across calls takes one of r6 to r9, and one
// that does not takes a register that calls destroy.
package regalloc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// StackSize is the most bytes of a frame; the kernel takes 512 and keeps up to 16 for may_goto.
const StackSize = 496

// ErrStack says that the function needs more stack than there is.
var ErrStack = errors.New("handler needs more than 512 bytes of stack")

// Stats says what an allocation came to.
type Stats struct {
	Rounds, Spilled, Stack int
}

// Run assigns registers and slots.
func Run(f *mach.Func) (Stats, error) {
	var st Stats
	a := &allocator{f: f, temp: map[mach.Reg]bool{}}
	for {
		st.Rounds++
		if st.Rounds > 40 {
			return st, fmt.Errorf("%s: register allocation does not end", f.Name)
		}
		spills, err := a.round()
		if err != nil {
			return st, err
		}
		if len(spills) == 0 {
			break
		}
		st.Spilled += len(spills)
		a.spill(spills)
		// Slots have 8 bytes at least. Far beyond what there is, the rest would only cost time.
		if len(f.Slots) > StackSize {
			return st, fmt.Errorf("%w: more than %d", ErrStack, 8*StackSize)
		}
	}
	a.rewrite()
	a.forward()
	a.share()
	st.Stack = frame(f)
	if st.Stack > StackSize {
		return st, fmt.Errorf("%w: %d", ErrStack, st.Stack)
	}
	return st, nil
}

// frame gives every slot its offset and returns the bytes used.
func frame(f *mach.Func) int {
	off := 0
	for i := range f.Slots {
		s := &f.Slots[i]
		if !s.Used {
			continue
		}
		off += s.Size
		s.Off = -off
	}
	return off
}

// span is a half-open range of positions. Instruction i of the layout reads at 2i and writes at 2i+1.
type span struct{ from, to int }

type interval struct {
	reg    mach.Reg
	spans  []span // in order, not touching
	uses   float64
	def    *mach.Ins // the only definition, if there is just one and it can be repeated
	defs   int
	hints  []hint
	weight float64
	size   int // the positions of spans together
}

type hint struct {
	reg mach.Reg
	w   float64
}

type allocator struct {
	f *mach.Func
	// temp holds the registers that spill code uses; they are never spilled again.
	temp map[mach.Reg]bool
	// spilled are the slots of spilled values: nothing but their loads and stores touches these.
	spilled []mach.Slot
	ivs     []*interval // by register - Virtual
	fixed   [mach.FP]bits
	where   []mach.Reg
	npos    int
}

type bits []uint64

func (b bits) overlaps(s span) bool {
	for i := s.from; i < s.to; {
		w, o := i>>6, uint(i)&63
		n := min(64-int(o), s.to-i)
		mask := ^uint64(0) >> (64 - uint(n)) << o
		if b[w]&mask != 0 {
			return true
		}
		i += n
	}
	return false
}

func (b bits) set(s span) {
	for i := s.from; i < s.to; {
		w, o := i>>6, uint(i)&63
		n := min(64-int(o), s.to-i)
		b[w] |= ^uint64(0) >> (64 - uint(n)) << o
		i += n
	}
}

func (b bits) any(spans []span) bool {
	for _, s := range spans {
		if b.overlaps(s) {
			return true
		}
	}
	return false
}

// round builds the intervals and hands out registers; it returns what has to be spilled.
func (a *allocator) round() ([]*interval, error) {
	a.f.Link()
	if a.where == nil {
		a.f.DropDead()
	}
	a.build()
	list := make([]*interval, 0, len(a.ivs))
	for _, iv := range a.ivs {
		if iv == nil || len(iv.spans) == 0 {
			continue
		}
		for _, s := range iv.spans {
			iv.size += s.to - s.from
		}
		iv.weight = iv.uses / float64(iv.size+8)
		switch {
		case a.temp[iv.reg]:
			iv.weight = math.Inf(1)
		case a.f.Keep[iv.reg]:
			iv.weight = math.MaxFloat64
		}
		list = append(list, iv)
	}
	// The order is total, so that a script makes the same program each time.
	slices.SortFunc(list, func(x, y *interval) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.size, y.size), cmp.Compare(x.reg, y.reg))
	})
	a.where = make([]mach.Reg, a.f.NRegs)
	for i := range a.where {
		a.where[i] = mach.None
	}
	var spills []*interval
	for _, iv := range list {
		r := a.pick(iv)
		if r == mach.None {
			if a.temp[iv.reg] {
				return nil, fmt.Errorf("%s: no register for spill code", a.f.Name)
			}
			spills = append(spills, iv)
			continue
		}
		a.where[iv.reg] = r
		for _, s := range iv.spans {
			a.fixed[r].set(s)
		}
	}
	return spills, nil
}

// order is the order in which registers are tried: those that calls destroy first.
var order = [...]mach.Reg{mach.R1, mach.R2, mach.R3, mach.R4, mach.R5, mach.R0, mach.R6, mach.R7, mach.R8, mach.R9}

func (a *allocator) pick(iv *interval) mach.Reg {
	var gain [mach.FP]float64
	hinted := false
	for _, h := range iv.hints {
		r := h.reg
		if r.IsVirtual() {
			r = a.where[r]
		}
		if r != mach.None && r < mach.FP {
			gain[r] += h.w
			hinted = true
		}
	}
	best, bestGain := mach.None, 0.0
	for _, r := range order {
		if a.fixed[r].any(iv.spans) {
			continue
		}
		if !hinted {
			return r
		}
		if best == mach.None || gain[r] > bestGain {
			best, bestGain = r, gain[r]
		}
	}
	return best
}

// build computes the intervals of all virtual registers and the positions at which machine registers are taken.
func (a *allocator) build() {
	f := a.f
	live := f.Liveness()
	start := make([]int, f.NumBlocks())
	pos := 0
	for _, b := range f.Blocks {
		start[b.ID] = pos
		pos += 2 * (len(b.Ins) + 1)
	}
	a.npos = pos + 2
	words := (a.npos + 63) / 64
	for i := range a.fixed {
		a.fixed[i] = make(bits, words)
	}
	a.ivs = make([]*interval, f.NRegs)
	var room []interval // for the next ones
	get := func(r mach.Reg) *interval {
		if a.ivs[r] == nil {
			if len(room) == 0 {
				room = make([]interval, 64)
			}
			a.ivs[r], room = &room[0], room[1:]
			a.ivs[r].reg = r
		}
		return a.ivs[r]
	}
	end := make([]int, f.NRegs) // where the open range of a register ends, 0 if none is open
	for bi := len(f.Blocks) - 1; bi >= 0; bi-- {
		b := f.Blocks[bi]
		w := 1.0
		for d := 0; d < min(b.Depth, 4); d++ {
			w *= 8
		}
		if b.Cold {
			w /= 16
		}
		from := start[b.ID]
		last := from + 2*len(b.Ins)
		open := func(r mach.Reg, to int) {
			if end[r] == 0 {
				end[r] = to
			}
		}
		shut := func(r mach.Reg, at int) {
			to := end[r]
			end[r] = 0
			if to == 0 {
				to = at + 1
			}
			if r.IsVirtual() {
				iv := get(r)
				if n := len(iv.spans); n > 0 && iv.spans[n-1].from == to {
					iv.spans[n-1].from = at
				} else {
					iv.spans = append(iv.spans, span{at, to})
				}
			} else if r < mach.FP {
				a.fixed[r].set(span{at, to})
			}
		}
		at := last
		use := func(r mach.Reg) {
			if r == mach.FP {
				return
			}
			open(r, at+1)
			if r.IsVirtual() {
				get(r).uses += w
			}
		}
		live.EachOut(b, func(r mach.Reg) { end[r] = last + 2 })
		b.TermUses(use)
		for i := len(b.Ins) - 1; i >= 0; i-- {
			in := &b.Ins[i]
			at = from + 2*i
			if in.IsCall() {
				for r := mach.R1; r <= mach.R5; r++ {
					a.fixed[r].set(span{at + 1, at + 2})
				}
			}
			if d := in.Def(); d != mach.None {
				shut(d, at+1)
				if d.IsVirtual() {
					iv := get(d)
					iv.uses += w
					iv.defs++
					iv.def = in
				}
			}
			in.Uses(use)
			if in.Op == mach.Mov && !in.W32 {
				if in.Dst.IsVirtual() {
					get(in.Dst).hints = append(get(in.Dst).hints, hint{in.Src, w})
				}
				if in.Src.IsVirtual() {
					get(in.Src).hints = append(get(in.Src).hints, hint{in.Dst, w})
				}
			}
		}
		// Machine registers that are still open came in with the call of the function (r1...).
		for r := mach.R0; r < mach.FP; r++ {
			if end[r] != 0 {
				shut(r, from)
			}
		}
		live.EachIn(b, func(r mach.Reg) {
			if end[r] != 0 {
				shut(r, from)
			}
		})
	}
	for _, iv := range a.ivs {
		if iv == nil {
			continue
		}
		for i, j := 0, len(iv.spans)-1; i < j; i, j = i+1, j-1 {
			iv.spans[i], iv.spans[j] = iv.spans[j], iv.spans[i]
		}
		if iv.defs != 1 || !repeatable(iv.def) {
			iv.def = nil
		}
		if iv.def != nil {
			iv.uses /= 4 // making it again costs less than a load
		}
	}
}

func repeatable(in *mach.Ins) bool {
	switch in.Op {
	case mach.MovI, mach.MapPtr, mach.MapVal, mach.FuncPtr, mach.Addr:
		return true
	}
	return false
}

// rewrite puts machine registers in place of virtual ones.
func (a *allocator) rewrite() {
	at := func(r mach.Reg) mach.Reg {
		if r.IsVirtual() {
			return a.where[r]
		}
		return r
	}
	for _, b := range a.f.Blocks {
		for i := range b.Ins {
			in := &b.Ins[i]
			in.Dst, in.Src = at(in.Dst), at(in.Src)
		}
		if b.Kind == mach.Cond {
			b.A, b.B = at(b.A), at(b.B)
		}
	}
}
