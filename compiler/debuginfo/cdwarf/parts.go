package cdwarf

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// A line has code in many places of an optimised function, whose parts may lie apart (gcc moves what is seldom run
// elsewhere, .cold), and each run of it is to be one hit.
//
// gcc, when it optimises, marks in the line table where statements begin, whatever it does to them: moves, doubles
// for loops and for different ways through the function. A run of a line begins at a mark that follows a mark of
// another line. Other compilers mark wherever code of another line follows, so that a line whose instructions were
// mixed with those of others has many. There a line is probed where a run of the function comes to it first: what
// is reached only by way of another place of the line goes on with it, or repeats it in a loop.

// flow is where the instructions of a function lead.
type flow struct {
	to    map[uint64][]uint64 // by address: what is executed next; of a jump that is worked out, nothing
	from  map[uint64][]uint64 // the reverse
	calls map[uint64]bool     // the calls among them
	roots []uint64            // where it is entered: its entry, and what nothing known leads to
	ok    bool                // all of the code decodes
	marks map[uint64]*dw.Row  // see marksOf
}

// flowOf reads the code of all parts of fn.
func (im liner) flowOf(fn *function) *flow {
	if fn.flow != nil {
		return fn.flow
	}
	f := &flow{to: map[uint64][]uint64{}, from: map[uint64][]uint64{}, calls: map[uint64]bool{}, ok: true}
	fn.flow = f
	entered := map[uint64]bool{fn.Entry: true}
	var all, nops []uint64
	for _, r := range fn.tree.Ranges {
		if r[1]-r[0] > maxCode {
			f.ok = false
			return f
		}
		code, err := im.f.Bytes(r[0], int(r[1]-r[0]))
		if err != nil {
			f.ok = false
			return f
		}
		err = insn.Walk(im.m.Code, code, r[0], func(pc uint64, in insn.Inst) bool {
			var to []uint64
			switch in.Kind {
			case insn.Jump, insn.CondJump:
				to = append(to, in.Target(pc))
			case insn.Call, insn.IndirectCall:
				f.calls[pc] = true
			}
			switch in.Kind {
			case insn.Jump, insn.IndirectJump, insn.Ret, insn.Trap:
			default:
				to = append(to, pc+uint64(in.Len))
			}
			nop := im.m.Code.Fills(code[pc-r[0]:], in)
			if nop {
				nops = append(nops, pc)
			}
			if !nop || entered[pc] { // else it may fill a gap that nothing leads to
				all = append(all, pc)
				for _, t := range to {
					entered[t] = true
				}
			}
			f.to[pc] = to
			for _, t := range to {
				f.from[t] = append(f.from[t], pc)
			}
			return true
		})
		f.ok = f.ok && err == nil
	}
	for _, pc := range nops {
		if pc != fn.Entry && len(f.from[pc]) == 0 { // it does: no way leads over it
			for _, t := range f.to[pc] {
				f.from[t] = slices.DeleteFunc(f.from[t], func(p uint64) bool { return p == pc })
			}
		}
	}
	f.roots = append(f.roots, fn.Entry)
	for _, pc := range all {
		if !entered[pc] {
			f.roots = append(f.roots, pc) // by an exception, or a jump that is worked out
		}
	}
	return f
}

// begins picks those of rows, which are all the rows of one line of one function or copy, at which runs of the line
// begin.
func (im liner) begins(rows []lineHit) (out []lineHit) {
	slices.SortStableFunc(rows, func(a, b lineHit) int { return cmp.Compare(a.pc, b.pc) })
	rows = slices.CompactFunc(rows, func(a, b lineHit) bool { return a.pc == b.pc })
	if len(rows) == 1 {
		return rows
	}
	f := im.flowOf(rows[0].fn)
	if !f.ok {
		return rows[:1]
	}
	if marksStatements(rows[0].fn.u.Producer()) {
		for _, h := range rows {
			out = append(out, im.begun(h, f)...)
		}
		if len(out) > 0 {
			return out
		}
		return rows[:1]
	}
	if full := slices.DeleteFunc(slices.Clone(rows), func(h lineHit) bool { return h.empty }); len(full) > 0 {
		rows = full // the others have no instruction, and stand where another line's begins
	}
	at := map[uint64]*lineHit{}
	for i := range rows {
		at[rows[i].pc] = &rows[i]
	}
	walk(f.roots, func(pc uint64) ([]uint64, bool) {
		if h := at[pc]; h != nil {
			out = append(out, *h)
			return nil, true
		}
		return f.to[pc], true
	})
	if len(out) == 0 {
		return rows[:1]
	}
	return im.latest(out, f)
}

