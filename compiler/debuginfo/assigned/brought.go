package assigned

import "slices"

// Brought lists the registers and the slots of arguments in which what h has at pc came from the function's caller, on
// some way through the code, only moved since.
func (c *Code) Brought(h Held, pc uint64) (from []Held) {
	type state struct {
		Held
		pc uint64
	}
	h.Slot.PC = 0
	seen := map[state]bool{}
	for todo := []state{{h, pc}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if at.pc == c.Base && (at.Reg >= 0 || at.Slot.Off >= 0) {
			from = append(from, at.Held)
		}
		for _, q := range c.Effects.Prev(at.pc) {
			next := state{at.Held, q}
			if c.writes(at.Held, q) && !c.comes(&next.Held, q) {
				continue
			}
			next.Slot.PC = 0
			todo = append(todo, next)
		}
	}
	return from
}

// Overwritten reports whether on some way to pc something else is put into h, a register, behind the last place at
// which begins holds. What only moves a value there is taken to bring the same one.
func (c *Code) Overwritten(h Held, pc uint64, begins func(pc uint64) bool) bool {
	by, _ := c.makers(h, pc, begins)
	return slices.ContainsFunc(by, func(q uint64) bool {
		from := h
		return !c.comes(&from, q)
	})
}

// makers goes back from pc over code that leaves h as it is, to where stop holds at most. It gives the instructions
// that change h, and whether a way begins with the code itself.
func (c *Code) makers(h Held, pc uint64, stop func(pc uint64) bool) (by []uint64, begins bool) {
	seen := map[uint64]bool{}
	for todo := []uint64{pc}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] || stop(at) {
			continue
		}
		seen[at] = true
		if at == c.Base {
			begins = true
			continue
		}
		for _, q := range c.Effects.Prev(at) {
			if c.writes(h, q) {
				by = append(by, q)
			} else {
				todo = append(todo, q)
			}
		}
	}
	return by, begins
}

// In reports whether a part of what is in h is among the parts of an object.
func (h Held) In(parts []Held) bool {
	for _, p := range parts {
		if h.Reg >= 0 && h.Reg == p.Reg || h.Reg < 0 && p.Reg < 0 && h.Slot.Meets(p.Slot) {
			return true
		}
	}
	return false
}
