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

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/gosource"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/machine/insn"
)

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
	Given   bool // what is in its place must have been made in a line that gives it a value

	lines  map[int]bool // that assign; true if the value at the site may be from there
	post   map[int]bool // that do so behind the body of a loop
	as     []gosource.Assignment
	silent []gosource.Assignment // those that may give it a value that is there already
}

// Assign notes the assignments. It gives the line of one that may have been run and has
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
		back    bool // a jump backwards has been passed
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
			next := state{at.Held, q, at.pending, at.cond, at.moved, at.back || q >= at.pc}
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
				if w.Given && !w.own(line) {
					return max(w.Decl, 1)
				}
				if w.own(line) && !w.lines[line] && !(line == w.Decl && w.Reaches(w.Line)) {
					return w.other() // by an assignment that does not lead to the site
				}
				if line >= w.Line && w.assigns(line) && !next.back {
					return line // the site's line comes first, its code does not
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
					return w.any() // the list goes on over code to which it does not lead
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

// Unfinished gives the line of an assignment above the site that leads to it, and whose code, or a part of that which
// makes a value, comes only behind the site: in the same block, in which the compiler puts instructions as it suits it.
// It also makes both values that there may be without a jump, and selects one. 0 if there is none.
func (w *Walk) Unfinished() int {
	for pc := w.PC; pc-w.Base < uint64(len(w.Bytes)); {
		in, ok := w.Decoder.Decode(w.Bytes[pc-w.Base:])
		if !ok || !straight(in) || pc != w.PC && len(w.Effects.Prev(pc)) != 1 {
			break
		}
		if line := w.Row(pc); line < w.Line && w.gives(pc, line) {
			return line
		}
		pc += uint64(in.Len)
	}
	return 0
}

// straight reports whether the code goes on behind an instruction, and nowhere else.
func straight(in insn.Inst) bool {
	switch in.Kind {
	case insn.Other, insn.Push, insn.Nop, insn.Nop5, insn.Call, insn.IndirectCall:
		return true
	}
	return false
}

// gives reports whether an assignment in a line leads to the site, and the instruction at pc is one of its that may
// make the value.
func (w *Walk) gives(pc uint64, line int) bool {
	return slices.ContainsFunc(w.as, func(a gosource.Assignment) bool {
		return a.Line == line && !a.Post && a.Reaches(w.Line)
	}) && (w.Effects.Calls(pc) || w.makes(w.Bytes[pc-w.Base:], line))
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

// thisTime reports whether the instruction at pc stores a register that has had its value since before the condition of
// the loop in a line.
func (w *Walk) thisTime(h Held, pc uint64, line int) bool {
	if w.stored(h, pc) < 0 {
		return false
	}
	by, _ := w.makers(Held{Reg: w.stored(h, pc), Size: h.Slot.Size}, pc, func(at uint64) bool {
		return w.kind(w.Bytes[at-w.Base:]) == insn.CondJump && w.Row(at) == line
	})
	return !slices.ContainsFunc(by, func(q uint64) bool { return !w.sets(q) })
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
	return w.any()
}

// any is the line of an assignment, or of the declaration.
func (w *Walk) any() int {
	if len(w.as) > 0 {
		return w.as[0].Line
	}
	return max(w.Decl, 1)
}

// passed reports whether the instruction at pc stores a register that has what the function's caller left there.
func (w *Walk) passed(h Held, pc uint64) bool {
	if w.stored(h, pc) < 0 {
		return false
	}
	_, begins := w.makers(Held{Reg: w.stored(h, pc), Size: h.Slot.Size}, pc, never)
	return begins
}

func never(uint64) bool { return false }