// latest drops from places, at each of which a way of the function comes to their line first, those whose ways all
// come to another of them within the same run: code of the line that was moved in front of what several ways share.
// What goes on to another place without a choice is such code too, whatever stands between.
func (im liner) latest(places []lineHit, f *flow) []lineHit {
	at := map[uint64]bool{}
	for _, h := range places {
		at[h.pc] = true
	}
	return slices.DeleteFunc(places, func(h lineHit) bool {
		marks := im.marksOf(h.fn)
		others := false
		goesOn := walk(f.to[h.pc], func(pc uint64) ([]uint64, bool) {
			if pc == h.pc {
				return nil, false
			}
			if at[pc] {
				others = true
				return nil, true
			}
			if row := marks[pc]; row != nil {
				if line, ok := im.lineIn(h, pc, row.Line); !ok || line != h.line {
					return nil, false
				}
			}
			return f.to[pc], len(f.to[pc]) > 0
		})
		if goesOn && others || f.straight(h.pc, at) {
			delete(at, h.pc)
			return true
		}
		return false
	})
}

// straight reports whether the code from pc on comes to another of places with no calls and no other ways to go.
func (f *flow) straight(pc uint64, places map[uint64]bool) bool {
	for n, seen := pc, map[uint64]bool{}; len(f.to[n]) == 1 && !seen[n] && !f.calls[n]; {
		seen[n] = true
		if n = f.to[n][0]; n != pc && places[n] {
			return true
		}
	}
	return false
}

// marksStatements reports whether the compiler has marked where statements begin (-gstatement-frontiers, from gcc 8
// on).
func marksStatements(producer string) bool {
	return strings.HasPrefix(producer, "GNU ") && optimizes(producer) &&
		!strings.Contains(producer, "-gno-statement-frontiers")
}

// begun gives the places at which runs of h's line begin at h: h itself if there is a way to it on which the last mark
// is one of another line. If there is another way too, on which the line has begun before, then what is in front of h
// on the former: the last instructions there that lead to h and nowhere else.
func (im liner) begun(h lineHit, f *flow) []lineHit {
	if h.pc == h.fn.Entry || len(f.from[h.pc]) == 0 {
		return []lineHit{h}
	}
	others, same := im.before(h, f, f.from[h.pc])
	switch {
	case !others:
		return nil
	case !same:
		return []lineHit{h}
	}
	var out []lineHit
	ok := walk(f.from[h.pc], func(pc uint64) ([]uint64, bool) {
		others, same := im.before(h, f, []uint64{pc})
		at := h
		at.pc = pc
		switch {
		case !others:
			return nil, true
		case len(f.to[pc]) != 1 || !h.owner.ContainsPC(pc):
			return nil, false
		case same:
			return f.from[pc], true
		}
		out = append(out, at)
		return nil, true
	})
	if !ok {
		return []lineHit{h}
	}
	return out
}

// before tells of what lines the last marks are on the ways that lead over the addresses at: of others than h's, or of
// the same.
func (im liner) before(h lineHit, f *flow, at []uint64) (others, same bool) {
	marks := im.marksOf(h.fn)
	walk(at, func(pc uint64) ([]uint64, bool) {
		if row := marks[pc]; row != nil {
			if line, ok := im.lineIn(h, pc, row.Line); ok && line == h.line {
				same = true
			} else {
				others = true
			}
			return nil, true
		}
		others = others || len(f.from[pc]) == 0
		return f.from[pc], true
	})
	return others, same
}

// walk visits what can be reached from the addresses of begin, each once: visit gives the next ones, and whether to
// go on. The result is whether it came to the end.
func walk(begin []uint64, visit func(pc uint64) (next []uint64, on bool)) bool {
	todo, seen := slices.Clone(begin), map[uint64]bool{}
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		next, on := visit(pc)
		if !on {
			return false
		}
		todo = append(todo, next...)
	}
	return true
}

// marksOf are the last marks at the addresses of fn that have some.
func (im liner) marksOf(fn *function) map[uint64]*dw.Row {
	if fn.flow.marks == nil {
		fn.flow.marks = map[uint64]*dw.Row{}
		rows, _ := fn.u.Rows()
		for i := range rows {
			if r := &rows[i]; r.Stmt && !r.End && r.Line != 0 && fn.tree.ContainsPC(r.PC) {
				fn.flow.marks[r.PC] = r
			}
		}
	}
	return fn.flow.marks
}

// lineIn is the line at which the function or copy that h belongs to is, when the program is at pc, which has code
// of line: that of the call if pc belongs to what is inlined into it.
func (im liner) lineIn(h lineHit, pc uint64, line int) (int, bool) {
	stack := dw.InlineStack(h.fn.tree, pc)
	at := len(stack) // in stack, the function itself is behind the last
	if h.owner != h.fn.tree {
		at = slices.IndexFunc(stack, func(t *godwarf.Tree) bool { return t.Offset == h.owner.Offset })
	}
	switch {
	case at < 0:
		return 0, false
	case at > 0:
		return int(dw.Int(stack[at-1], dwarf.AttrCallLine)), true
	}
	return line, true
}
