// Package assigned tells whether what is in a variable's place may be from before an assignment to the variable: from
// the code of the function, which is followed back to where the place got what it has, and the lines that assign.
//
// In: a site of a function, the function's code with its lines, and the assignments that the source has. Out: a line
// that may have assigned since, by Walk.Assign and Walk.Passes; or what of it came from the function's caller, by
// Code.Brought.
package assigned

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/gosource"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// Held is a register, or some bytes of the frame, that a part of an object is in.
type Held struct {
	Reg  int // -1: Slot
	Size int64
	Slot insn.Store
}

// Code is the code of a function.
type Code struct {
	Decoder insn.Decoder
	Base    uint64
	Bytes   []byte
	Effects *insn.Effects
	Rows    []pclntab.Row // with the lines of the function, or of an inlined copy; 0 for what is of neither
	// CFA is the distance from the stack pointer to the canonical frame address.
	CFA func(pc uint64) (int64, bool)
	// Registers is the number of general and vector registers.
	Registers int
}

// Walk goes back from a site to where a place got what it has.
type Walk struct {
	Code
	PC   uint64
	Line int // of the site
	Decl int // the line that declares the variable
	// Reaches reports whether the variable may have the value of its declaration in front of a line.
	Reaches func(line int) bool
	Param   bool // it has its first value when the code begins
	List    []dwexpr.LocRange

	lines  map[int]bool // that assign; true if the value at the site may be from there
	post   map[int]bool // that do so behind the body of a loop
	as     []gosource.Assignment
	silent []gosource.Assignment // those that may give it a value that is there already
}

// Assign notes the assignments, of which there is one at least. It gives the line of one that may have been run and has
// no code, 0 if there is none.
func (w *Walk) Assign(as []gosource.Assignment) int {
	w.as, w.lines, w.post = as, map[int]bool{}, map[int]bool{}
	for _, a := range as {
		w.post[a.Line] = w.post[a.Line] || a.Post
		code := w.hasCode(a.Line)
		if code {
			w.lines[a.Line] = w.lines[a.Line] || a.Reaches(w.Line)
		}
		if a.Copy || !code && !a.Constant {
			w.silent = append(w.silent, a)
		}
		if !code && a.Reaches(w.Line) {
			return a.Line
		}
	}
	return 0
}

// Row gives the line at pc.
func (c *Code) Row(pc uint64) int {
	k := sort.Search(len(c.Rows), func(k int) bool { return c.Rows[k].Hi > pc })
	if k < len(c.Rows) && c.Rows[k].Lo <= pc {
		return c.Rows[k].Line
	}
	return 0
}

func (w *Walk) hasCode(line int) bool {
	return slices.ContainsFunc(w.Rows, func(r pclntab.Row) bool { return r.Line == line })
}

// Passes gives a line that assigns to the variable, and may have been run on some way from where h got what it has.
func (w *Walk) Passes(h Held) int {
	type state struct {
		Held
		pc      uint64
		pending int  // a line that assigns, of which a part has been passed
		cond    int  // the line of the conditional jump that has been passed last
		moved   bool // held is not where the list has it, but where that was moved from
	}
	seen := map[state]bool{}
	for todo := []state{{Held: h, pc: w.PC}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		from := w.Effects.Prev(at.pc)
		if (len(from) == 0 || at.pc == w.Base) && cmp.Or(at.pending, w.first()) > 0 {
			return cmp.Or(at.pending, w.first())
		}
		for _, q := range from {
			line := w.Row(q)
			next := state{at.Held, q, at.pending, at.cond, at.moved}
			covered := at.moved || w.covers(q)
			switch made := w.writes(at.Held, q); {
			case made && !w.own(line) && w.comes(&next.Held, q):
				next.moved = true
			case made && w.own(line) && w.passed(at.Held, q):
				if other := cmp.Or(at.pending, w.first()); other > 0 {
					return other
				}
				continue
			case made:
				if w.own(line) && !w.lines[line] && !(line == w.Decl && w.Reaches(w.Line)) {
					return w.other() // by an assignment that does not lead to the site
				}
				if w.post[line] && at.cond != line && !w.sets(q) && !w.thisTime(at.Held, q, line) {
					return line // for the next time round, and computed already
				}
				if at.pending != 0 && line != at.pending {
					return at.pending
				}
				if other := w.doubt(line); other > 0 && !(w.sets(q) && len(w.silent) == 0 && !w.own(line)) {
					return other
				}
				continue
			case at.pending != 0 && line != at.pending && covered:
				return at.pending
			case !covered:
				if at.Reg < 0 || !w.begins(at.pc) {
					return w.as[0].Line // the list goes on over code to which it does not lead
				}
				next.moved = true
			}
			switch b := w.Bytes[q-w.Base:]; w.kind(b) {
			case insn.CondJump:
				next.cond = line
			case insn.Jump, insn.Nop, insn.Nop5:
			default:
				if w.assigns(line) && (w.Effects.Calls(q) || w.makes(b, line)) {
					next.pending = line
				}
			}
			todo = append(todo, next)
		}
	}
	return 0
}

// covers reports whether the variable's list has an entry for pc.
func (w *Walk) covers(pc uint64) bool {
	return slices.ContainsFunc(w.List, func(r dwexpr.LocRange) bool { return r.Lo <= pc && pc < r.Hi })
}

// begins reports whether an entry of the variable's list begins at pc.
func (w *Walk) begins(pc uint64) bool {
	return slices.ContainsFunc(w.List, func(r dwexpr.LocRange) bool { return r.Lo == pc })
}

// own reports whether a line declares the variable, or assigns to it.
func (w *Walk) own(line int) bool { return line == w.Decl || w.assigns(line) }

