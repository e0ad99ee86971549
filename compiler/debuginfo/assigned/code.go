package assigned

import (
	"sort"

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

// Row gives the line at pc.
func (c *Code) Row(pc uint64) int {
	k := sort.Search(len(c.Rows), func(k int) bool { return c.Rows[k].Hi > pc })
	if k < len(c.Rows) && c.Rows[k].Lo <= pc {
		return c.Rows[k].Line
	}
	return 0
}

// stored is the register whose value the instruction at pc stores in a slot, -1 if it does something else.
func (c *Code) stored(h Held, pc uint64) int {
	u := c.Decoder.Frame(c.Bytes[pc-c.Base:])
	if h.Reg >= 0 || !u.Writes || u.Unknown || u.Address {
		return -1
	}
	return u.Reg
}

// comes reports whether the instruction at pc only moves what h gets from elsewhere, and sets h to that.
func (c *Code) comes(h *Held, pc uint64) bool {
	if r := c.stored(*h, pc); r >= 0 {
		*h = Held{Reg: r, Size: h.Slot.Size}
		return true
	}
	b := c.Bytes[pc-c.Base:]
	if c.Effects.Calls(pc) || h.Reg < 0 {
		return false
	}
	switch use, from := c.Decoder.Into(b, h.Reg, h.Size); use {
	case insn.Copies:
		h.Reg = from
		return true
	case insn.Loads:
		u := c.Decoder.Frame(b)
		to, ok := c.CFA(pc)
		if ok && !u.Writes && !u.Unknown && !u.Address && u.Reg == h.Reg && u.Size >= h.Size {
			*h = Held{Reg: -1, Slot: insn.Store{Off: u.Off - to, Size: h.Size}}
			return true
		}
	}
	return false
}

// sets reports whether the instruction at pc makes a register zero, which is no value for the next time round.
func (c *Code) sets(pc uint64) bool {
	_, how, ok := c.Decoder.Puts(c.Bytes[pc-c.Base:])
	return ok && how == insn.PutsZero
}

// kind is the kind of the instruction that b begins with.
func (c *Code) kind(b []byte) insn.Kind {
	in, _ := c.Decoder.Decode(b)
	return in.Kind
}

// writes reports whether the instruction at pc changes what h has.
func (c *Code) writes(h Held, pc uint64) bool {
	if h.Reg < 0 {
		s, ok := c.Effects.StoreAt(pc)
		return ok && s.Meets(h.Slot)
	}
	if c.Effects.Calls(pc) {
		return true
	}
	use, _ := c.Decoder.Into(c.Bytes[pc-c.Base:], h.Reg, h.Size)
	return use != insn.Keeps
}
