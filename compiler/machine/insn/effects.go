package insn

import (
	"cmp"
	"slices"
)

// Effects are what the code of a function does to the places of its variables.
type Effects struct {
	Stores []Store             // by address
	taken  []Store             // the first byte behind which the frame's address is used
	calls  []uint64            // where those end that leave no register as it was
	next   map[uint64][]uint64 // where instructions lead to, but for computed jumps
	prev   map[uint64][]uint64 // the other way round
	// computed: there are jumps of which is not known where they lead to.
	computed bool
	tables   []uint64 // those that stay in the function
	called   map[uint64]bool
	d        Decoder
	code     []byte
	base     uint64
	cfa      func(pc uint64) (int64, bool)
}

// Store is an instruction that writes to the frame, or some bytes of that.
type Store struct {
	PC        uint64
	Off, Size int64 // in bytes, Off from the canonical frame address
}

// Meets reports whether s and t have a byte in common.
func (s Store) Meets(t Store) bool { return s.Off < t.Off+t.Size && t.Off < s.Off+s.Size }

// NewEffects reads the function whose code begins at address base. keeps reports whether what a call leads to keeps all
// registers, or never returns; never, that it never returns. cfa is the distance from the stack pointer to the
// canonical frame address in front of an instruction. The error is a *CodeError.
func NewEffects(d Decoder, code []byte, base uint64, keeps, never func(target uint64) bool,
	cfa func(pc uint64) (int64, bool)) (*Effects, error) {
	x := &Effects{
		next: map[uint64][]uint64{}, prev: map[uint64][]uint64{}, called: map[uint64]bool{},
		d: d, code: code, base: base, cfa: cfa,
	}
	var fills []uint64
	err := Walk(d, code, base, func(pc uint64, in Inst) bool {
		end := pc + uint64(in.Len)
		if in.Kind == Jump || in.Kind == CondJump {
			x.next[pc] = append(x.next[pc], in.Target(pc))
		}
		switch in.Kind {
		case Jump, IndirectJump, Ret, Trap:
		default:
			x.next[pc] = append(x.next[pc], end)
		}
		x.computed = x.computed || in.Kind == IndirectJump
		for _, to := range x.next[pc] {
			if in.Kind != Call || !never(in.Target(pc)) {
				x.prev[to] = append(x.prev[to], pc)
			}
		}
		if d.Fills(code[pc-base:], in) {
			fills = append(fills, pc)
		}
		switch {
		case in.Kind == IndirectCall, in.Kind == Call && !keeps(in.Target(pc)):
			x.calls = append(x.calls, end)
			x.called[pc] = true
		case in.Kind == IndirectJump && in.Table:
			x.tables = append(x.tables, pc)
		case in.Kind == Other:
			u := d.Frame(code[pc-base:])
			if to, ok := cfa(pc); ok && !u.Unknown {
				if u.Writes {
					x.Stores = append(x.Stores, Store{pc, u.Off - to, u.Size})
				}
				if u.Address {
					x.taken = append(x.taken, Store{pc, u.Off - to, 1})
				}
			}
		}
		return true
	})
	for _, pc := range fills { // what aligns a jump stands behind another one, too, where nothing comes by
		if len(x.prev[pc]) == 0 && pc != base {
			for _, to := range x.next[pc] {
				x.prev[to] = slices.DeleteFunc(x.prev[to], func(p uint64) bool { return p == pc })
			}
		}
	}
	return x, err
}

// Lost reports whether a way from the end of a call leads to pc without leaving the addresses from lo to hi.
func (x *Effects) Lost(lo, pc, hi uint64) bool {
	var todo []uint64
	seen := map[uint64]bool{}
	for _, end := range x.calls {
		if lo < end && end < hi {
			todo = append(todo, end)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] || at < lo || at >= hi {
			continue
		}
		if at == pc {
			return true
		}
		seen[at] = true
		todo = append(todo, x.next[at]...)
	}
	return false
}

// StoreAt is what the instruction at pc writes to the frame; ok is false if it does not.
func (x *Effects) StoreAt(pc uint64) (s Store, ok bool) {
	k, ok := slices.BinarySearchFunc(x.Stores, pc, func(s Store, pc uint64) int { return cmp.Compare(s.PC, pc) })
	if ok {
		s = x.Stores[k]
	}
	return s, ok
}

// Takes reports whether the address of one of some bytes of the frame is computed, or used with an index.
func (x *Effects) Takes(bytes Store) bool { return slices.ContainsFunc(x.taken, bytes.Meets) }

// Calls reports whether the instruction at pc is a call that leaves no register as it was.
func (x *Effects) Calls(pc uint64) bool { return x.called[pc] }

// Computed reports whether there are jumps of which is not known where they lead to.
func (x *Effects) Computed() bool { return x.computed }

// Prev lists the instructions that lead to the one at pc. One that nothing else leads to is taken to be where computed
// jumps lead.
func (x *Effects) Prev(pc uint64) []uint64 {
	if from := x.prev[pc]; len(from) > 0 {
		return from
	}
	return x.tables
}

// Leads reports whether a way may lead from the end of the instruction at from to pc.
func (x *Effects) Leads(from, pc uint64) bool {
	if x.computed {
		return true
	}
	todo, seen := slices.Clone(x.next[from]), map[uint64]bool{}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at == pc {
			return true
		}
		if !seen[at] {
			seen[at] = true
			todo = append(todo, x.next[at]...)
		}
	}
	return false
}

// mostWays bounds how many instructions Again looks at.
const mostWays = 4096

// Again reports whether a store writes what is there already, whatever way led to it: a register that has been loaded
// from there, or stored there, and since then neither of them has changed. Compilers do so where a loop begins that has
// in registers what it also has in the frame.
func (x *Effects) Again(s Store) bool {
	type state struct {
		pc  uint64
		reg int
	}
	u := x.frame(s.PC)
	if x.computed || u.Reg < 0 || !u.Writes {
		return false
	}
	seen := map[state]bool{}
	var todo []state
	before := func(pc uint64, reg int) bool { // false where nothing leads to pc from within the function
		for _, p := range x.prev[pc] {
			todo = append(todo, state{p, reg})
		}
		return len(x.prev[pc]) > 0 && pc != x.base
	}
	if !before(s.PC, u.Reg) {
		return false
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		if seen[at] = true; len(seen) > mostWays {
			return false
		}
		b := x.code[at.pc-x.base:]
		in, ok := x.d.Decode(b)
		if !ok || slices.Contains(x.calls, at.pc+uint64(in.Len)) || in.Kind == Call {
			return false
		}
		reg := at.reg
		if in.Kind == Other {
			u := x.frame(at.pc)
			cfa, known := x.cfa(at.pc)
			here := Store{at.pc, u.Off - cfa, u.Size}
			same := known && !u.Unknown && !u.Address && here.Off == s.Off && here.Size == s.Size && u.Reg == reg
			switch {
			case !known || u.Unknown || u.Address && u.Writes:
				return false
			case u.Size > 0 && u.Writes && same:
				continue // it is in both of them from here on
			case u.Size > 0 && u.Writes && here.Meets(s):
				return false
			}
			switch use, from := x.d.Into(b, reg, s.Size); {
			case use == Loads && u.Size > 0 && !u.Writes && same:
				continue
			case use == Copies:
				reg = from
			case use != Keeps:
				return false
			}
		}
		if !before(at.pc, reg) {
			return false
		}
	}
	return true
}

// frame says what the instruction at pc does with the frame.
func (x *Effects) frame(pc uint64) FrameUse { return x.d.Frame(x.code[pc-x.base:]) }