// assigns reports whether a line with code assigns to it.
func (w *Walk) assigns(line int) bool {
	_, ok := w.lines[line]
	return ok
}

// doubt gives a line that may have assigned to the variable although what it has was made in another one, line; 0 if
// there is none.
func (w *Walk) doubt(line int) int {
	for _, a := range w.silent {
		if !w.own(line) || slices.Contains(a.Sources, line) {
			return a.Line // the value of another variable
		}
	}
	for _, a := range w.as {
		switch {
		case !w.own(line) && a.Reaches(w.Line):
			return a.Line
		case line < a.Line && a.Line < w.Line && w.Line <= a.Until:
			return a.Line // has been run, and its code stands further down
		}
	}
	return 0
}

// stored is the register whose value the instruction at pc stores in a slot, -1 if it does something else.
func (w *Walk) stored(h Held, pc uint64) int {
	u := w.Decoder.Frame(w.Bytes[pc-w.Base:])
	if h.Reg >= 0 || !u.Writes || u.Unknown || u.Address {
		return -1
	}
	return u.Reg
}

// comes reports whether the instruction at pc only moves what h gets from elsewhere, and sets h to that.
func (w *Walk) comes(h *Held, pc uint64) bool {
	if r := w.stored(*h, pc); r >= 0 {
		*h = Held{Reg: r, Size: h.Slot.Size}
		return true
	}
	b := w.Bytes[pc-w.Base:]
	if w.Effects.Calls(pc) || h.Reg < 0 {
		return false
	}
	switch use, from := w.Decoder.Into(b, h.Reg, h.Size); use {
	case insn.Copies:
		h.Reg = from
		return true
	case insn.Loads:
		u := w.Decoder.Frame(b)
		to, ok := w.CFA(pc)
		if ok && !u.Writes && !u.Unknown && !u.Address && u.Reg == h.Reg && u.Size >= h.Size {
			*h = Held{Reg: -1, Slot: insn.Store{Off: u.Off - to, Size: h.Size}}
			return true
		}
	}
	return false
}

// thisTime reports whether the instruction at pc stores a register that has had its value since before the condition of
// the loop in a line.
func (w *Walk) thisTime(h Held, pc uint64, line int) bool {
	if w.stored(h, pc) < 0 {
		return false
	}
	reg := Held{Reg: w.stored(h, pc), Size: h.Slot.Size}
	seen := map[uint64]bool{}
	for todo := []uint64{pc}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, q := range w.Effects.Prev(at) {
			switch {
			case seen[q] || w.kind(w.Bytes[q-w.Base:]) == insn.CondJump && w.Row(q) == line:
			case w.writes(reg, q):
				if !w.sets(q) {
					return false
				}
			default:
				todo = append(todo, q)
			}
			seen[q] = true
		}
	}
	return true
}

// sets reports whether the instruction at pc makes a register zero, which is no value for the next time round.
func (w *Walk) sets(pc uint64) bool {
	_, how, ok := w.Decoder.Puts(w.Bytes[pc-w.Base:])
	return ok && how == insn.PutsZero
}

// kind is the kind of the instruction that b begins with.
func (w *Walk) kind(b []byte) insn.Kind {
	in, _ := w.Decoder.Decode(b)
	return in.Kind
}

// writes reports whether the instruction at pc changes what h has.
func (w *Walk) writes(h Held, pc uint64) bool {
	if h.Reg < 0 {
		return slices.ContainsFunc(w.Effects.Stores, func(s insn.Store) bool { return s.PC == pc && s.Meets(h.Slot) })
	}
	if w.Effects.Calls(pc) {
		return true
	}
	use, _ := w.Decoder.Into(w.Bytes[pc-w.Base:], h.Reg, h.Size)
	return use != insn.Keeps
}

// makes reports whether the instruction that b begins with, of a line that assigns, may make the value: it does not
// only store a register, compare, or take something back from the frame that was there before, which the compiler does
// where it is used next.
func (w *Walk) makes(b []byte, line int) bool {
	u := w.Decoder.Frame(b)
	switch {
	case u.Unknown || u.Address:
		return true
	case u.Size > 0 && u.Writes:
		return u.Reg < 0
	case u.Size > 0 && u.Reg >= 0:
		return w.copies(line)
	}
	for reg := range w.Registers {
		if use, _ := w.Decoder.Into(b, reg, 8); use != insn.Keeps {
			return true
		}
	}
	return false
}

// copies reports whether a line assigns the value of another variable.
func (w *Walk) copies(line int) bool {
	return slices.ContainsFunc(w.as, func(a gosource.Assignment) bool { return a.Line == line && a.Copy })
}

// first gives a line that may have assigned to the variable although what it has is from the beginning of the code; 0
// if there is none.
func (w *Walk) first() int {
	if w.Param && w.Reaches(w.Line) {
		return w.doubt(w.Decl)
	}
	return w.other()
}

// other gives the line of an assignment that leads to the site, or any.
func (w *Walk) other() int {
	for _, a := range w.as {
		if a.Reaches(w.Line) {
			return a.Line
		}
	}
	return w.as[0].Line
}

// passed reports whether the instruction at pc stores a register that has what the function's caller left there.
func (w *Walk) passed(h Held, pc uint64) bool {
	if w.stored(h, pc) < 0 {
		return false
	}
	reg := Held{Reg: w.stored(h, pc), Size: h.Slot.Size}
	seen := map[uint64]bool{}
	for todo := []uint64{pc}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at == w.Base {
			return true
		}
		for _, q := range w.Effects.Prev(at) {
			if !seen[q] && !w.writes(reg, q) {
				todo = append(todo, q)
			}
			seen[q] = true
		}
	}
	return false
}
