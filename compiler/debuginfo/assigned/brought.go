package assigned

// Brought lists the registers and the slots of arguments in which what h has at pc came from the function's caller, on
// some way through the code, only moved since.
func (c *Code) Brought(h Held, pc uint64) (from []Held) {
	type state struct {
		Held
		pc uint64
	}
	w := &Walk{Code: *c}
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
			if w.writes(at.Held, q) && !w.comes(&next.Held, q) {
				continue
			}
			next.Slot.PC = 0
			todo = append(todo, next)
		}
	}
	return from
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
